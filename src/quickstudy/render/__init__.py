"""One renderer per form: a page of blocks as HTML, SVG, text for a terminal, LaTeX and CSV."""
