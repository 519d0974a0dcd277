"""Runs: what to do, who does it, what is written down."""
