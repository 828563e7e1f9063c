"""The same bytes everywhere: other folders, job counts, hash seeds, and the twin without SCons."""

from __future__ import annotations

from pathlib import Path

from project import ENGINE, Project, tree_digests


def test_two_folders_two_job_counts_and_the_twin(built_once: Project, tmp_path: Path) -> None:
    expected = tree_digests(built_once.engine())
    sources, long = built_once.folder, tmp_path / "a longer name, with blanks" / "deeper"
    other = Project.copy_to(long / "project", sources)
    done = other.scons("-j8", f"engine={ENGINE}", PYTHONHASHSEED="17", TZ="Asia/Tokyo", LANG="C")
    assert done.status == 0, done.errors
    assert tree_digests(other.engine()) == expected
    single = Project.copy_to(tmp_path / "b", sources, native=False)
    assert single.scons("-j1", f"engine={ENGINE}", PYTHONHASHSEED="99").status == 0
    assert tree_digests(single.engine()) == expected
    twin = single.netra("rebuild", ENGINE, "--out", str(tmp_path / "twin"))
    assert twin.status == 0, twin.errors
    assert tree_digests(tmp_path / "twin") == expected


def test_nothing_in_an_engine_names_its_folder(built_once: Project) -> None:
    marks = [str(built_once.folder).encode(), b"/tmp/", b".netra-unfinished"]
    for path in built_once.engine().rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not [mark for mark in marks if mark in content], path


def test_code_objects_of_recipe_and_tactic_are_reproducible(built: Project) -> None:
    for words, folder in (
        (["recipe=qwen36_moe_decode_objects"], "build/recipes/qwen36_moe_decode_objects"),
        (["tactic=moe_gate_up_decode_m1"], "build/tactics/moe_gate_up_decode_m1"),
    ):
        assert built.scons("-j2", *words).status == 0
        first = tree_digests(built.path(folder))
        assert built.scons("-c", *words).status == 0
        assert built.scons("-j1", *words, PYTHONHASHSEED="5").status == 0
        assert tree_digests(built.path(folder)) == first
        assert [name for name in first if name.endswith(".hsaco")]


def test_listing_order_does_not_matter(built_once: Project, tmp_path: Path) -> None:
    """The same files created in the opposite order give the same bytes."""
    folder = tmp_path / "reversed"
    sources = sorted(
        (path for path in built_once.folder.rglob("*") if path.is_file()), reverse=True
    )
    for path in sources:
        name = path.relative_to(built_once.folder)
        if name.parts[0] == "build" or name.name.startswith(".sconsign"):
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(path.read_bytes())
    other = Project(folder)
    assert other.scons("-j2", f"engine={ENGINE}").status == 0
    assert tree_digests(other.engine()) == tree_digests(built_once.engine())
