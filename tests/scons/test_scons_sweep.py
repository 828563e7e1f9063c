"""Right under every edit: what a naive build gets wrong, ours gets as a clean build does."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from project import Run
from sweep import EDITS, Checkout, compare, run_script

OLD, FUTURE, CLAMPED = 1_700_000_000, 4_000_000_000, 315_532_800
HEAD = """\
import os, sys
sys.path.insert(0, ".")
DefaultEnvironment(tools=[])
env = Environment(tools=[], ENV={"PATH": "/usr/bin:/bin"})
"""
COPY = 'env.Command("out", "k.s", "cp k.s $TARGET")\n'


class Naive:
    """A build as one writes it at first, with SCons alone: ``out`` is made of ``k.s``."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder
        folder.mkdir()
        self.write("SConstruct", HEAD + text)

    def write(self, name: str, text: str, stamp: float | None = None) -> None:
        """Write a file, with this modification time if there is one."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        if stamp is not None:
            os.utime(path, (stamp, stamp))

    def build(self, **environment: str) -> int:
        """Build and return the exit code, negative for a signal."""
        command = [sys.executable, "-P", "-m", "SCons", "-Q"]
        given = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **environment}
        return subprocess.run(command, cwd=self.folder, env=given, capture_output=True).returncode

    def made(self) -> str:
        """Return what was made."""
        path = self.folder / "out"
        return "a folder" if path.is_dir() else path.read_text()

    def clean(self, **environment: str) -> str:
        """Return what a clean build of the same sources makes."""
        other = Naive.__new__(Naive)
        other.folder = self.folder.with_name("clean")
        left_out = shutil.ignore_patterns("out", ".sconsign*", "cache")
        shutil.copytree(self.folder, other.folder, ignore=left_out)
        assert other.build(**environment) == 0
        return other.made()


@dataclass(frozen=True)
class Trap:
    """A naive SConstruct, what is done with it, and the environment that it ends in."""

    text: str
    steps: Callable[[Naive], None]
    environment: tuple[tuple[str, str], ...] = ()


def _stamped(first: float, second: float, decider: str = "") -> Trap:
    """Edit ``k.s`` from one time stamp to another."""

    def steps(naive: Naive) -> None:
        naive.write("k.s", "1", first)
        assert naive.build() == 0
        naive.write("k.s", "2", second)
        assert naive.build() == 0

    return Trap((f'env.Decider("{decider}")\n' if decider else "") + COPY, steps)


def _rename(naive: Naive) -> None:
    naive.write("k.s", "a.inc")
    naive.write("a.inc", "1")
    assert naive.build() == 0
    (naive.folder / "a.inc").rename(naive.folder / "b.inc")
    naive.write("a.inc", "left behind")
    naive.write("k.s", "b.inc")
    assert naive.build() == 0
    naive.write("b.inc", "2")
    assert naive.build() == 0


def _replace(name: str, *texts: str) -> Callable[[Naive], None]:
    """Build with each text of one file in turn."""

    def steps(naive: Naive) -> None:
        naive.write("k.s", "1")
        for text in texts:
            naive.write(name, text)
            assert naive.build() == 0

    return steps


def _find_earlier(naive: Naive) -> None:
    naive.write("second/x.inc", "1")
    assert naive.build() == 0
    naive.write("first/x.inc", "2")
    assert naive.build() == 0


def _set_variable(naive: Naive) -> None:
    naive.write("k.s", "1")
    assert naive.build(MODE="a") == 0
    assert naive.build(MODE="b") == 0


def _race(naive: Naive) -> None:
    """While the action runs ``k.s`` is edited, and afterwards put back."""
    naive.write("k.s", "1")
    naive.write("race", "")
    assert naive.build() == 0
    (naive.folder / "race").unlink()
    naive.write("k.s", "1")
    assert naive.build() == 0


def _fail_halfway(naive: Naive) -> None:
    """An action that ends halfway, and the edit that led to it taken back."""
    naive.write("k.s", "11")
    assert naive.build() == 0
    naive.write("k.s", "22")
    naive.write("full", "")
    assert naive.build() != 0
    (naive.folder / "full").unlink()
    naive.write("k.s", "11")
    assert naive.build() == 0


def _put_folder_in_the_way(naive: Naive) -> None:
    naive.write("k.s", "1")
    (naive.folder / "out").mkdir()
    naive.build()


def _damage(naive: Naive) -> None:
    naive.write("k.s", "11")
    assert naive.build() == 0
    naive.write("out", "1")
    assert naive.build() == 0


def _damage_cache(naive: Naive) -> None:
    naive.write("k.s", "11")
    assert naive.build() == 0
    for path in (naive.folder / "cache").rglob("*"):
        if path.is_file() and path.name != "config":
            path.chmod(0o644)
            path.write_text("1")
    (naive.folder / "out").unlink()
    assert naive.build() == 0


def _half(end: str) -> str:
    """Return a rule whose action writes half and ends, when the file ``full`` is there."""
    half = f"head -c 1 k.s > $TARGET; {end}"
    return f'env.Command("out", "k.s", "if test -f full; then {half}; fi; cp k.s $TARGET")\n'


def _python(body: str) -> str:
    """Return a rule whose action is a Python function."""
    return f"def act(target, source, env):\n{body}env.Command('out', 'k.s', act)\n"


READ_INCLUDE = 'env.Command("out", ["k.s", "a.inc"], "cat `cat k.s` > $TARGET")\n'
SEARCH = "cat `ls first/x.inc second/x.inc 2>/dev/null | head -n 1` > $TARGET"
RACE = 'env.Command("out", "k.s", "if test -f race; then echo 2 > k.s; fi; cp k.s $TARGET")\n'
LIBRARY = "from importlib.metadata import version\nVERSION = version('lib')\n"
METADATA = "Metadata-Version: 2.1\nName: lib\nVersion: {}\n"

TRAPS = {
    "twice a second": _stamped(OLD + 0.1, OLD + 0.6, "content-timestamp"),
    "two days ago": _stamped(OLD, OLD),
    "in the future": _stamped(FUTURE, FUTURE, "content-timestamp"),
    "stamp unchanged": _stamped(OLD, OLD, "timestamp-match"),
    "stamps clamped": _stamped(CLAMPED, CLAMPED),
    "include renamed": Trap(READ_INCLUDE, _rename),
    "include found earlier": Trap(
        f'env.Command("out", "second/x.inc", "{SEARCH}")\n', _find_earlier
    ),
    "tool swapped": Trap(
        'env.Command("out", "k.s", "sh tools/as > $TARGET")\n',
        _replace("tools/as", "echo 1\n", "echo 2\n"),
    ),
    "library upgraded": Trap(
        LIBRARY + _python("    open('out', 'w').write(VERSION)\n"),
        _replace("lib-1.dist-info/METADATA", *map(METADATA.format, "12")),
    ),
    "package changed": Trap(
        "import helper\n" + _python("    open('out', 'w').write(helper.text())\n"),
        _replace("helper.py", "def text(): return '1'\n", "def text(): return '22'\n"),
    ),
    "environment changed": Trap(
        _python("    open('out', 'w').write(os.environ['MODE'])\n"),
        _set_variable,
        (("MODE", "b"),),
    ),
    "while it builds": Trap(RACE, _race),
    "no room": Trap(_half("exit 1"), _fail_halfway),
    "killed": Trap(_half("kill -9 $$PPID; exit 1"), _fail_halfway),
    "output in the way": Trap(
        'env.Command("out", "k.s", "cp k.s out || true")\n', _put_folder_in_the_way
    ),
    "output damaged": Trap(COPY, _damage),
    "store damaged": Trap('CacheDir("cache")\n' + COPY, _damage_cache),
}
"""For each edit a naive build that ends with other bytes than a clean one."""

EVERY_BUILD_SEES = {"a kernel", "a primitive", "a comment"}


@pytest.mark.parametrize("name", sorted(TRAPS))
def test_a_naive_build_is_wrong(name: str, tmp_path: Path) -> None:
    trap = TRAPS[name]
    naive = Naive(tmp_path / "naive", trap.text)
    trap.steps(naive)
    assert naive.made() != naive.clean(**dict(trap.environment))


def test_a_naive_build_is_right_where_nothing_is_done(tmp_path: Path) -> None:
    naive = Naive(tmp_path / "naive", COPY)
    naive.write("k.s", "1")
    assert naive.build() == 0
    assert naive.made() == naive.clean() == "1"


def test_every_edit_has_its_naive_build() -> None:
    assert {*TRAPS, *EVERY_BUILD_SEES} == set(EDITS)


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Return a checkout that is built; to be copied only."""
    folder = tmp_path_factory.mktemp("laid out")
    checkout = Checkout.lay_out(folder / "checkout", folder / "cache")
    assert checkout.build().status == 0
    return checkout


@pytest.fixture
def checkout(laid_out: Checkout, tmp_path: Path) -> Checkout:
    """Return a private copy of the built checkout and its store, time stamps kept."""
    for part in (laid_out.folder, laid_out.cache):
        if part.exists():
            shutil.copytree(part, tmp_path / part.name, symlinks=True)
    return Checkout(tmp_path / "checkout", tmp_path / "cache")


@pytest.mark.parametrize("name", sorted(EDITS))
def test_our_build_ends_as_a_clean_one(
    name: str, checkout: Checkout, rng: random.Random, tmp_path: Path
) -> None:
    EDITS[name](checkout, rng)
    assert compare(checkout, tmp_path / "clean") == ""


def test_a_difference_from_a_clean_build_is_found(checkout: Checkout, tmp_path: Path) -> None:
    """The comparison itself: a build that does nothing after an edit is one that is wrong."""

    class Lazy(Checkout):
        def build(self, *words: str) -> Run:
            return self.scons("-h")

    EDITS["a kernel"](checkout, random.Random(1))
    lazy = Lazy(checkout.folder, checkout.cache)
    symbol = "netra_bench_00000_gfx950"
    found = compare(lazy, tmp_path / "clean")
    assert found.startswith("differs in ['build-result.json', 'generated/includes/kernels/")
    assert symbol[:11] in found


def test_a_package_that_takes_the_place_of_a_link_is_seen(tmp_path: Path) -> None:
    """The files that the link led to are as they were; the check has to look at its name."""
    checkout = Checkout.lay_out(tmp_path / "checkout", tmp_path / "cache")
    assert checkout.path("netra_build").is_symlink()
    checkout.build()
    EDITS["package changed"](checkout, random.Random(1))
    assert not checkout.path("netra_build").is_symlink()
    assert compare(checkout, tmp_path / "clean") == ""


def test_random_scripts_end_as_clean_builds(
    sample: Callable[[list, int], list], tmp_path: Path
) -> None:
    faults = []
    for seed in sample(list(range(300)), 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        faults += run_script(seed, folder)
        shutil.rmtree(folder)
    assert faults == []
