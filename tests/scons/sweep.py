"""Random scripts of edits and builds over a small library; each ends as a clean build would.

A script edits two checkouts that share one store, builds in between - also cut off with kill -9,
with too little disk, or while a file is edited - and ends with a build of each. What is then there
has to be, byte for byte, what a build without a store makes of a fresh copy of the same sources.
Everything is drawn from the script's seed.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from project import ROOT, Project, Run, tree_digests

sys.path.insert(0, str(ROOT / "bench"))

from synthetic_kernels import COMMON, TEMPLATES, template_name, write_library

KERNELS = 3
PRODUCT = "build/recipes/bench"
DAY = 86_400
NEVER = 315_532_800
"""Where trees with clamped time stamps put them: 1980."""

SOURCES = ("kernels", "manifests", "recipes", "schemas")
PACKAGE = "netra_build"
UNIT_TEXT = "Deterministic Netra compiler output"
INSTANTIATE = f"{PACKAGE}/stages/instantiate.py"


class Checkout(Project):
    """A small library with our SConstruct, and tools of its own if a script swaps them."""

    def __init__(self, folder: Path, cache: Path) -> None:
        super().__init__(folder)
        self.cache = cache
        self.words = ["recipe=bench"]
        self.more: dict[str, str] = {}

    @classmethod
    def lay_out(cls, folder: Path, cache: Path) -> Checkout:
        """Make a new checkout; the package is that of the project until a script changes it."""
        write_library(folder, KERNELS)
        for part in ("SConstruct", "site_scons"):
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
            (folder / part).unlink(missing_ok=True)
            copy(ROOT / part, folder / part)
        for part in (PACKAGE, ".toolchain"):
            if (ROOT / part).exists():
                (folder / part).symlink_to((ROOT / part).resolve())
        return cls(folder, cache)

    def clone(self, folder: Path, cache: Path) -> Checkout:
        """Return a copy of the sources in a new folder, time stamps new, nothing built."""
        shutil.copytree(
            self.folder,
            folder,
            ignore=lambda place, names: [
                name
                for name in names
                if name.startswith(".sconsign")
                or (name in ("build", "tools") and Path(place) == self.folder)
            ],
            symlinks=True,
            copy_function=shutil.copyfile,
        )
        made = Checkout(folder, cache)
        made.more = dict(self.more)
        made.words = list(self.words)
        if (self.folder / "tools").is_dir():
            shutil.copytree(self.folder / "tools", folder / "tools", symlinks=True)
        return made

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of every command, with a store of the script's own."""
        return super().environment(**{"XDG_CACHE_HOME": str(self.cache), **self.more, **more})

    def build(self, *words: str) -> Run:
        """Build the recipe."""
        return self.scons("-j2", *self.words, *words)

    def started(self, *, file_bytes: int | None = None) -> subprocess.Popen[bytes]:
        """Start a build and return it; no file of it may grow beyond ``file_bytes``."""

        def bound() -> None:
            if file_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

        return subprocess.Popen(
            [sys.executable, "-P", "-m", "SCons", "-j2", *self.words],
            cwd=self.folder,
            env=self.environment(PYTHONUNBUFFERED="1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=bound,
            start_new_session=True,
        )

    def product(self) -> dict[str, str]:
        """Return the digest of every file of the product."""
        return tree_digests(self.path(PRODUCT))

    def own_package(self) -> None:
        """Give the checkout a package of its own instead of a link to the project's."""
        path = self.path(PACKAGE)
        if path.is_symlink():
            path.unlink()
            shutil.copytree(ROOT / PACKAGE, path, ignore=shutil.ignore_patterns("__pycache__"))

    def own_tools(self, marker: str) -> None:
        """Use tools of the checkout's own; ``marker`` is what they say in their code."""
        folder = self.path("tools")
        folder.mkdir(exist_ok=True)
        found = max(Path("/usr/lib").glob("llvm-*/bin/ld.lld")).parent
        for name in ("ld.lld", "llvm-objdump"):
            if not (folder / name).exists():
                (folder / name).symlink_to(found / name)
        swap = f'sed -i "s/, 7$/, {marker}/" unit.s 2>/dev/null'
        script = f'#!/bin/sh\n{swap}\nexec {found}/llvm-mc "$@"\n'
        (folder / "llvm-mc").write_text(script)
        (folder / "llvm-mc").chmod(0o755)
        self.words = ["recipe=bench", "toolchain=tools"]


Edit = Callable[[Checkout, random.Random], None]


def _renumber(path: Path, rng: random.Random) -> None:
    lines = path.read_text().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("\tv_mov_b32 v10, "))
    lines[at] = f"\tv_mov_b32 v10, {rng.randrange(100, 1000)}"
    path.write_text("\n".join(lines))


def _number(checkout: Checkout, rng: random.Random) -> Path:
    """Give one kernel another constant of the same length; return its template."""
    path = checkout.path(template_name(rng.randrange(KERNELS)))
    _renumber(path, rng)
    return path


def edit_kernel(checkout: Checkout, rng: random.Random) -> None:
    """Edit one kernel."""
    _number(checkout, rng)


def edit_primitive(checkout: Checkout, rng: random.Random) -> None:
    """Edit an instruction that all kernels share; one kernel if another edit moved it away."""
    path, wait = checkout.path(COMMON), "\ts_waitcnt lgkmcnt(0)"
    lines = [line for line in path.read_text().split("\n") if not line.startswith("\ts_nop")]
    if wait not in lines:
        edit_kernel(checkout, rng)
        return
    lines.insert(lines.index(wait), f"\ts_nop {rng.randrange(8)}")
    path.write_text("\n".join(lines))


def edit_comment(checkout: Checkout, rng: random.Random) -> None:
    """Edit a comment that all kernels share."""
    path = checkout.path(COMMON)
    path.write_text(f"{path.read_text()}// remark {rng.randrange(1000)}\n")


def edit_twice_a_second(checkout: Checkout, rng: random.Random) -> None:
    """Edit, build, and edit again with the same size and the same second."""
    path = _number(checkout, rng)
    stamp = path.stat().st_mtime_ns // 10**9 * 10**9
    os.utime(path, ns=(stamp, stamp))
    checkout.build()
    _renumber(path, rng)
    os.utime(path, ns=(stamp + 5, stamp + 5))


def _edit_at(when: float) -> Edit:
    def edit(checkout: Checkout, rng: random.Random) -> None:
        path = _number(checkout, rng)
        os.utime(path, (when, when))

    return edit


def edit_unchanged_stamp(checkout: Checkout, rng: random.Random) -> None:
    """Edit one kernel and put its time stamps back."""
    before = {p: p.stat() for p in checkout.path(TEMPLATES).rglob("*.inc")}
    path = _number(checkout, rng)
    os.utime(path, ns=(before[path].st_atime_ns, before[path].st_mtime_ns))


def edit_clamped(checkout: Checkout, rng: random.Random) -> None:
    """Edit one kernel, then clamp the time stamps of the whole library."""
    _number(checkout, rng)
    for part in SOURCES:
        for path in checkout.path(part).rglob("*"):
            os.utime(path, (NEVER, NEVER))


def edit_renamed_include(checkout: Checkout, rng: random.Random) -> None:
    """Give the shared include another name, and change it."""
    folder = checkout.path(TEMPLATES)
    old = next((folder / "common").glob("*.inc"))
    new = old.with_name(f"shared{rng.randrange(10_000)}.inc")
    names = [path.relative_to(checkout.folder).as_posix() for path in (old, new)]
    new.write_text(f"{old.read_text()}// was {old.name}\n")
    old.unlink()
    for path in folder.glob("family*/family.inc"):
        path.write_text(path.read_text().replace(*names))
    restored = checkout.path(COMMON)
    if not restored.exists():
        restored.write_text("// SPDX-License-Identifier: MIT\n// Left behind.\n")


def edit_earlier_include(checkout: Checkout, rng: random.Random) -> None:
    """Put a file of the include's name where a search from the including file would meet it."""
    path = checkout.path(f"{TEMPLATES}/family0/{COMMON}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'\t.error "found first {rng.randrange(1000)}"\n')


def edit_tool(checkout: Checkout, rng: random.Random) -> None:
    """Swap the assembler under its path for one that makes other code."""
    checkout.own_tools(str(rng.randrange(10, 60)))


def edit_library_version(checkout: Checkout, rng: random.Random) -> None:
    """Let a library of the package have another version."""
    for path in checkout.folder.glob("blake3-*.dist-info"):
        shutil.rmtree(path)
    version = f"9.{rng.randrange(1000)}"
    folder = checkout.path(f"blake3-{version}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: blake3\nVersion: {version}\n")


def edit_package(checkout: Checkout, rng: random.Random) -> None:
    """Change what a stage of the package writes."""
    checkout.own_package()
    path = checkout.path(INSTANTIATE)
    head, mark, rest = path.read_text().partition(UNIT_TEXT)
    rest = rest.partition("; all choices")[2]
    path.write_text(f"{head}{mark}{'!' * rng.randrange(1, 40)}; all choices{rest}")


def edit_environment(checkout: Checkout, rng: random.Random) -> None:
    """Set variables that no product may depend on, and one that names a folder without tools."""
    checkout.more = {
        "ROCM_PATH": str(checkout.path("nowhere")),
        "LANG": rng.choice(["C", "tr_TR.UTF-8", "de_DE"]),
        "TZ": rng.choice(["UTC", "Asia/Tokyo"]),
        "SOURCE_DATE_EPOCH": str(rng.randrange(10**9)),
    }


def edit_while_it_builds(checkout: Checkout, rng: random.Random) -> None:
    """Edit a kernel at some moment of a build."""
    _number(checkout, rng)
    with checkout.started() as running:
        _pass_lines(running, rng.randrange(20))
        _number(checkout, rng)
        _pass_lines(running)


def _pass_lines(running: subprocess.Popen[bytes], most: int = 10**9) -> None:
    """Let a build go on until it has printed so many lines, or all."""
    for _ in range(most):
        if not running.stdout.readline():
            return


def build_killed(checkout: Checkout, rng: random.Random) -> None:
    """Start a build and kill it at some moment: all of it, or the building process alone."""
    _number(checkout, rng)
    with checkout.started() as running:
        _pass_lines(running, rng.randrange(25))
        with suppress(ProcessLookupError):
            rng.choice((os.killpg, os.kill))(running.pid, signal.SIGKILL)


def build_without_room(checkout: Checkout, rng: random.Random) -> None:
    """Build where no file may grow beyond a few bytes."""
    edit_primitive(checkout, rng)
    with checkout.started(file_bytes=rng.choice([0, 100, 1500, 4000])) as running:
        _pass_lines(running)


def build_where_a_folder_is(checkout: Checkout, rng: random.Random) -> None:
    """Build where an output cannot be written: a folder has its name."""
    edit_kernel(checkout, rng)
    files = [path for path in checkout.path("build/work").rglob("*") if path.is_file()]
    if files:
        path = rng.choice(sorted(files))
        path.unlink()
        (path / "in the way").mkdir(parents=True)
        checkout.build()
        shutil.rmtree(path)


def damage_output(checkout: Checkout, rng: random.Random) -> None:
    """Alter, cut or remove an output or a work file, its time stamp kept."""
    files = sorted(path for path in checkout.path("build").rglob("*") if path.is_file())
    if not files:
        return
    path = rng.choice(files)
    data, status = path.read_bytes(), path.stat()
    kind = rng.randrange(3)
    if kind == 0:
        path.unlink()
        return
    path.write_bytes(data[: len(data) // 2] if kind == 1 else data[:-1] + b"?")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def damage_store(checkout: Checkout, rng: random.Random) -> None:
    """Alter a file of the store."""
    files = sorted(path for path in checkout.cache.rglob("*") if path.is_file())
    if files:
        path = rng.choice(files)
        data = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(data[: len(data) // 2] + b"#" + data[len(data) // 2 + 1 :])


EDITS: dict[str, Edit] = {
    "a kernel": edit_kernel,
    "a primitive": edit_primitive,
    "a comment": edit_comment,
    "twice a second": edit_twice_a_second,
    "two days ago": _edit_at(1_700_000_000.0),
    "in the future": _edit_at(4_000_000_000.0),
    "stamp unchanged": edit_unchanged_stamp,
    "stamps clamped": edit_clamped,
    "include renamed": edit_renamed_include,
    "include found earlier": edit_earlier_include,
    "tool swapped": edit_tool,
    "library upgraded": edit_library_version,
    "package changed": edit_package,
    "environment changed": edit_environment,
    "while it builds": edit_while_it_builds,
    "killed": build_killed,
    "no room": build_without_room,
    "output in the way": build_where_a_folder_is,
    "output damaged": damage_output,
    "store damaged": damage_store,
}


def run_script(seed: int, folder: Path) -> list[str]:
    """Run one script below ``folder`` and return what is wrong at its end, nothing if all is."""
    rng = random.Random(f"sweep {seed}")
    cache = folder / "cache"
    first = Checkout.lay_out(folder / "first", cache)
    checkouts = [first]
    done: list[str] = []
    for _ in range(rng.randrange(2, 6)):
        if len(checkouts) == 1 and rng.random() < 0.25:
            checkouts.append(first.clone(folder / "second", cache))
        index = rng.randrange(len(checkouts))
        name = rng.choice(sorted(EDITS))
        done.append(f"{index}: {name}")
        EDITS[name](checkouts[index], rng)
        if rng.random() < 0.6:
            done.append(f"{index}: build")
            checkouts[index].build()
    faults = []
    for index, checkout in enumerate(checkouts):
        fault = compare(checkout, folder / f"clean{index}")
        faults += [f"seed {seed}, checkout {index}: {fault}; {done}"] if fault else []
    return faults


def compare(checkout: Checkout, folder: Path) -> str:
    """Build a checkout and a fresh copy of its sources; return how they differ, or nothing."""
    built = checkout.build()
    fresh = checkout.clone(folder, folder.with_name(f"{folder.name}-cache"))
    clean = fresh.build()
    if built.status != clean.status:
        return f"ended with {built.status}, clean with {clean.status}: {built.failure}"
    if clean.status:
        return ""
    found, wanted = checkout.product(), fresh.product()
    wrong = sorted(n for n in {*found, *wanted} if found.get(n) != wanted.get(n))
    if wrong:
        return f"differs in {wrong[:5]}"
    again = checkout.build()
    return f"does {again.actions[:3]} again" if again.actions else ""
