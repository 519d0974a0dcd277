"""Published tables and figures as declared grids of runs, one small TOML file each."""
