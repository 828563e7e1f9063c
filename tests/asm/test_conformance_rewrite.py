"""Rewriting a linked object gives the bytes that llvm-objcopy gives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from netra_build.asm.objects.rewrite import rewrite
from netra_build.core.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "tests/data/conformance/expected-built"
ENGINE = ROOT / "tests/data/conformance/expected/graph-vector__decode_rows1"
OBJECTS = sorted(BUILT.glob("*/hsaco/*.hsaco"))


@pytest.mark.parametrize("path", OBJECTS, ids=[path.stem for path in OBJECTS])
def test_a_published_object_is_rewritten_already(path):
    assert rewrite(path.read_bytes()) == path.read_bytes()


def linked(toolchain, symbol: str) -> bytes:
    """Return the linked object of one kernel of the vectors."""
    base = "generated/includes/"
    files = {
        base + path.relative_to(ENGINE / base).as_posix(): path.read_bytes()
        for path in (ENGINE / base).rglob("*.inc")
    }
    source = f"generated/{symbol}.s"
    files[source] = (ENGINE / source).read_bytes()
    return toolchain.link([toolchain.assemble_tree(files, source, "generated/includes")])


def test_a_fresh_object_becomes_the_published_one(toolchain):
    path = BUILT / "graph-vector__decode_rows1/hsaco/netra_clamp_7c5fc1bbe8523af6_gfx950.hsaco"
    data = linked(toolchain, path.stem)
    assert data != path.read_bytes()
    assert rewrite(data) == path.read_bytes()


@pytest.mark.parametrize("number", range(60))
def test_a_damaged_object_is_refused_or_rewritten(number):
    rng = random.Random(number)
    data = bytearray(OBJECTS[number % len(OBJECTS)].read_bytes())
    for _ in range(rng.randrange(1, 6)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    if number % 5 == 0:
        del data[rng.randrange(len(data)) :]
    try:
        result = rewrite(bytes(data))
    except BadInput:
        return
    assert len(result) <= 2 * len(data) + 4096
