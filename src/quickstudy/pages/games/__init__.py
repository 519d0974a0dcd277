"""Pages and pictures of meta-referential games."""
