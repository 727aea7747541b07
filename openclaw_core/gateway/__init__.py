"""The long-lived process: composition, protocol, life cycle."""
