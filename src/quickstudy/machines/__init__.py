"""Epsilon-machines and transducers: exact, minimal, inferred; their complexity; what two of them share."""
