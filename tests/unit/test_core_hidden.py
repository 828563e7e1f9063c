"""What is there and may not be looked at is never taken for what is not there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from permissions import bound_by_permissions

from netra_build.build.cache.store import open_store
from netra_build.build.freshness.finished import Finished, write_manifest
from netra_build.build.freshness.input_trace import InputTrace, RecordingDisk
from netra_build.build.freshness.up_to_date import judge
from netra_build.cli.main import main
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.library import Library
from netra_build.requests import objects_graph
from netra_build.tensors.byte_source import file_source

DISK = RealDisk()
LATER_NS = 2**62
OBJECTS = "qwen36_moe_decode_objects"


@pytest.fixture
def hidden(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with a file ``a.s`` in it that nobody may list or enter."""
    made = tmp_path / "hidden"
    made.mkdir()
    (made / "a.s").write_bytes(b"s_endpgm")
    made.chmod(0)
    yield made
    made.chmod(0o755)


def message(action: Callable[..., object], *arguments: object) -> str:
    with pytest.raises(BadInput) as caught, bound_by_permissions():
        action(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("question", [DISK.is_file, DISK.is_folder, DISK.exists])
@pytest.mark.parametrize("name", ["a.s", "nothing"])
def test_what_lies_in_a_closed_folder_is_not_answered(question, name, hidden):
    assert message(question, hidden / name) == f"{hidden / name}: permission denied"


@pytest.mark.parametrize("question", [DISK.is_file, DISK.is_folder, DISK.exists])
def test_what_cannot_be_there_is_not_there(question, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "loop").symlink_to("loop")
    with bound_by_permissions():
        for name in ("nothing", "file/below", "loop", "n" * 300, "a\0b"):
            assert not question(tmp_path / name)


@pytest.mark.parametrize("listing", [DISK.files_under, DISK.any_file_under])
def test_a_folder_that_is_not_shown_is_not_empty(listing, hidden):
    assert message(listing, hidden) == f"{hidden}: permission denied"
    assert message(listing, hidden.parent) == f"{hidden}: permission denied"


def test_a_folder_that_is_listed_and_not_entered_is_not_empty(hidden):
    hidden.chmod(0o644)
    assert message(DISK.files_under, hidden) == f"{hidden}/a.s: permission denied"


def test_a_folder_that_is_not_there_is_empty(tmp_path):
    assert DISK.files_under(tmp_path / "nothing") == ()
    assert DISK.any_file_under(tmp_path / "nothing") is None


def test_a_tensor_file_that_is_not_shown_is_not_missing(hidden):
    def size_of(path: Path) -> int:
        with file_source(path) as source:
            return source.size_bytes

    assert message(size_of, hidden / "a.s") == f"{hidden}/a.s: permission denied"


@pytest.mark.parametrize("closed", ["", "moe_gate_up_decode_m1"])
def test_a_golden_folder_that_is_not_shown_stops_a_build(closed, tmp_path, root):
    """Taken for none it would leave the kernel without its comparison."""
    for name in ("golden", "kernels", "manifests", "recipes", "schemas"):
        shutil.copytree(root / name, tmp_path / name)
    with bound_by_permissions():
        whole = objects_graph(Library(tmp_path, DISK), OBJECTS)
    assert any("(golden)" in action.subject for action in whole.actions)
    golden = tmp_path / "golden/gfx950"
    (golden / closed).chmod(0)
    assert message(objects_graph, Library(tmp_path, DISK), OBJECTS) == (
        f"{golden}/moe_gate_up_decode_m1: permission denied"
    )
    (golden / closed).chmod(0o755)


@pytest.mark.parametrize("kind", ["is_file", "is_folder", "exists", "files_under"])
def test_what_was_not_there_and_is_not_shown_now_is_not_up_to_date(kind, tmp_path):
    place = tmp_path / "kernels"
    place.mkdir()
    trace = InputTrace(LATER_NS)
    getattr(RecordingDisk(trace), kind)(place / "override")
    finished = Finished(trace, 0, LATER_NS, f"{tmp_path}/")
    assert write_manifest(DISK, f"{tmp_path}/build", {}, finished) == ""
    with bound_by_permissions():
        assert judge(f"{tmp_path}/build", {}, {}).reason == ""
    place.chmod(0)
    with bound_by_permissions():
        assert judge(f"{tmp_path}/build", {}, {}).reason == "no usable manifest"


@pytest.mark.parametrize("action", [["stat"], ["verify"], ["verify", "--repair"]])
@pytest.mark.parametrize("closed", ["", "blobs"])
def test_a_store_that_is_not_shown_is_not_sound(action, closed, tmp_path, capsys):
    with bound_by_permissions():
        store = open_store(tmp_path / "netra")
        store.put_outputs("a" * 64, {"made": b"x" * 70_000})
        (store.files.root / closed).chmod(0)
        assert main(["store", *action, "--store", str(store.files.root)]) == 2
    assert capsys.readouterr().err == (
        f"netra: {store.files.root}: store cannot be used: permission denied\n"
    )
    (store.files.root / closed).chmod(0o755)
    with bound_by_permissions():
        assert store.has_outputs("a" * 64)
