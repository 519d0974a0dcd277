"""Recurrent networks found by minimum description length: genomes, their bits, and the search for
them.
"""
