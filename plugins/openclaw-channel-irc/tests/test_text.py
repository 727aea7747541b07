from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_channel_irc.lines import budget, to_lines, widest_mask
from openclaw_channel_irc.mention import mentions, without_address
from openclaw_channel_irc.names import fold, is_nick, is_target, nick_of
from openclaw_channel_irc.pace import Pace

TEXT = st.text(st.one_of(st.characters(), st.sampled_from(" \n\r\t\0\x01e\u0301\u200d👩🇩🇪\ud800")), max_size=400)


@given(TEXT, st.integers(8, 120))
def test_lines_lose_nothing_but_what_the_protocol_forbids(text: str, most: int) -> None:
    lines = to_lines(text, most)
    for line in lines:
        assert 0 < len(line.encode()) <= most
        assert line.strip()
        assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in line)
    visible = [c for c in text if not c.isspace() and unicodedata.category(c) not in ("Cc", "Cs")]
    assert [c for c in "".join(lines) if not c.isspace()] == visible


def test_cuts_fall_where_people_would_cut() -> None:
    assert to_lines("the quick brown fox", 12) == ["the quick ", "brown fox"]
    assert to_lines("aaaaaaaaa🇩🇪🇫🇷", 17) == ["aaaaaaaaa🇩🇪", "🇫🇷"]
    assert to_lines("aaaaaaa👩‍👩‍👧", 20) == ["aaaaaaa", "👩‍👩‍👧"]
    assert to_lines("aaaaaaae\u0301", 8) == ["aaaaaaa", "e\u0301"]
    assert to_lines("e" + "\u0301" * 10_000, 100)[0] == "e" + "\u0301" * 49
    with pytest.raises(ValueError):
        to_lines("x", 7)


@given(st.text("abBOTbot:,@ []{}", max_size=30))
def test_removing_the_address_keeps_the_rest(text: str) -> None:
    rest = without_address(text, "Bot")
    assert text.endswith(rest)
    assert bool(rest.strip()) == bool(text.strip())


def test_mentions() -> None:
    for text in ("bot: x", "x, BOT", "@bot", "(bot)", "bot", "hey bot!"):
        assert mentions(text, "Bot"), text
    for text in ("robot", "bots", "bot-x", "bot_", "b o t", "[bot]"):
        assert not mentions(text, "Bot"), text
    assert mentions("a{c: x", "A[c")
    assert not mentions("a{c: x", "A[c", "ascii")
    assert not mentions("x", "")
    assert mentions("a.b*", "b")
    assert without_address("bot:", "bot") == "bot:"


def test_names() -> None:
    assert fold("AB[]\\~Ä") == "ab{}|^Ä"
    assert fold("AB[]\\~", "strict-rfc1459") == "ab{}|~"
    assert fold("AB[]\\~", "ascii") == "ab[]\\~"
    assert is_nick("a[b]-1")
    assert not any(map(is_nick, ["", "1a", "-a", "a b", "a\n", "a" * 65, "ä"]))
    assert is_target("#a")
    assert not any(map(is_target, ["", "a b", "a,b", ":a", "a\n", "a\r", "a\0", "a" * 201]))
    assert [nick_of(s) for s in ("n!u@h", "srv.x", None, "n@h")] == ["n", "srv.x", "", "n"]
    assert budget(mask=widest_mask("n" * 30), target="#" + "c" * 199) > 190


async def test_pace_lets_a_burst_through_and_then_one_each_interval() -> None:
    class FakeClock:
        now = 100.0

        def monotonic(self) -> float:
            return self.now

        def now_ms(self) -> int:
            return 0

        async def sleep(self, seconds: float) -> None:
            self.now += seconds

    clock = FakeClock()
    pace = Pace(burst=3, interval=2.0, clock=clock)
    times = []
    for _ in range(6):
        await pace.turn()
        times.append(clock.now - 100)
    assert times == [0, 0, 0, 2, 4, 6]
    clock.now += 100
    await pace.turn()
    await pace.turn()
    await pace.turn()
    assert clock.now == 206
