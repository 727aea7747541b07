"""Hook specifications and the typed way to call them."""
