"""Gradual learning: one byte in, one byte and a reward out, task after task."""
