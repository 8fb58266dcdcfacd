"""What the file tree is made of that keeps waiting calls and cached results, and what can be wrong with it."""
