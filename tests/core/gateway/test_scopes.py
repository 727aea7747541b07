"""Every method has a scope, every scope a method, and connections never hold more than they asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.errors import Unauthorized
from openclaw_core.gateway import methods
from openclaw_core.gateway.rpc import HANDLERS
from openclaw_core.guard.authorize import METHODS, SCOPES, authorize, expand, granted, scope_of

WANTED = """health status agent agent.wait chat.send chat.history chat.abort sessions.list sessions.reset tasks.list
audit.list models.list plugins.list config.get"""


def test_methods_and_scopes_are_the_same_set() -> None:
    assert methods.__all__
    assert set(HANDLERS) == set(METHODS)
    assert set(WANTED.split()) <= set(HANDLERS)
    assert set(METHODS.values()) <= set(SCOPES)


def test_every_method_says_what_it_does() -> None:
    assert [name for name, handler in HANDLERS.items() if not (handler.__doc__ or "").strip()] == []


@pytest.mark.parametrize("name", ["", "no.such", "healthz", "Health", "agent.", "__class__"])
def test_what_is_not_in_the_table_is_denied(name: str) -> None:
    assert scope_of(name, {}) is None
    with pytest.raises(Unauthorized):
        authorize(name, SCOPES, extra={})


def test_plugins_cannot_lower_the_scope_of_reserved_names() -> None:
    assert scope_of("config.patch", {"config.patch": "operator.read"}) == "operator.admin"
    assert scope_of("exec.approvals.set", {"exec.approvals.set": "operator.read"}) == "operator.admin"
    assert scope_of("mine.do", {"mine.do": "operator.everything"}) is None
    assert scope_of("agent", {"agent": "operator.read"}) == "operator.write"


@given(st.lists(st.sampled_from([*SCOPES, "operator.root", "", "ADMIN"])), st.sets(st.sampled_from(SCOPES)))
def test_asking_only_narrows(asked: list[str], record: set[str]) -> None:
    have = granted(asked, record)
    assert have <= set(asked) & expand(record)
    assert granted(None, record) == expand(record)
    assert granted([], record) == frozenset()


def test_admin_implies_all_and_write_implies_read() -> None:
    assert expand(["operator.admin"]) == frozenset(SCOPES)
    assert expand(["operator.write"]) == {"operator.write", "operator.read"}
    assert expand(["operator.read", "nonsense"]) == {"operator.read"}
