"""From an accepted message to a finished run."""
