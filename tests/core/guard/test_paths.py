from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openclaw_core.errors import ToolError, ToolRefused
from openclaw_core.guard.openat2 import available, openat2
from openclaw_core.guard.paths import Resolver, open_beneath, replace_beneath
from openclaw_core.guard.pathtext import pick_root

RESOLVERS: list[Resolver] = ["openat2", "walk"]


@pytest.fixture(params=RESOLVERS)
def resolver(request: pytest.FixtureRequest) -> Resolver:
    if request.param == "openat2" and not available():
        pytest.skip("this kernel has no openat2")
    return request.param


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with everything that is allowed and everything that is not, and a secret beside it."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "ws-evil").mkdir()
    (tmp_path / "ws-evil" / "x").write_text("sibling")
    root = tmp_path / "ws"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "f").write_text("inside")
    (root / "~tilde").write_text("tilde")
    (root / "link").symlink_to("a/f")
    (root / "a" / "up").symlink_to("../a/b/../f")
    (root / "dirlink").symlink_to("a")
    (root / "out").symlink_to("../secret")
    (root / "absolute").symlink_to(root / "a" / "f")
    (root / "rootlink").symlink_to("/")
    (root / "loop").symlink_to("loop")
    (root / "proc").symlink_to("/proc/self/fd")
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(root / "socket"))
    return root


def read(root: Path, path: str, resolver: Resolver = "auto") -> str:
    with open_beneath(root, path, resolver=resolver) as opened:
        return opened.read(100).decode()


@pytest.mark.parametrize("path", ["a/f", "./a//f", "a/../a/f", "link", "a/up", "dirlink/f", "dirlink/../a/f", "a/f/"])
def test_what_lies_inside_is_read(root: Path, resolver: Resolver, path: str) -> None:
    assert read(root, path, resolver) == "inside"
    assert read(root, f"{root}/{path}", resolver) == "inside"


def test_what_was_opened_is_described(root: Path, resolver: Resolver) -> None:
    (root / "a" / "f").chmod(0o640)
    with open_beneath(root, "a/f", resolver=resolver) as opened:
        assert (opened.size, opened.mode, opened.path) == (6, 0o640, root / "a" / "f")
        assert opened.read(3) == b"ins"
        assert not os.get_inheritable(opened.fd)
    with pytest.raises(OSError):
        os.fstat(opened.fd)
    assert read(root, "./~tilde", resolver) == "tilde"


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "../secret",
        "a/../../secret",
        "dirlink/../../secret",
        "/etc/passwd",
        "/",
        "~root",
        "~/x",
        "~",
        "%2e%2e/secret",
        "a/%2E%2e/%2e./secret",
        "..\\..\\secret",
        "a\\..\\..\\secret",
        "f\0.txt",
        "a/f\0",
        "out",
        "absolute",
        "rootlink/etc/passwd",
        "proc/0",
        "loop",
        "fifo",
        "socket",
        "\ud800",
        "x" * 256,
        "/".join("d" * 65),
        "x/" * 3000,
    ],
)
def test_what_leads_out_is_refused_for_reading_and_writing(root: Path, resolver: Resolver, path: str) -> None:
    before = sorted(str(p) for p in root.parent.rglob("*"))
    with pytest.raises(ToolRefused) as refused:
        read(root, path, resolver)
    with pytest.raises(ToolRefused):
        replace_beneath(root, path, b"overwritten")
    assert sorted(str(p) for p in root.parent.rglob("*")) == before
    assert (root.parent / "secret").read_text() == "secret"
    assert refused.value.message.endswith(".")
    assert str(root) not in refused.value.message


def test_a_sibling_with_the_same_beginning_is_outside(root: Path, resolver: Resolver) -> None:
    with pytest.raises(ToolRefused):
        read(root, f"{root}-evil/x", resolver)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a", "not_a_file"),
        ("", "not_a_file"),
        (".", "not_a_file"),
        ("missing", "file_not_found"),
        ("a/missing/x", "file_not_found"),
        ("a/f/x", "not_a_directory"),
        ("%2e%2f", "file_not_found"),
    ],
)
def test_what_is_not_there_is_an_error_and_no_refusal(root: Path, resolver: Resolver, path: str, code: str) -> None:
    with pytest.raises(ToolError) as error:
        read(root, path, resolver)
    assert (error.value.code, isinstance(error.value, ToolRefused)) == (code, False)


def test_a_device_is_refused(tmp_path: Path, resolver: Resolver) -> None:
    with pytest.raises(ToolRefused):
        read(Path("/dev"), "null", resolver)


def test_hard_links(root: Path, resolver: Resolver) -> None:
    """Reading one's own is fine, another user's is not, and writing never is."""
    os.link(root.parent / "secret", root / "hard")
    assert read(root, "hard", resolver) == "secret"
    with pytest.raises(ToolRefused):
        replace_beneath(root, "hard", b"x")
    if os.geteuid() == 0:
        os.chown(root / "hard", 12345, -1)
        with pytest.raises(ToolRefused):
            read(root, "hard", resolver)


def test_a_missing_root_says_so_without_naming_it(tmp_path: Path, resolver: Resolver) -> None:
    with pytest.raises(ToolError) as error:
        read(tmp_path / "gone", "x", resolver)
    assert str(tmp_path) not in error.value.message


def test_no_descriptor_is_leaked(root: Path, resolver: Resolver) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = count()
    for path in ("a/f", "out", "a", "missing", "a/missing/x", "fifo", "a/up", "dirlink/f", "rootlink/x", "../x"):
        for _ in range(3):
            try:
                read(root, path, resolver)
            except ToolError:
                pass
            try:
                replace_beneath(root, path, b"inside")
            except ToolError:
                pass
    assert count() == before


def test_nul_never_reaches_the_kernel() -> None:
    fd = os.open("/", os.O_RDONLY)
    try:
        with pytest.raises(ValueError):
            openat2(fd, "etc\0x", os.O_RDONLY)
    finally:
        os.close(fd)


NAMES = st.sampled_from(
    ["a", "b", "f", "..", ".", "", "link", "dirlink", "out", "absolute", "loop", "rootlink", "up", "nope"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(NAMES, max_size=7).map("/".join))
def test_both_resolvers_agree(root: Path, path: str) -> None:
    if not available():
        pytest.skip("this kernel has no openat2")

    def outcome(resolver: Resolver) -> str:
        try:
            return read(root, path, resolver)
        except ToolError as error:
            return type(error).__name__ if isinstance(error, ToolRefused) else error.code

    assert outcome("openat2") == outcome("walk")


# ---- writing ---------------------------------------------------------------------------------


def test_new_files_are_private_and_parents_are_made(root: Path) -> None:
    assert replace_beneath(root, "new/deep/file", b"data") == root / "new" / "deep" / "file"
    assert (root / "new" / "deep" / "file").read_bytes() == b"data"
    assert stat.S_IMODE((root / "new" / "deep" / "file").stat().st_mode) == 0o600
    assert stat.S_IMODE((root / "new").stat().st_mode) == 0o700
    with pytest.raises(ToolError):
        replace_beneath(root, "other/file", b"data", create_parents=False)
    assert not (root / "other").exists()


def test_the_mode_stays_without_special_bits(root: Path) -> None:
    (root / "a" / "f").chmod(0o4755)
    replace_beneath(root, "a/f", b"new")
    assert stat.S_IMODE((root / "a" / "f").stat().st_mode) == 0o755
    replace_beneath(root, "a/f", b"new", mode=0o644)
    assert stat.S_IMODE((root / "a" / "f").stat().st_mode) == 0o644


def test_a_link_stays_a_link_and_its_file_is_written(root: Path) -> None:
    assert replace_beneath(root, "link", b"new") == root / "a" / "f"
    assert (root / "link").is_symlink()
    assert (root / "a" / "f").read_bytes() == b"new"
    (root / "dangling").symlink_to("a/later")
    assert replace_beneath(root, "dangling", b"x") == root / "a" / "later"


@pytest.mark.parametrize(
    "path",
    [".git/hooks/pre-commit", ".git/config", "sub/.git/config", ".GIT/config", "gitlink/config", ".git", "a/../.git/x"],
)
def test_files_of_git_are_not_written(root: Path, path: str) -> None:
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / ".git" / "config").write_text("old")
    (root / "gitlink").symlink_to(".git")
    before = sorted(str(p) for p in root.rglob("*"))
    with pytest.raises(ToolRefused) as refused:
        replace_beneath(root, path, b"evil")
    assert refused.value.code == "path_protected"
    assert (root / ".git" / "config").read_text() == "old"
    assert sorted(str(p) for p in root.rglob("*")) == before
    assert read(root, ".git/config") == "old"
    replace_beneath(root, ".gitignore", b"fine")


def test_protected_places(root: Path) -> None:
    (root / "state").mkdir()
    (root / "state" / "token").write_text("t")
    (root / "openclaw.json").write_text("{}")
    (root / "sneak").symlink_to("state")
    closed = [root / "state", root / "openclaw.json", root.parent]
    for path in ("state/token", "state/new", "state/sub/new", "openclaw.json", "sneak/token", "a/../state/token"):
        with pytest.raises(ToolRefused):
            replace_beneath(root, path, b"x", protected=closed)
        if path != "state/sub/new":
            with pytest.raises(ToolRefused):
                open_beneath(root, path, protected=closed)
    assert not (root / "state" / "sub").exists()
    # A protected directory around the root closes nothing in it: the default workspace lies in the state directory.
    replace_beneath(root, "a/f", b"x", protected=closed)
    with open_beneath(root, "a/f", protected=closed) as opened:
        assert opened.read(9) == b"x"
    with pytest.raises(ToolRefused):
        replace_beneath(root, "a/f", b"x", protected=[root])


def test_a_changed_file_is_not_overwritten(root: Path) -> None:
    with open_beneath(root, "a/f") as opened:
        stamp = opened.stamp
    replace_beneath(root, "a/f", b"mine", unchanged=stamp)
    with pytest.raises(ToolError) as error:
        replace_beneath(root, "a/f", b"again", unchanged=stamp)
    assert error.value.code == "path_changed"
    (root / "a" / "f").unlink()
    with pytest.raises(ToolError):
        replace_beneath(root, "a/f", b"again", unchanged=stamp)
    assert not (root / "a" / "f").exists()


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing(root: Path) -> None:
    """A file size limit stands for a full disk; in a child process, because the limit stays."""
    import resource
    import signal

    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
            try:
                replace_beneath(root, "a/f", b"x" * 100_000)
            except ToolError:
                code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert (root / "a" / "f").read_text() == "inside"
    assert sorted(p.name for p in (root / "a").iterdir()) == ["b", "f", "up"]


def test_control_characters_make_no_names(root: Path) -> None:
    for name in ("a\nb", "a\x1b[2J", "a\u202eb"):
        with pytest.raises(ToolRefused) as refused:
            replace_beneath(root, name, b"")
        assert refused.value.message.isprintable()


# ---- several roots ---------------------------------------------------------------------------


def test_the_root_of_a_path(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert pick_root((one, two), "x/y") == one
    assert pick_root((one, two), f"{two}/y") == two
    assert pick_root((one, two), str(one)) == one
    for outside in ("/etc/passwd", f"{two}x/y", f"{tmp_path}", f"{two}/y\0"):
        with pytest.raises(ToolRefused):
            pick_root((one, two), outside)


def test_a_root_behind_a_link_counts_in_both_spellings(tmp_path: Path, root: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(root)
    assert read(alias, f"{root}/a/f") == "inside"
    assert read(alias, f"{alias}/a/f") == "inside"
