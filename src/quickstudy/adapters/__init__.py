"""Learners and systems of other libraries, programs and devices, as ours."""
