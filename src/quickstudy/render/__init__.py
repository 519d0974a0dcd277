"""The forms of a page: one renderer each for HTML, pictures, a terminal and files."""
