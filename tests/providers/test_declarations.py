"""A provider plugin is a light, whole and honest declaration."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

from openclaw_lib_openai.quirks import COMPAT_KEYS, ID_RULES, quirks_for
from shipped import ALL, ROOT, WIRE, Shipped, models_of

from openclaw_core.plugin import API
from openclaw_core.plugins.resolve import resolve
from openclaw_core.testing.contracts.provider import HEAVY

WANTED = (
    "deepseek mistral groq xai openrouter together fireworks cerebras moonshot qwen zai minimax nvidia huggingface"
    " azure-openai ollama lmstudio vllm litellm"
)


def test_all_are_installed() -> None:
    assert {s.id for s in WIRE} == set(WANTED.split())
    assert {"anthropic", "openai", "demo"} <= {s.id for s in ALL}


def test_the_plugin_modules_are_light() -> None:
    modules = ", ".join(s.module for s in ALL)
    code = f"import sys, json, {modules}; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_the_spec_is_whole(plugin: Shipped) -> None:
    spec = plugin.spec
    assert spec.api == API
    assert callable(resolve(spec.factory))
    ids = [m.id for m in spec.models]
    assert ids
    assert len(ids) == len(set(ids))
    assert spec.default_model in ids
    assert not spec.needs_key or spec.env_keys
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]+", name) for name in (*spec.env_keys, *spec.env_base_urls))
    for model in spec.models:
        assert model.context_window >= 2 * model.max_tokens > 0 or not plugin.shared_wire
        assert set(model.input) <= {"text", "image"}
        assert len(model.cost) == 4
        assert all(0 <= price < 200 for price in model.cost)
        assert model.cost[2] <= model.cost[0] or model.cost[0] == 0, "a cache that costs more than none"


def test_the_address_and_the_key(wire: Shipped) -> None:
    spec = wire.spec
    assert spec.default_api == "openai-completions"
    assert spec.wire_apis == (), "other servers are served by the openai plugin"
    assert not spec.base_url.endswith("/")
    if spec.local:
        assert spec.base_url.startswith("http://127.0.0.1:")
        assert not spec.needs_key
        assert spec.env_base_urls
    else:
        assert spec.needs_key
        assert spec.base_url.startswith("https://") or spec.env_base_urls


def test_every_quirk_is_one_that_is_read(wire: Shipped) -> None:
    spec = wire.spec
    maps = [spec.compat, *(m.compat for m in spec.models), *spec.compat.get("by_model", {}).values()]
    for compat in maps:
        assert set(compat) <= COMPAT_KEYS
    for model in models_of(wire):
        assert model.compat.get("tool_id", "openai") in ID_RULES
        quirks = quirks_for(wire.id, "https://example.test", model)
        for name in ("max_tokens_field", "thinking_format", "reasoning_back", "tool_choice", "reasoning_field"):
            stated = model.compat.get(name)
            assert stated is None or getattr(quirks, name) == stated, "a value that is not understood"


def test_the_keys_are_described_and_read() -> None:
    source = (ROOT / "plugins/openclaw-lib-openai/src/openclaw_lib_openai/quirks.py").read_text()
    read = set(re.findall(r'(?:compat|self)\.\w+\(\s*"(\w+)"', source)) | {"by_model", "levels"}
    assert read == COMPAT_KEYS
    readme = (ROOT / "plugins/openclaw-lib-openai/README.md").read_text()
    guide = (ROOT / "docs/how-to/models.md").read_text()
    for key in COMPAT_KEYS:
        assert f"`{key}`" in readme
        assert re.sub(r"_(\w)", lambda m: m[1].upper(), key) in guide


def test_the_readme_says_what_a_person_needs(wire: Shipped) -> None:
    text = (wire.folder / "README.md").read_text()
    for word in (*wire.spec.env_keys, *wire.spec.env_base_urls, f"{wire.id}/{wire.spec.default_model}", "pip install"):
        assert word in text
    for heading in ("## Configuration", "## Quirks", "## Limits"):
        assert heading in text
    for model in wire.spec.models:
        row = f"| `{model.id}` | {model.context_window:,} | {model.max_tokens:,} |"
        assert row in text, "the table is older than the catalogue"
    project = tomllib.loads((wire.folder / "pyproject.toml").read_text())["project"]
    assert project["description"] == wire.spec.summary
