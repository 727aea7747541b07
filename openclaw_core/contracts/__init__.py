"""Protocols that plugins implement. Each is as small as it can be; abilities are declared, not inherited."""
