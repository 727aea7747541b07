"""Logging, context, fault points, metrics and the trace."""
