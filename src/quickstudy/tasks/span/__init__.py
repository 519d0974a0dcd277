"""Items of the battery: each has a difficulty axis in natural units, and a learner gets a span on
it.
"""
