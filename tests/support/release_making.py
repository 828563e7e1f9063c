"""Real releases, built and packed in process, for tests that look at them from outside."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Root
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import run_graph
from netra_build.cli.main import main
from netra_build.core.disk import RealDisk
from netra_build.formats.library import open_library
from netra_build.release.archive import Package, read_archive, write_archive
from netra_build.releasing import ReleaseRequest, plan_release

Files = dict[str, bytes]
ROOT = Path(__file__).resolve().parents[2]
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))
ENGINE, OBJECTS = "qwen36_moe_m1", "qwen36_moe_decode_objects"


def public(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@dataclass(frozen=True)
class Made:
    """A release on disk, and what is in it."""

    path: Path
    package: Package

    @property
    def files(self) -> Files:
        return dict(self.package.files)


def make_release(folder: Path, recipe: str, kind: str, toolchain: Toolchain) -> None:
    """Build and pack a product in process, signed."""
    key = folder / "key.pem"
    key.write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    library = open_library(RealDisk(), ROOT, ())
    graph = plan_release(library, ReleaseRequest(recipe, kind, "1.2.0", key=str(key)))
    paths = {root: folder / root.value for root in Root}
    paths |= {Root.SOURCE: ROOT, Root.KEY: folder}
    run_graph(Execution(graph, Folders(paths), RealDisk(), toolchain))


def read_release(folder: Path) -> Made:
    """Return the release that was made in a folder."""
    (path,) = (folder / "dist").iterdir()
    return Made(path, read_archive(path.read_bytes(), str(path)))


def netra(capsys: Any, *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def repacked(engine: Made, files: Files, folder: Path) -> Path:
    path = folder / "p.tar.zst"
    path.write_bytes(write_archive(Package(engine.package.top, files)))
    return path
