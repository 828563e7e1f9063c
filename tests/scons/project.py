"""A copy of the project in a folder of its own, to build in, edit and break."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = (
    "SConstruct",
    "site_scons",
    "netra_build",
    "kernels",
    "manifests",
    "recipes",
    "golden",
    "evidence",
    "statements",
    "schemas",
    "LICENSE",
)
ENGINE = "qwen36_moe_m1"
MadeOnce = Callable[[str, Callable[[Path], object]], Path]
ACTION_LINE = re.compile(r"^([A-Z]{3,9}) +\S.* -> \S+")


@dataclass(frozen=True)
class Run:
    """How one command ended."""

    status: int
    output: str
    errors: str

    @property
    def actions(self) -> list[str]:
        """Labels of the actions that ran, in order."""
        return [m[1] for line in self.output.splitlines() if (m := ACTION_LINE.match(line))]

    @property
    def action_lines(self) -> list[str]:
        """The build lines of the actions that ran, sorted, blanks collapsed."""
        lines = self.output.splitlines()
        return sorted(" ".join(line.split()) for line in lines if ACTION_LINE.match(line))

    @property
    def failure(self) -> str:
        """The text of SCons's error, or the last error lines of our own front."""
        found = re.search(r"scons: \*\*\* (.*?)(?:\nscons: |\Z)", self.errors, re.DOTALL)
        return found[1].strip() if found else self.errors.strip()


def _other_families(folder: str, names: list[str]) -> list[str]:
    """Return what a copy leaves out: the decode MoE family is enough to build and break."""
    kept = {
        "golden/gfx950": r"moe_\w+_decode_m1",
        "evidence/gfx950": r"moe_\w+_decode_m1\.simulated\.json",
        "manifests/gfx950/tactics": r"moe_decode\.json",
        "manifests/gfx950/contracts": r"moe_\w+_decode_m1\.json",
        "manifests/gfx950/models": r"qwen36_moe_m1(_golden)?\.json",
        "kernels/gfx950/templates": r"common|moe",
        "statements/gfx950": r"moe\.py|block_scaled\.py",
        "recipes": r"qwen36_moe_(m1|m1_golden|decode_objects)\.yaml",
    }
    if "netra_build" in Path(folder).parts:
        return []
    here = next((p for end, p in kept.items() if Path(folder).as_posix().endswith(end)), r".*")
    return [n for n in names if not re.fullmatch(here, n)]


class Project:
    """A project folder; every command runs in it with a clean environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def copy_to(
        cls, folder: Path, origin: Path = ROOT, *, whole: bool = False, native: bool = True
    ) -> Project:
        """Copy the sources of the project at ``origin``, the MoE family alone unless ``whole``.

        Without ``native`` the copy has no in-process assembler and starts programs. Time stamps
        stay, so that bytecode that lies beside the sources is still theirs.
        """
        left_out = None if whole else _other_families
        for part in PARTS:
            source, target = origin / part, folder / part
            if source.is_dir():
                shutil.copytree(source, target, ignore=left_out)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        if native and (ROOT / ".toolchain").is_dir():
            (folder / ".toolchain").symlink_to(ROOT / ".toolchain")
        return cls(folder)

    def scons(self, *words: str, **environment: str) -> Run:
        """Run SCons with the given targets and variables."""
        return self.run(sys.executable, "-P", "-m", "SCons", *words, **environment)

    def netra(self, *words: str) -> Run:
        """Run the netra command line."""
        return self.run(sys.executable, "-P", "-m", "netra_build.cli.main", *words)

    def run(self, *command: str, **environment: str) -> Run:
        """Run a command in the folder, its own package first on the path."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment(**environment), capture_output=True
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of every command.

        Without ``HOME`` and ``XDG_CACHE_HOME`` there is no store, so that none masks a difference
        between two builds; a test of the store names one.
        """
        kept = {name: os.environ[name] for name in ("PATH", "ROCM_PATH") if name in os.environ}
        path = str(self.folder)
        return {**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **more}

    def path(self, name: str) -> Path:
        """Return the path of a file of the project."""
        return self.folder / name

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace the one place where ``old`` stands in a file."""
        path = self.path(name)
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, (name, old, text.count(old))
        path.write_text(text.replace(old, new), encoding="utf-8")

    def engine(self, name: str = ENGINE) -> Path:
        """Return the default folder of an engine."""
        return self.folder / "build" / "engines" / name

    def seal(self, name: str = ENGINE) -> dict:
        """Return ``netra.json`` of an engine."""
        return json.loads((self.engine(name) / "netra.json").read_text())


def tree_digests(folder: Path) -> dict[str, str]:
    """Return the digest of every file below ``folder`` by relative name, empty folders too."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        elif not any(path.iterdir()):
            found[name] = "empty folder"
    return found
