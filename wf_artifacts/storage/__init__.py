"""What every backend is made of: records, documents, pages of lists, and safe work on files."""
