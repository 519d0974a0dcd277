"""How a family examines. One file each."""
