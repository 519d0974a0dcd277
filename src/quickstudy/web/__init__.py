"""A local dashboard over results folders: read-only, live while runs go on."""
