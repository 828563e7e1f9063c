"""What one checkout has made is there in another, before a graph is declared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from blake3 import blake3
from project import ENGINE, Project, Run, tree_digests

ASKED = f"engine={ENGINE}"
RESTORED = re.compile(r"netra: restored (\d+) files from the store\n\Z")
GUARDS = "kernels/gfx950/templates/common/guards.inc"


def is_restored(run: Run) -> bool:
    """Tell whether all came from the store at once; then no graph was declared."""
    assert run.status == 0, run.errors
    found = RESTORED.search(run.output)
    assert found is None or "Building targets" not in run.output
    return found is not None


class Checkout:
    """A project and the store that it uses."""

    def __init__(self, project: Project, store: Path) -> None:
        self.project = project
        self.store = f"store={store}"

    def build(self, *words: str) -> Run:
        """Build the engine with the store."""
        return self.project.scons("-j2", ASKED, self.store, *words)


@pytest.fixture
def first(project: Project, tmp_path: Path) -> Checkout:
    """Return a checkout that has built and filled a store of its own."""
    made = Checkout(project, tmp_path / "store")
    done = made.build()
    assert done.status == 0, done.errors
    assert not is_restored(done)
    return made


def test_a_second_checkout_is_restored_whole(first: Checkout, tmp_path: Path) -> None:
    project = Project.copy_to(tmp_path / "elsewhere" / "second", first.project.folder)
    second = Checkout(project, tmp_path / "store")
    assert is_restored(second.build())
    for part in (f"engines/{ENGINE}", f"work/engines/{ENGINE}", "work/golden"):
        made = tree_digests(first.project.path(f"build/{part}"))
        assert tree_digests(project.path(f"build/{part}")) == made
    assert "netra: nothing to do" in second.build().output

    # A single edit afterwards starts nothing that it does not concern.
    guards = project.path(GUARDS)
    guards.write_text(guards.read_text() + "// a remark\n")
    edited = second.build()
    assert not is_restored(edited)
    assert "ASM" not in edited.actions
    before = first.project.path(GUARDS)
    before.write_text(before.read_text() + "// a remark\n")
    assert first.project.scons("-j2", ASKED, "store=0").status == 0
    assert tree_digests(project.engine()) == tree_digests(first.project.engine())

    # Back to what was there: the whole state is restored.
    guards.write_text(guards.read_text().removesuffix("// a remark\n"))
    assert is_restored(second.build())


def test_what_was_restored_can_be_asked_about(first: Checkout, tmp_path: Path) -> None:
    """It was asked for and lies there; how it was made is not on record, whatever else is built."""
    project = Project.copy_to(tmp_path / "second", first.project.folder)
    second = Checkout(project, tmp_path / "store")
    assert is_restored(second.build())

    def asked() -> None:
        named = f"build/engines/{ENGINE}/engine.json"
        assert project.netra("why", "engine.json").output.splitlines() == [
            f"{named}: up to date",
            "  no record of how it was made",
        ]
        shown = project.netra("graph", ENGINE).output
        digest = blake3(project.path(named).read_bytes()).hexdigest()[:12]
        assert re.search(rf"ENGINE +up to date +engine\.json b3:{digest}$", shown, re.MULTILINE)
        assert "not made" not in shown

    asked()
    other = project.scons("-j2", "tactic=moe_silu_quant_decode_m1", "store=0")
    assert other.status == 0
    asked()
    guards = project.path(GUARDS)
    guards.write_text(guards.read_text() + "// a remark\n")
    for words in ([], ["verify=1"]):
        *lines, counts = second.build("-Q", "why=", *words).output.splitlines()
        assert counts.startswith("netra: 4 would run, ")
        assert "not on record" not in counts
        closed = next(n for n, line in enumerate(lines) if line.startswith("CLOSE moe_silu"))
        assert lines[closed].endswith(" would run now because")
        assert lines[closed + 1] == "  no record of how it was made"
        assembled = next(line for line in lines if line.startswith("ASM moe_silu"))
        assert assembled.endswith(" may run now because")
    assert "engine.json: may run" in second.build("-Q", "why=engine.json").output


def test_what_differs_is_not_restored(first: Checkout, tmp_path: Path) -> None:
    project = Project.copy_to(tmp_path / "second", first.project.folder)
    second = Checkout(project, tmp_path / "store")
    assert not is_restored(project.scons("-n", ASKED, second.store))
    assert not project.path(f"build/engines/{ENGINE}/netra.json").exists()
    project.edit(
        "netra_build/stages/engine_documents.py", '"""Documents of', '"""Documents (as ever) of'
    )
    assert not is_restored(second.build())
