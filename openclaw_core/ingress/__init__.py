"""The door: who may speak, what is stored."""
