"""Where a tool chain may lie, in the order in which the folders are looked at."""

from __future__ import annotations

from pathlib import Path

OLDEST_SYSTEM_LLVM, NEWEST_SYSTEM_LLVM = 20, 40

Candidate = tuple[str, tuple[Path, ...], tuple[Path, ...]]
"""Origin, folders to look in, folders of shared libraries."""


def rocm_candidates(rocm_path: Path | None, system: bool) -> list[Candidate]:
    """Return the folders of a ROCm installation that is named, and of the usual one."""
    roots = [rocm_path] if rocm_path is not None else []
    if system:
        roots.append(Path("/opt/rocm"))
    return [("rocm", (root / "llvm" / "bin", root / "lib" / "llvm" / "bin"), ()) for root in roots]


def system_candidates(path: str) -> list[Candidate]:
    """Return the folders of installed LLVMs, newest first, and those of ``PATH``."""
    numbers = range(NEWEST_SYSTEM_LLVM, OLDEST_SYSTEM_LLVM - 1, -1)
    found: list[Candidate] = [
        ("system", (Path(f"/usr/lib/llvm-{number}/bin"),), ()) for number in numbers
    ]
    folders = tuple(Path(part) for part in path.split(":") if part.startswith("/"))
    return [*found, ("system", folders, ())]


def local_candidates(local: Path) -> list[Candidate]:
    """Return the LLVMs of unpacked packages; relative library folders would depend on the cwd."""
    root = local.absolute()
    machines = ("x86_64-linux-gnu", "aarch64-linux-gnu")
    shared = tuple(root / "usr" / "lib" / machine for machine in machines)
    result: list[Candidate] = []
    for number in range(NEWEST_SYSTEM_LLVM, OLDEST_SYSTEM_LLVM - 1, -1):
        home = root / "usr" / "lib" / f"llvm-{number}"
        result.append(("local", (home / "bin",), (*shared, home / "lib")))
    return result
