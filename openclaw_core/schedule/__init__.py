"""Things that happen by the clock."""
