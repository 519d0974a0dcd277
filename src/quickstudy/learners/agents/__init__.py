"""Learners that talk: they find out when to speak and what to say from bytes and rewards alone."""
