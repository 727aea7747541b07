"""The plugin's door: found, light to import, strict in its configuration."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from openclaw_store_sqlite.config import SqliteStoreConfig
from openclaw_store_sqlite.plugin import openclaw_stores
from pydantic import ValidationError


def test_the_spec_names_what_exists() -> None:
    (point,) = entry_points(group="openclaw.stores", name="sqlite")
    assert point.load().openclaw_stores is openclaw_stores
    (spec,) = openclaw_stores()
    assert (spec.id, spec.default) == ("sqlite", True)
    for target in (spec.factory, spec.config_model):
        assert target is not None
        module, _, name = target.partition(":")
        assert callable(getattr(__import__(module, fromlist=[name]), name))


def test_the_plugin_module_is_light() -> None:
    code = (
        "import sys, openclaw_core.plugin; before = set(sys.modules); import openclaw_store_sqlite.plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "['openclaw_store_sqlite', 'openclaw_store_sqlite.plugin']"


def test_the_working_modules_need_no_pydantic_model() -> None:
    code = "import sys, openclaw_store_sqlite.store; print('openclaw_store_sqlite.config' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("bad", [{"nonsense": 1}, {"busyTimeoutMs": -1}, {"cachedBytes": "many"}])
def test_a_wrong_configuration_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SqliteStoreConfig.model_validate(bad)
