"""Archives seen from outside: another program reads one, and a bomb takes no memory."""

from __future__ import annotations

import subprocess
import sys

import pytest
import zstandard
from release_frames import frame, relabelled

from netra_build.release.archive import Package, write_archive

PACKAGE = Package("small-1.2.0-gfx950", {"RELEASE.json": b"{}\n", "engine/x": b"x" * 100})


def test_other_programs_read_an_archive(tmp_path):
    path = tmp_path / "x.tar.zst"
    path.write_bytes(write_archive(PACKAGE))
    tar = tmp_path / "x.tar"
    tar.write_bytes(zstandard.ZstdDecompressor().decompress(path.read_bytes()))
    subprocess.run(["tar", "xf", tar, "-C", tmp_path], check=True)
    assert (tmp_path / PACKAGE.top / "engine/x").read_bytes() == b"x" * 100


BOMB = """
import resource, sys
from netra_build.core.errors import BadInput
from netra_build.release.archive import decompress
data = open(sys.argv[1], "rb").read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    decompress(data, "x")
except BadInput:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("declared", [1_000_000, None])
def test_a_bomb_takes_no_memory(declared, tmp_path):
    """Two hundred million zeros in a few kilobytes, honest about it or not."""
    size = 200_000_000
    data = relabelled(size, declared) if declared else frame(bytes(size))
    assert len(data) < 40_000
    (tmp_path / "bomb").write_bytes(data)
    command = [sys.executable, "-c", BOMB, tmp_path / "bomb"]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(found.stdout) * 1024 < 100_000_000
