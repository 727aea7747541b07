"""Reading, checking and changing the configuration."""
