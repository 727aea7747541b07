"""What the system talks about: frozen dataclasses, enums and ids. No I/O, no pydantic."""
