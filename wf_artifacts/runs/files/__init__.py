"""What the file tree is made of that keeps runs: a folder for each run, their keys, and an index of all."""
