"""The store between builds: what was made anywhere before is not made again, and never wrong."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest
from project import ENGINE, MadeOnce, Project, Run, tree_digests

TOOLS = {"ASM", "LINK", "DIS"}
"""Labels of the actions that use the tool chain."""

WAITS = "kernels/gfx950/templates/common/waits.inc"
DECODE = ("engine=" + ENGINE, "-j2", "--max-drift=-1")
"""An option that is not ours passes the up-to-date check, which would restore a whole request."""


class Stored:
    """A project whose builds use a store of their own."""

    def __init__(self, project: Project, cache: Path) -> None:
        self.project = project
        self.cache = cache

    @property
    def store(self) -> Path:
        return self.cache / "netra"

    def build(self, *words: str) -> Run:
        """Build the engine; it has to end well."""
        done = self.project.scons(*DECODE, *words, XDG_CACHE_HOME=str(self.cache))
        assert done.status == 0, done.errors
        return done

    def verify(self) -> Run:
        return self.project.netra("store", "verify", "--store", str(self.store))

    def files(self, folder: str) -> list[Path]:
        return sorted(p for p in (self.store / folder).rglob("*") if p.is_file())


@pytest.fixture(scope="session")
def filled_once(built_once: Project, made_once: MadeOnce) -> Path:
    """Return a cache folder filled by one build of the engine; to be read only."""

    def make(folder: Path) -> None:
        first = Project.copy_to(folder / "project", built_once.folder)
        done = first.scons(*DECODE, XDG_CACHE_HOME=str(folder / "cache"))
        assert done.status == 0, done.errors
        assert tree_digests(first.engine()) == tree_digests(built_once.engine())

    return made_once("filled", make) / "cache"


@pytest.fixture
def stored(project: Project, filled_once: Path, tmp_path: Path) -> Stored:
    """Return a checkout in which nothing was built, with a private copy of a filled store."""
    shutil.copytree(filled_once, tmp_path / "cache", copy_function=shutil.copy2)
    return Stored(project, tmp_path / "cache")


@pytest.fixture(scope="session")
def expected(built_once: Project) -> dict[str, str]:
    """Return the engine's files as a build without a store makes them."""
    return tree_digests(built_once.engine())


def counted(run: Run) -> str:
    """Return the closing line without its seconds."""
    return run.output.splitlines()[-1].rpartition(" in ")[0]


def test_another_checkout_starts_no_tool(stored: Stored, expected: dict[str, str]) -> None:
    done = stored.build()
    assert set(done.actions) == {"STORE", "INST", "EMIT", "COPY"}
    assert done.actions.count("STORE") == 60
    assert counted(done) == "netra: ran 14, cut off 0, restored 60, up to date 0"
    assert tree_digests(stored.project.engine()) == expected
    assert stored.build().actions == []
    assert "STORE engine -> netra.json" in done.action_lines


def test_another_path_depth_and_build_folder_start_no_tool(
    stored: Stored, tmp_path: Path, expected: dict[str, str]
) -> None:
    deep = tmp_path / "a longer name, with blanks" / "below" / "project"
    other = Stored(Project.copy_to(deep, stored.project.folder), stored.cache)
    done = other.build("out=products/here")
    assert set(done.actions) == {"STORE", "INST", "EMIT", "COPY"}
    assert tree_digests(deep / "products" / "here") == expected


def test_a_tool_chain_that_cannot_assemble_this_shows_that_none_is_started(
    stored: Stored, tmp_path: Path, expected: dict[str, str]
) -> None:
    """The assembler has the bytes and so the identity it had; it fails on all but the probe."""
    fake = fake_tools(tmp_path)
    alone = Project.copy_to(tmp_path / "alone", stored.project.folder, native=False)
    first = Stored(alone, stored.cache)
    first.build(f"toolchain={fake}")
    (fake / "state").write_text("broken")
    other = Stored(Project.copy_to(tmp_path / "b", alone.folder, native=False), stored.cache)
    assert "ASM" not in other.build(f"toolchain={fake}").actions
    objects = {name: digest for name, digest in expected.items() if name.startswith("hsaco/")}
    assert objects.items() <= tree_digests(other.project.engine()).items()
    without = Project.copy_to(tmp_path / "c", alone.folder, native=False)
    assert without.scons("store=0", *DECODE, f"toolchain={fake}").status == 2


def fake_tools(tmp_path: Path, before: str = "") -> Path:
    """Return a tool chain of scripts that call the real programs, unless ``state`` is "broken".

    The lines ``before`` run first in the assembler.
    """
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("llvm-mc", "ld.lld", "llvm-objdump"):
        real = shutil.which(name, path="/usr/lib/llvm-22/bin") or shutil.which(name)
        assert real is not None, name
        script = folder / name
        script.write_text(
            f"#!/bin/sh\n{before if name == 'llvm-mc' else ''}"
            f'read -r state < "{folder}/state"\n'
            'if [ "$state" = broken ] && [ -s unit.s ] && [ "$(wc -c < unit.s)" -gt 200 ]; then\n'
            f'  echo "unit.s:1:1: error: no" >&2; exit 1\nfi\nexec {real} "$@"\n'
        )
        script.chmod(0o755)
    (folder / "state").write_text("working\n")
    return folder


def test_an_edit_during_the_build_is_refused_and_leaves_nothing_wrong(
    project: Project, tmp_path: Path, expected: dict[str, str]
) -> None:
    """The assembler edits an include that is still to be read, and the edit is taken back."""
    alone = Stored(
        Project.copy_to(tmp_path / "alone", project.folder, native=False), tmp_path / "cache"
    )
    guards = alone.project.path("kernels/gfx950/templates/common/guards.inc")
    armed = tmp_path / "armed"
    edit = f'if [ -e "{armed}" ] && [ "$(wc -c < unit.s)" -gt 200 ]; then\n'
    edit += f'rm "{armed}"; echo "// edited" >> "{guards}"\nfi\n'
    words = ["-j1", f"toolchain={fake_tools(tmp_path, edit)}"]
    original = guards.read_bytes()
    armed.write_text("")
    done = alone.project.scons(*DECODE, *words, XDG_CACHE_HOME=str(alone.cache))
    assert done.status == 2
    name = "kernels/gfx950/templates/common/guards.inc"
    fault = f"{name}: file has changed since the build was planned\nhint: build again"
    assert fault in done.errors
    assert not (alone.project.engine() / "netra.json").exists()
    assert guards.read_bytes() != original
    guards.write_bytes(original)
    alone.build(*words)
    made = {name: d for name, d in expected.items() if name.startswith(("generated/", "hsaco/"))}
    assert made.items() <= tree_digests(alone.project.engine()).items()
    fresh = Stored(
        Project.copy_to(tmp_path / "fresh", alone.project.folder, native=False), tmp_path / "none"
    )
    fresh.build(*words)
    assert tree_digests(alone.project.engine()) == tree_digests(fresh.project.engine())


def test_store_0_neither_takes_nor_gives(stored: Stored, expected: dict[str, str]) -> None:
    before = tree_digests(stored.store)
    done = stored.build("store=0")
    assert "STORE" not in done.actions
    assert done.actions.count("ASM") == 6
    assert tree_digests(stored.project.engine()) == expected
    assert tree_digests(stored.store) == before


def test_a_store_elsewhere_is_used_instead(stored: Stored, tmp_path: Path) -> None:
    before = tree_digests(stored.store)
    own = tmp_path / "own store"
    stored.build(f"store={own}")
    assert tree_digests(stored.store) == before
    assert (own / "actions").is_dir()


def test_a_checkout_back_starts_no_tool(stored: Stored, expected: dict[str, str]) -> None:
    stored.build()
    path = stored.project.path(WAITS)
    original = path.read_bytes()
    path.write_bytes(original + b"// a remark\n")
    remark = stored.build()
    assert not TOOLS & set(remark.actions)
    path.write_bytes(original)
    back = stored.build()
    assert not TOOLS & set(back.actions)
    assert "FLAT" not in back.actions
    assert tree_digests(stored.project.engine()) == expected


def test_a_branch_of_other_instructions_and_back(stored: Stored, expected: dict[str, str]) -> None:
    """The other branch assembles what it changed; the way back assembles nothing."""
    stored.build()
    template = stored.project.path("kernels/gfx950/templates/common/reductions.inc")
    before = template.read_text()
    template.write_text(before.replace("v_max_f32_dpp", "v_min_f32_dpp"))
    changed = stored.project.scons(*DECODE, XDG_CACHE_HOME=str(stored.cache))
    assert changed.status == 1, changed.errors
    assert "ASM" in changed.actions
    template.write_text(before)
    back = stored.build()
    assert not TOOLS & set(back.actions)
    assert tree_digests(stored.project.engine()) == expected


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def test_a_store_that_is_damaged_everywhere_is_healed(
    stored: Stored, expected: dict[str, str]
) -> None:
    """Nothing damaged reaches a product; the build puts good files in place of all bad ones."""
    files = [*stored.files("actions"), *stored.files("blobs")]
    for path, damage in zip(files, cycle([flip, truncate, empty]), strict=False):
        damage(path)
    done = stored.build()
    assert done.actions.count("ASM") == 6
    assert tree_digests(stored.project.engine()) == expected
    assert stored.verify().status == 0
    healed = Stored(
        Project.copy_to(stored.project.folder.parent / "again", stored.project.folder),
        stored.cache,
    )
    assert set(healed.build().actions) == {"STORE", "INST", "EMIT", "COPY"}
    assert tree_digests(healed.project.engine()) == expected


def test_restored_files_are_known_as_ours(stored: Stored, expected: dict[str, str]) -> None:
    """An altered output is found and made again, a restored one like any other."""
    stored.build()
    symbol = next(iter(sorted((stored.project.engine() / "hsaco").iterdir())))
    flip(symbol)
    done = stored.build()
    assert "STORE" in done.actions
    assert not TOOLS & set(done.actions)
    assert tree_digests(stored.project.engine()) == expected


def test_a_failing_action_is_not_kept(stored: Stored) -> None:
    stored.build()
    stored.project.edit(
        "kernels/gfx950/templates/common/reductions.inc",
        "\tv_max_f32_dpp v[\\value], v[\\value], v[\\value] row_ror",
        "\tv_maximal_f32_dpp v[\\value], v[\\value], v[\\value] row_ror",
    )
    for _ in range(2):
        done = stored.project.scons(*DECODE, XDG_CACHE_HOME=str(stored.cache))
        assert done.status == 2
        assert "ASM" in done.actions


def test_a_dry_run_makes_no_store(project: Project, tmp_path: Path) -> None:
    done = project.scons(*DECODE, "-n", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.status == 0, done.errors
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("option", "taken", "given"),
    [("--cache-disable", False, False), ("--cache-readonly", True, False)],
)
def test_scons_s_own_cache_options_hold(
    stored: Stored, option: str, taken: bool, given: bool
) -> None:
    for path in stored.files("actions")[::2]:
        path.unlink()
    before = len(stored.files("actions"))
    done = stored.build(option)
    assert ("STORE" in done.actions) is taken
    assert (len(stored.files("actions")) > before) is given


def test_a_store_that_cannot_be_used_is_said_once(stored: Stored, expected: dict[str, str]) -> None:
    stored.store.chmod(0o777)
    done = stored.build()
    assert done.errors == (
        f"netra: {stored.store}: store can be written by other users; going on without it\n"
        f"hint: chmod go-w {stored.store}\n"
    )
    assert "STORE" not in done.actions
    assert tree_digests(stored.project.engine()) == expected


def test_a_bound_that_is_none_is_refused(stored: Stored) -> None:
    done = stored.project.scons(*DECODE, XDG_CACHE_HOME=str(stored.cache), NETRA_STORE_BYTES="much")
    assert done.status == 2
    assert done.errors == (
        "netra: store: NETRA_STORE_BYTES is not usable; "
        "expected 1048576 to 1125899906842624 bytes, got much\n"
    )
    done = stored.project.scons(*DECODE, "store=0", NETRA_TOOL_SECONDS="more")
    assert done.status == 2
    assert done.errors == (
        "netra: tool chain: NETRA_TOOL_SECONDS is not usable; "
        "expected 1 to 86400 seconds, got more\n"
    )


def test_rebuild_uses_no_store(stored: Stored, tmp_path: Path, expected: dict[str, str]) -> None:
    before = tree_digests(stored.store)
    command = [sys.executable, "-P", "-m", "netra_build.cli.main", "rebuild", ENGINE]
    command += ["--out", str(tmp_path / "twin")]
    done = stored.project.run(*command, XDG_CACHE_HOME=str(stored.cache))
    assert done.status == 0, done.errors
    assert tree_digests(tmp_path / "twin") == expected
    assert tree_digests(stored.store) == before


def test_builds_side_by_side_over_one_store(
    built_once: Project, tmp_path: Path, expected: dict[str, str], is_full: bool
) -> None:
    """Some are killed on the way; all others are right, and the store verifies."""
    count = 8 if is_full else 3
    cache = tmp_path / "cache"
    projects = [
        Project.copy_to(tmp_path / "p" / ("x" * number), built_once.folder)
        for number in range(1, count + 1)
    ]
    children = [start(project, cache) for project in projects]
    victim = children[0]
    while not (cache / "netra" / "actions").is_dir():
        assert victim.poll() is None
    os.killpg(victim.pid, signal.SIGKILL)
    for child in children:
        child.communicate()
    assert [child.returncode for child in children] == [-signal.SIGKILL] + [0] * (count - 1)
    for project in projects[1:]:
        assert tree_digests(project.engine()) == expected
    last = Stored(projects[0], cache)
    assert last.verify().status == 0
    assert not TOOLS & set(last.build().actions)
    assert tree_digests(projects[0].engine()) == expected


def start(project: Project, cache: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "SCons", *DECODE],
        cwd=project.folder,
        env=project.environment(XDG_CACHE_HOME=str(cache)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
