"""Pictures of lives in the curriculum."""
