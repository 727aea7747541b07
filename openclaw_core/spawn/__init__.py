"""Child sessions, whatever runs them."""
