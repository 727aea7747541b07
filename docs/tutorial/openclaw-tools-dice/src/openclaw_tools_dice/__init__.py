"""A tool that rolls dice."""
