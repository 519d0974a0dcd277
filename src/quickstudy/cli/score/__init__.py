"""Kinds of file that can be scored, one module each: `quickstudy score KIND FILE` is `KIND.py`, and no list names it.

A module has `add(app)`, which adds its one command. It is imported when its kind is asked for, or for the list in
`quickstudy score --help`: whatever is heavy is imported when the command runs.
"""
