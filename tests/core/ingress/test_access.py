"""Who may speak: only who is named, by the immutable id; everything unclear means no."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.domain.channels import ChatType, Inbound
from openclaw_core.domain.ids import ConversationId, SenderId
from openclaw_core.ingress.access import AccessPolicy, Refusal


def event(sender: Any = "bob", chat: ChatType = ChatType.DIRECT, **more: Any) -> Inbound:
    values: dict[str, Any] = {
        "event_key": "1",
        "conversation": ConversationId("#room" if chat is not ChatType.DIRECT else "bob"),
        "text": "hi",
        "target": "t",
        **more,
    }
    return Inbound(sender=SenderId(sender), chat_type=chat, **values)


def group(sender: Any = "bob", **more: Any) -> Inbound:
    return event(sender, ChatType.GROUP, **{"mentioned": True, **more})


def refusal(section: dict[str, Any], inbound: Inbound) -> Refusal | None:
    return AccessPolicy.of("irc", section).refuse(inbound)


OPEN: dict[str, Any] = {"dmPolicy": "open", "allowFrom": ["*"], "groupPolicy": "open", "groups": {"*": {}}}
LISTED: dict[str, Any] = {
    "dmPolicy": "allowlist",
    "allowFrom": ["bob"],
    "groupPolicy": "allowlist",
    "groupAllowFrom": ["bob"],
    "groups": {"#room": {}},
}


@pytest.mark.parametrize("section", [{}, {"dmPolicy": "pairing"}, {"allowFrom": []}, {"dmPolicy": "open"}])
def test_nobody_may_by_default(section: dict[str, Any]) -> None:
    assert refusal(section, event()) is Refusal.SENDER_NOT_ALLOWED
    assert refusal(section, group()) is Refusal.GROUP_NOT_ALLOWED


@pytest.mark.parametrize("sender", ["", " ", "\t", "*", "x" * 10_240, None, 0, 1.5, ["bob"], {"id": "bob"}, True])
@pytest.mark.parametrize("make", [event, group])
@pytest.mark.parametrize("section", [OPEN, LISTED, {"allowFrom": ["*", "", "0", "none"], "dmPolicy": "allowlist"}])
def test_a_missing_or_strange_sender_is_nobody(section: dict[str, Any], make: Any, sender: Any) -> None:
    assert refusal(section, make(sender)) is Refusal.NO_SENDER


@pytest.mark.parametrize(
    ("sender", "allowed"),
    [
        ("bob", True),
        ("BOB", True),
        ("bobby", False),
        ("bo", False),
        ("irc:bob", False),
        ("bob ", False),
        ("b*b", False),
        ("\u212aate", False),
        ("kate", True),
        ("#room", False),
    ],
)
def test_ids_are_compared_whole(sender: str, allowed: bool) -> None:
    section = {**LISTED, "allowFrom": ["irc:bob", "Kate", 7]}
    assert (refusal(section, event(sender)) is None) is allowed


def test_a_display_name_gives_no_authority() -> None:
    assert refusal(LISTED, event("mallory", sender_name="bob")) is Refusal.SENDER_NOT_ALLOWED
    assert refusal(LISTED, group("mallory", sender_name="bob")) is Refusal.SENDER_NOT_ALLOWED


def test_the_id_of_a_group_is_no_sender_and_the_other_way_round() -> None:
    section = {**LISTED, "allowFrom": ["#room"], "groupAllowFrom": ["#room"]}
    assert refusal(section, event("bob")) is Refusal.SENDER_NOT_ALLOWED
    assert refusal(section, group("bob")) is Refusal.SENDER_NOT_ALLOWED
    assert refusal({**LISTED, "groups": {"bob": {}}}, group("bob")) is Refusal.GROUP_NOT_ALLOWED


def test_leave_to_write_directly_is_none_for_groups() -> None:
    section = {**LISTED, "groupAllowFrom": []}
    assert refusal(section, event("bob")) is None
    assert refusal(section, group("bob")) is Refusal.SENDER_NOT_ALLOWED


@pytest.mark.parametrize("word", ["disabled", "DISABLED ", "opne", "off", "", None, 7, True, ["open"]])
def test_a_policy_that_is_no_word_opens_nothing(word: Any) -> None:
    section = {"dmPolicy": word, "allowFrom": ["*"], "groupPolicy": word, "groups": {"#room": {}}}
    assert refusal(section, event("mallory")) is not None
    strange = {"groupPolicy": word, "groups": {"#room": {}}, "groupAllowFrom": ["bob"]}
    assert refusal(strange, group("mallory")) is not None


@pytest.mark.parametrize("value", ["bob", "*", {"bob": True}, 7, True, [None], [True], [["bob"]], [""], [" "]])
def test_a_list_of_a_wrong_type_is_empty(value: Any) -> None:
    assert refusal({**LISTED, "allowFrom": value}, event("bob")) is Refusal.SENDER_NOT_ALLOWED
    assert refusal({**LISTED, "groupAllowFrom": value}, group("bob")) is Refusal.SENDER_NOT_ALLOWED
    own = {"#room": {"allowFrom": value}}
    assert refusal({**LISTED, "groups": own}, group("bob")) is Refusal.SENDER_NOT_ALLOWED
    assert refusal({**OPEN, "groups": own}, group("bob")) in (None, Refusal.SENDER_NOT_ALLOWED)


@pytest.mark.parametrize("settings", [False, {"enabled": False}, {"enabled": "no"}, {"enabled": 0}, "off", []])
def test_a_group_that_is_switched_off_in_any_words(settings: Any) -> None:
    assert refusal({**LISTED, "groups": {"#room": settings}}, group()) is Refusal.GROUP_NOT_ALLOWED


@pytest.mark.parametrize("required", [None, True, "no", 0, "false"])
def test_groups_want_a_mention_unless_it_says_plainly_no(required: Any) -> None:
    settings = {} if required is None else {"requireMention": required}
    section = {**LISTED, "groups": {"#room": settings}}
    assert refusal(section, group(mentioned=False)) is Refusal.NOT_MENTIONED
    assert refusal(section, group(mentioned=True)) is None
    plain = {**LISTED, "groups": {"#room": {"requireMention": False}}}
    assert refusal(plain, group(mentioned=False)) is None


def test_everybody_in_a_group_still_needs_a_mention() -> None:
    section = {**LISTED, "groupAllowFrom": ["*"]}
    assert refusal(section, group("stranger", mentioned=False)) is Refusal.NOT_MENTIONED
    assert refusal(section, group("stranger")) is None


KINDS = ["message", "edit", "reaction", "button", "callback", "join", ""]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_event_passes_the_same_check(kind: str) -> None:
    for sender, allowed in (("bob", True), ("mallory", False)):
        assert (refusal(LISTED, event(sender, kind=kind)) is None) is allowed
        assert (refusal(LISTED, group(sender, kind=kind)) is None) is allowed


@given(st.sets(st.sampled_from(["dmPolicy", "allowFrom", "groupPolicy"])))
def test_taking_a_policy_away_never_lets_more_people_in(gone: set[str]) -> None:
    senders = ("bob", "mallory", "stranger")
    for section in (OPEN, LISTED, {**LISTED, "groups": {"*": {"allowFrom": ["bob"]}}}):
        less = {k: v for k, v in section.items() if k not in gone}
        for sender, make in itertools.product(senders, (event, group)):
            if refusal(less, make(sender)) is None:
                assert refusal(section, make(sender)) is None


def test_empty_messages_are_no_messages() -> None:
    assert refusal(LISTED, event(text=" \n")) is Refusal.NO_TEXT
    assert refusal(LISTED, event(text="", media=({"kind": "image"},))) is None
