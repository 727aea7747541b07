"""Fakes that ship with the product, used instead of patching."""
