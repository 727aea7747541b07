"""The task ledger."""
