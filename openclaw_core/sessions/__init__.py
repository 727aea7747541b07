"""Session keys and the transcript service."""
