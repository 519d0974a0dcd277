"""What is to be learned, one folder a family."""
