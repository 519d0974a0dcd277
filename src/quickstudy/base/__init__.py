"""The words of the instrument as small types. Imports the standard library and NumPy only."""
