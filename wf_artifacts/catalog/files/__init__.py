"""What the file tree is made of that keeps the catalog: its files, and what can be wrong with them."""
