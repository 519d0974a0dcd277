"""What is made of the runs of a study: one module per kind, found by its name.

A kind has two functions. `stages(order)` gives the runs it needs, as one list of settings or as several, the next
being asked for when those before have been run. `page(order)` makes the page of what the results folder holds.
"""
