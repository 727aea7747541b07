"""The system prompt, its budget and its report."""
