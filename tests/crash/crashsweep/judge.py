"""The judge: from what the world saw and what the gateway kept to a list of broken promises."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from crashsweep.chat import Message
from crashsweep.home import Home

NOTICE = "My last reply may not have reached you. Say 'again' and I will repeat it."
FINAL = ("answered", "told", "dead", "ignored")
Line = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that can be looked at after a case."""

    shown: list[dict[str, Any]]
    acked: list[str]
    requests: list[dict[str, Any]]
    inbox: list[dict[str, Any]]
    outbox: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    tasks: list[dict[str, Any]]
    effects: list[dict[str, str]]
    files: dict[str, bytes]
    """Transcripts by session id."""
    lives: list[list[str]]
    """Passages of each life; all but the last ended by a kill."""


def collect(home: Home) -> Facts:
    """Look at everything; the gateway still runs."""
    return Facts(
        shown=home.record.of("shown"),
        acked=[event["key"] for event in home.record.of("acked")],
        requests=home.record.of("request"),
        inbox=home.rows("inbox"),
        outbox=home.rows("outbox"),
        runs=home.rows("runs"),
        steps=home.rows("steps"),
        tasks=home.rows("tasks"),
        effects=home.effects(),
        files={path.stem: path.read_bytes() for path in home.transcripts()},
        lives=[life.passages for life in home.lives],
    )


def judge(facts: Facts, flavour: str, messages: Sequence[Message]) -> list[str]:
    """Every broken promise, one sentence each, beginning with its kind."""
    return [
        *delivery(facts, flavour, messages),
        *order(facts, messages),
        *transcripts(facts, messages),
        *effects(facts),
        *reconciliation(facts, messages),
        *requests(facts, messages),
    ]


def delivery(facts: Facts, flavour: str, messages: Sequence[Message]) -> Iterator[str]:
    """Answered exactly once, or told."""
    shown = Counter(event["idem"] for event in facts.shown)
    text = {event["idem"]: event["text"] for event in facts.shown}
    known = {row["idem"] for row in facts.outbox}
    for idem in shown.keys() - known:
        yield f"foreign: {idem} was shown and is not in the outbox"
    unsure = 0
    for message in messages:
        run = next((row["run_id"] for row in facts.inbox if row["event_key"] == message.key), None)
        rows = [row for row in facts.outbox if row["run_id"] == run]
        replies = [row for row in rows if row["kind"] != "notice"]
        notices = [row for row in rows if row["kind"] == "notice"]
        if len(replies) != 1:
            yield f"lost: {message.key} has {len(replies)} replies in the outbox"
            continue
        reply = replies[0]
        times = shown[reply["idem"]]
        if times > 1:
            yield f"doubled: the reply to {message.key} was shown {times} times"
        if reply["state"] == "unknown":
            unsure += 1
            if flavour != "plain":
                yield f"notice: {message.key} is unknown on a channel that sends idempotently"
            if len(notices) != 1 or not shown[notices[0]["idem"]]:
                yield f"lost: {message.key} is unknown, and {len(notices)} notices tell so"
            elif text[notices[0]["idem"]] != NOTICE:
                yield f"notice: it says {text[notices[0]['idem']]!r}"
            continue
        if reply["state"] != "sent" or times != 1:
            yield f"lost: the reply to {message.key} is {reply['state']} and was shown {times} times"
        if notices:
            yield f"notice: {message.key} was sent, and a notice doubts it"
        if times and not expected(message, text[reply["idem"]], facts):
            yield f"wrong: {message.text!r} was answered {text[reply['idem']]!r}"
    windows = sum(sends_open(life) for life in facts.lives[:-1]) + full_windows(facts.lives)
    if unsure > windows:
        yield f"notice: {unsure} replies are unknown, but only {windows} sends were cut"
    for row in facts.outbox:
        if row["kind"] == "notice" and shown[row["idem"]] > 1 + max(0, windows - unsure):
            yield f"notice: shown {shown[row['idem']]} times with {windows} sends cut"


def sends_open(passages: Sequence[str]) -> int:
    """Sends under way at the end of a life: marked (or being marked) as sending, outcome not recorded."""
    return passages.count("outbox.before_sending") - passages.count("outbox.sent")


def full_windows(lives: Sequence[Sequence[str]]) -> int:
    """Sends of the last life that ended in doubt though nothing was killed: a failure inside of the window."""
    last = lives[-1]
    return max(0, sends_open(last))


def expected(message: Message, text: str, facts: Facts) -> bool:
    """Whether a reply is the right one."""
    verb, what = message.text.split()
    if verb in ("say", "go"):
        return text == f"said {what}"
    if verb == "fail":
        return bool(text) and not text.startswith(("said", "done"))
    unsure = any(row["state"] == "interrupted" for row in facts.steps)
    return text == (f"done {what} (uncertain)" if unsure else f"done {what}")


def order(facts: Facts, messages: Sequence[Message]) -> Iterator[str]:
    """Within a conversation replies keep the order of the messages."""
    runs = {row["event_key"]: row["run_id"] for row in facts.inbox}
    for sender in {message.sender for message in messages}:
        wanted = [runs.get(message.key) for message in messages if message.sender == sender]
        first: list[str] = []
        for event in facts.shown:
            run = event["idem"].split(":")[0]
            if event["target"] == sender and run not in first:
                first.append(run)
        if [run for run in wanted if run in first] != first:
            yield f"order: replies to {sender} came as {first}, the messages as {wanted}"


def transcripts(facts: Facts, messages: Sequence[Message]) -> Iterator[str]:
    """No line lost, doubled or torn; one chain; each call with exactly one result."""
    users: Counter[str] = Counter()
    for name, data in facts.files.items():
        lines: list[Line] = []
        if not data.endswith(b"\n"):
            yield f"torn: {name} does not end with a newline"
        for number, raw in enumerate(data.split(b"\n")[:-1]):
            try:
                lines.append(json.loads(raw))
            except ValueError:
                yield f"torn: line {number} of {name} does not parse: {raw[:60]!r}"
        if not lines or lines[0].get("type") != "session" or lines[0].get("id") != name:
            yield f"torn: {name} has no header"
        yield from _chain(name, lines[1:])
        yield from _pairs(name, lines[1:])
        users.update(_text(line) for line in lines[1:] if _role(line) == "user")
    for message in messages:
        if users[message.text] != 1:
            yield f"transcript: {message.text!r} is there {users[message.text]} times"
    if extra := set(users) - {message.text for message in messages}:
        yield f"transcript: foreign messages {extra}"


def _chain(name: str, lines: list[Line]) -> Iterator[str]:
    ids = Counter(line.get("id") for line in lines)
    for ident, times in ids.items():
        if times > 1:
            yield f"transcript: line {ident} of {name} is there {times} times"
    if lines and lines[0].get("parentId") is not None:
        yield f"transcript: the first message of {name} has a parent"
    for before, line in pairwise(lines):
        if line.get("parentId") != before.get("id"):
            yield f"transcript: {line.get('id')} of {name} does not follow the line before it"


def _pairs(name: str, lines: list[Line]) -> Iterator[str]:
    """Between two user lines: answers, each call followed by its result, one final answer."""
    calls: Counter[str] = Counter()
    results: Counter[str] = Counter()
    open_calls: list[str] = []
    finals = 1
    for line in lines:
        role = _role(line)
        if role == "toolResult":
            ident = line["message"]["toolCallId"]
            results[ident] += 1
            if not open_calls or open_calls.pop(0) != ident:
                yield f"transcript: the result of {ident} in {name} is out of place"
            continue
        if open_calls:
            yield f"transcript: call {open_calls[0]} in {name} has no result where it belongs"
        open_calls = [b["id"] for b in line["message"]["content"] if b["type"] == "toolCall"] if role != "user" else []
        calls.update(open_calls)
        if role == "user":
            if finals != 1:
                yield f"transcript: a message in {name} has {finals} final answers"
            finals = 0
        elif not open_calls:
            finals += 1
    if lines and finals != 1:
        yield f"transcript: the last message in {name} has {finals} final answers"
    for ident in calls | results:
        if (calls[ident], results[ident]) != (1, 1):
            yield f"transcript: {calls[ident]} calls and {results[ident]} results of {ident} in {name}"


def _role(line: Line) -> str:
    return str(line.get("message", {}).get("role", ""))


def _text(line: Line) -> str:
    content = line["message"]["content"]
    return content if isinstance(content, str) else "".join(b.get("text", "") for b in content)


def effects(facts: Facts) -> Iterator[str]:
    """A tool with an effect runs at most once, and a result that is not in doubt says the truth."""
    for field in ("call", "value"):
        for ident, times in Counter(effect[field] for effect in facts.effects).items():
            if times > 1:
                yield f"effect: {field} {ident} took effect {times} times"
    whole = b"".join(facts.files.values()).decode()
    for effect in facts.effects:
        if effect["call"] not in whole:
            yield f"effect: {effect['call']} took effect and is in no transcript"
    done = {effect["call"] for effect in facts.effects}
    for row in facts.steps:
        if row["kind"] == "tool" and row["state"] == "done" and row["call_id"] not in done:
            yield f"effect: {row['call_id']} counts as done and took no effect"


def reconciliation(facts: Facts, messages: Sequence[Message]) -> Iterator[str]:
    """Accepted = answered + told + dead + ignored + pending, and nothing is stuck."""
    states = Counter(row["state"] for row in facts.inbox)
    accepted = max((row["ord"] for row in facts.inbox), default=0)
    if accepted != sum(states.values()) or sum(states[s] for s in FINAL) != accepted or accepted != len(messages):
        yield f"count: {len(messages)} messages, {accepted} accepted, states {dict(states)}"
    if states["dead"] or states["ignored"]:
        yield f"count: {dict(states)}"
    for key in set(facts.acked) - {row["event_key"] for row in facts.inbox}:
        yield f"lost: {key} was acknowledged and is not in the journal"
    active = [row["run_id"] for row in facts.runs if row["held"] or row["status"] == "active"]
    if active:
        yield f"stuck: runs {active} are still active"
    stuck = [row["task_id"] for row in facts.tasks if row["status"] in ("queued", "running")]
    if stuck:
        yield f"stuck: tasks {stuck}"


def requests(facts: Facts, messages: Sequence[Message]) -> Iterator[str]:
    """The model got correct requests with the whole conversation in them."""
    said = {m.sender: [n.text for n in messages if n.sender == m.sender] for m in messages}
    whole = {"\n\n".join(texts[: n + 1]) for texts in said.values() for n in range(len(texts))}
    for event in facts.requests:
        if event["wrong"]:
            yield f"request: {event['wrong']}"
        if "\n\n".join(event["users"]) not in whole:  # messages without an answer between them come as one
            yield f"request: the model saw the messages {event['users']} of {said}"
