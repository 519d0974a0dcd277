"""Spans of the reference learners, by version of the battery."""
