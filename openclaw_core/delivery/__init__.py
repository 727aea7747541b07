"""The only sender: cutting replies and emptying the outbox."""
