"""What a user can ask for, one function each. Tools, the command line and the dashboard call these and nothing else."""
