"""Measured data: how a data set is found on this machine, and how each one is read."""
