"""People as learners: one seat for each kind of task, whoever shows it to them, and their sessions
as runs.
"""
