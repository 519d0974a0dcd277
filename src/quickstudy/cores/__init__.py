"""Memories that fold an input stream into features. One file each."""
