from __future__ import annotations

import pytest

from openclaw_core.models.address import complete_address

OLLAMA = "http://127.0.0.1:11434/v1"


@pytest.mark.parametrize(
    ("text", "default", "wanted"),
    [
        ("", OLLAMA, ""),
        ("  ", OLLAMA, ""),
        ("192.168.1.5", OLLAMA, "http://192.168.1.5:11434/v1"),
        ("box:8080", OLLAMA, "http://box:8080/v1"),
        ("0.0.0.0", OLLAMA, "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:1", OLLAMA, "http://127.0.0.1:1/v1"),
        ("[::1]:9", OLLAMA, "http://[::1]:9/v1"),
        ("[::]", OLLAMA, "http://[::1]:11434/v1"),
        ("https://box.example", OLLAMA, "https://box.example/v1"),
        ("http://box:1234/v1/", OLLAMA, "http://box:1234/v1"),
        ("http://box/other", OLLAMA, "http://box/other"),
        ("https://r.openai.azure.com/", "", "https://r.openai.azure.com"),
    ],
)
def test_what_is_left_out_comes_from_the_default(text: str, default: str, wanted: str) -> None:
    assert complete_address(text, default) == wanted
