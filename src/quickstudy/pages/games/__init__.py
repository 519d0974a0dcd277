"""What is special to the games family's studies."""
