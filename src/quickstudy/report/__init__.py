"""Tables, figures and the offline page."""
