"""The audit of the comparison of WADE: what the published numbers rest on."""
