"""Intervals, tests, effect sizes, corrections for many comparisons."""
