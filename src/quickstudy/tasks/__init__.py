"""The tasks, one folder per family."""
