"""Formal languages: strings between two `#`, drawn from a grammar, tested far beyond what was
shown.
"""
