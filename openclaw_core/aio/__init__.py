"""The only place that creates tasks: supervision, lanes, back-off, the clock."""
