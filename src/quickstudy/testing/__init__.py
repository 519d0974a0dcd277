"""Checkers that users can run on their own tasks and learners."""
