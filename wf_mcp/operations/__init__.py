"""What a user can ask for: one function per wish. Tools, the command line and the dashboard call these and nothing else."""
