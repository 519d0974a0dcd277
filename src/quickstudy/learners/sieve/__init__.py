"""A learner that weighs many simple hypotheses about a sequence by how well each has predicted
the answers.
"""
