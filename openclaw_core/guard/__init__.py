"""Choke points: one function for each dangerous decision."""
