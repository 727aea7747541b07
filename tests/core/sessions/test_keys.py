"""Session keys: one conversation, one key; no two kinds of conversation share one by accident."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.domain.channels import ChatType
from openclaw_core.domain.ids import AgentId
from openclaw_core.errors import InvalidRequest
from openclaw_core.sessions.keys import agent_id, agent_of, conversation_key, main_key, normalise

MAIN = AgentId("main")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("main", "agent:main:main"),
        ("  MAIN ", "agent:main:main"),
        ("agent:work:Deep:er", "agent:work:deep:er"),
        ("cron:job:1", "cron:job:1"),
        ("hook:x", "hook:x"),
        ("global", "global"),
        ("irc:dm:bob", "agent:main:irc:dm:bob"),
    ],
)
def test_reading(text: str, key: str) -> None:
    assert normalise(text) == key
    assert normalise(normalise(text)) == key


@pytest.mark.parametrize(
    "text", ["", " ", "a b", "a\nb", "a\0b", "a\u2028b", "x" * 513, "agent:", "agent:main", "agent::x", "agent:../x:y"]
)
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(InvalidRequest):
        normalise(text)


@pytest.mark.parametrize("text", ["", "-x", "a b", "a/b", "..", "x" * 65, "ä"])
def test_what_is_no_agent(text: str) -> None:
    with pytest.raises(InvalidRequest):
        agent_id(text)


def test_owners() -> None:
    assert agent_of(normalise("agent:work:x")) == "work"
    assert agent_of(normalise("cron:x")) == "main"
    assert main_key(AgentId("work"), "home") == "agent:work:home"


SCOPES = ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"]
NAMES = st.text(min_size=1, max_size=12).filter(lambda t: bool(t.strip()))


@given(NAMES, NAMES, st.sampled_from(SCOPES), st.sampled_from(list(ChatType)), NAMES | st.just(""))
def test_keys_of_conversations_are_keys(peer: str, room: str, scope: str, chat: ChatType, thread: str) -> None:
    key = conversation_key(
        agent=MAIN,
        channel="irc",
        account="a:b",
        chat_type=chat,
        peer=peer,
        conversation=room,
        thread=thread,
        dm_scope=scope,
    )
    assert key.startswith("agent:main:")
    assert agent_of(key) == "main"
    assert not any(c.isspace() for c in key)
    group = chat is not ChatType.DIRECT
    assert (":group:" in key[:30] or ":channel:" in key[:30]) or not group
    if not group and scope == "main" and not thread.strip():
        assert key in ("agent:main:main", "agent:main:main:thread:")


def direct(peer: str, scope: str, channel: str = "irc", account: str = "x") -> str:
    return conversation_key(
        agent=MAIN,
        channel=channel,
        account=account,
        chat_type=ChatType.DIRECT,
        peer=peer,
        conversation=peer,
        dm_scope=scope,
        identity_links={"alice": ["irc:ally", "telegram:7"]},
    )


def test_direct_scopes() -> None:
    assert direct("bob", "main") == "agent:main:main"
    assert direct("bob", "per-peer") == "agent:main:dm:bob"
    assert direct("bob", "per-channel-peer") == "agent:main:irc:dm:bob"
    assert direct("bob", "per-account-channel-peer") == "agent:main:irc:x:dm:bob"
    assert direct("a:b c", "per-peer") == "agent:main:dm:a_b_c"
    assert direct("Ally", "per-peer") == direct("7", "per-peer", channel="telegram") == "agent:main:dm:alice"
    assert direct("7", "per-peer") == "agent:main:dm:7"


def test_a_group_named_like_a_person_is_not_that_person() -> None:
    room = conversation_key(
        agent=MAIN, channel="irc", account="x", chat_type=ChatType.GROUP, peer="bob", conversation="bob"
    )
    assert room == "agent:main:irc:group:bob"
    assert room not in {direct("bob", scope) for scope in SCOPES}
