"""Pages of studies: blocks that say which runs they need and what is made of them; figures by kind
of trace.
"""
