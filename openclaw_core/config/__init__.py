"""The configuration: one JSON5 file, its model, its secrets, and careful changes to it."""
