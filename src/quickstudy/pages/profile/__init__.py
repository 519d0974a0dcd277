"""The report card of a learner: five families, one scale."""
