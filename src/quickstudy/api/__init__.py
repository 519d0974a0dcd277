"""The instrument from Python: one module per kind of work. `quickstudy` itself has the names."""
