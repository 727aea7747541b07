"""Which tools a turn has, and the only caller of a tool."""
