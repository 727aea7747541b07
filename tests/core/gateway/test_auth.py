"""The token, where it is kept, and who is locked out."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.config.model import Config
from openclaw_core.errors import ConfigValueError
from openclaw_core.gateway.auth import TOKEN_FILE, AuthLimiter, canonical, load_token, same
from openclaw_core.testing.fakes.clock import FakeClock


def config(**auth: Any) -> Config:
    return Config.model_validate({"gateway": {"auth": auth}})


def test_a_token_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        token = load_token(config(), tmp_path, create=True)
    finally:
        os.umask(before)
    assert len(token) >= 32
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600
    assert load_token(config(), tmp_path, create=True) == token
    assert load_token(config(), tmp_path, create=False) == token
    assert [p.name for p in tmp_path.iterdir()] == [TOKEN_FILE]


def test_an_empty_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / TOKEN_FILE).touch()
    assert load_token(config(), tmp_path, create=False) == ""
    token = load_token(config(), tmp_path, create=True)
    assert (tmp_path / TOKEN_FILE).read_text() == token + "\n"


def test_the_configuration_wins_and_none_means_none(tmp_path: Path) -> None:
    assert load_token(config(token="from-the-config-1"), tmp_path, create=True) == "from-the-config-1"
    assert load_token(config(mode="none"), tmp_path, create=True) == ""
    assert list(tmp_path.iterdir()) == []


def test_an_unreadable_token_says_so(tmp_path: Path) -> None:
    (tmp_path / TOKEN_FILE).mkdir()
    with pytest.raises(ConfigValueError, match="cannot be read"):
        load_token(config(), tmp_path, create=True)


@given(st.text(), st.text())
def test_comparing(left: str, right: str) -> None:
    assert same(left, right) is (left == right)
    assert same(left, left)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("127.0.0.1", "loopback"),
        ("127.9.9.9", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("somewhere", "somewhere"),
    ],
)
def test_one_client_has_one_name(address: str, name: str) -> None:
    assert canonical(address) == name


def limiter(clock: FakeClock) -> AuthLimiter:
    return AuthLimiter(clock, attempts=10, window_s=60, lockout_s=300)


async def test_ten_wrong_ones_within_a_minute_lock_out_for_five() -> None:
    clock = FakeClock()
    guard = limiter(clock)
    for _ in range(9):
        guard.failed("a")
    assert guard.locked("a") == 0
    guard.failed("a")
    assert guard.locked("a") == 300
    assert guard.locked("b") == 0
    await clock.advance(299)
    assert guard.locked("a") == 1
    await clock.advance(1)
    assert guard.locked("a") == 0
    guard.failed("a")
    assert guard.locked("a") == 0


async def test_slow_mistakes_do_not_lock_out_and_the_wall_clock_does_not_matter() -> None:
    clock = FakeClock()
    guard = limiter(clock)
    for _ in range(40):
        guard.failed("a")
        clock.set_back(3600)
        await clock.advance(7)
    assert guard.locked("a") == 0


def test_the_memory_of_a_limiter_is_bounded() -> None:
    guard = limiter(FakeClock())
    for number in range(10_050):
        guard.failed(f"client{number}")
    assert len(guard._buckets) == 10_000
