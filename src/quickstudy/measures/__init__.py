"""Pure functions from traces to numbers."""
