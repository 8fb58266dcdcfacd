"""What is known of the capabilities that sources offer."""
