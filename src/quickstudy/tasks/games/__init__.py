"""Games of naming: symbolic spaces that are new in every episode, and languages that are."""
