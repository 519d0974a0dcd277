"""Blocks and pictures of the curriculum family."""
