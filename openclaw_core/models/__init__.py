"""Which provider and model serve a turn, and what happens when they fail."""
