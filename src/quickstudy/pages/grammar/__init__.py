"""What is special to the studies and figures of the grammar family."""
