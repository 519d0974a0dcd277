"""People as learners: one seat for each kind of task, for any user interface, and their sessions
as runs.
"""
