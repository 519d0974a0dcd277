"""A busy machine breaks no promise: an example of Hypothesis may take as long as it takes."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
