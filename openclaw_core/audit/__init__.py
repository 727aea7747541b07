"""The audit ledger: metadata only."""
