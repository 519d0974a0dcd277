"""All elementary rules of the cellular automaton on every task."""
