from __future__ import annotations

import json

import pytest
from openclaw_tools_files.plugin import SPECS, openclaw_tools

from openclaw_core.plugin import ToolSpec
from openclaw_core.sdk import ToolEnv
from openclaw_core.testing.contracts.tool import ToolCase, ToolContract, resolve

OUTSIDE = ("../x", "/etc/passwd", "~/x", "a\0b", "%2e%2e/x", "sub/../../x", "x" * 300)
GOOD: dict[str, dict[str, object]] = {
    "read": {"path": "a.txt"},
    "write": {"path": "new/b.txt", "content": "x"},
    "edit": {"path": "a.txt", "oldText": "one", "newText": "1"},
    "ls": {"path": "sub"},
    "find": {"pattern": "*.txt"},
    "grep": {"pattern": "t[wW]o", "path": "a.txt"},
}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
class TestFileTools(ToolContract):
    @pytest.fixture
    def tool_case(self, spec: ToolSpec, env: ToolEnv) -> ToolCase:
        root = env.workspace

        def prepare() -> None:
            (root / "sub").mkdir(exist_ok=True)
            (root / "a.txt").write_text("one\ntwo\n")
            (root / "sub" / "c.txt").write_text("three\n")

        good = GOOD[spec.name]
        bad = [good | {"path": path} for path in (*OUTSIDE, str(env.state_dir / "x"))]
        if spec.name not in ("write",):
            bad.append(good | {"path": "missing/file"})
        return ToolCase(
            spec=spec,
            env=env,
            good=good,
            bad=tuple(bad),
            prepare=prepare,
            state=lambda: {str(p): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()},
        )


def test_the_schemas_of_all_six_are_short(env: ToolEnv) -> None:
    """They are part of every model request."""
    specs = list(openclaw_tools(env=env))
    sent = [
        {"name": s.name, "description": s.description, "parameters": resolve(str(s.args_model)).model_json_schema()}
        for s in specs
    ]
    assert len(json.dumps(sent)) <= 3000
    assert "title" not in json.dumps(sent)
    assert {s.name: (s.read_only, s.idempotent, s.group) for s in specs} == {
        "read": (True, False, "fs"),
        "write": (False, True, "fs"),
        "edit": (False, False, "fs"),
        "ls": (True, False, "fs"),
        "find": (True, False, "fs"),
        "grep": (True, False, "fs"),
    }
