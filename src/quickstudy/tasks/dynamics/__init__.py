"""Series that a memory must follow: driven systems, chaotic flows, channels, bits, measured
data.
"""
