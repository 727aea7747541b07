"""Contract tests for each kind of plugin."""
