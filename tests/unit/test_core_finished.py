"""No manifest is written when what was read may not be what lies there now."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from netra_build.build.freshness.finished import (
    MOST_MANIFESTS,
    Finished,
    trust_noted,
    write_manifest,
)
from netra_build.build.freshness.input_trace import InputTrace, RecordingDisk
from netra_build.build.freshness.up_to_date import FOLDER, judge, manifest_path, read_manifest
from netra_build.core import streams
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.stamps import columns_of
from netra_build.core.streams import remember_digest

REQUEST = {"front": "test"}
LONG_AGO_NS = time.time_ns() - 10**15


def traced(folder: Path, started_ns: int = LONG_AGO_NS) -> InputTrace:
    """Read a file, look for another, list a folder."""
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib/a.json").write_text("one")
    input_trace = InputTrace(started_ns)
    disk = RecordingDisk(input_trace)
    disk.files_under(folder / "lib", ".json")
    disk.read_bytes(folder / "lib/a.json")
    disk.is_file(folder / "lib/b.json")
    return input_trace


def write(folder: Path, input_trace: InputTrace, **more: object) -> str:
    """Write the manifest of a request without outputs."""
    base = f"{folder}/"
    finished = Finished(input_trace, input_trace.started_ns, time.time_ns(), base, **more)
    return write_manifest(RealDisk(), str(folder / "build"), REQUEST, finished)


def edit(path: Path, text: str) -> None:
    """Write a file so that its stamp is another one, however fast the test is."""
    path.write_text(text)
    os.utime(path, ns=(1, 1))


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "edited": (
        lambda folder: edit(folder / "lib/a.json", "two"),
        '"LIB/a.json" changed while the build ran',
    ),
    "edited and edited back": (
        lambda folder: (edit(folder / "lib/a.json", "two"), edit(folder / "lib/a.json", "one")),
        '"LIB/a.json" changed while the build ran',
    ),
    "removed": (
        lambda folder: (folder / "lib/a.json").unlink(),
        '"LIB/a.json" changed while the build ran',
    ),
    "appeared": (
        lambda folder: (folder / "lib/b.json").write_text("x"),
        '"LIB/b.json" came or went while the build ran',
    ),
    "listed": (
        lambda folder: (folder / "lib/c.json").write_text("x"),
        'other files lie in "LIB" than were expected',
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_input_that_changed_meanwhile_leaves_no_manifest(tmp_path: Path, change: str) -> None:
    input_trace = traced(tmp_path)
    apply, reason = CHANGES[change]
    apply(tmp_path)
    assert write(tmp_path, input_trace) == reason.replace("LIB", f"{tmp_path}/lib")
    assert judge(str(tmp_path / "build"), REQUEST, {}).reason == "no usable manifest"


def test_nothing_changed_leaves_a_manifest(tmp_path: Path) -> None:
    assert write(tmp_path, traced(tmp_path)) == ""
    assert judge(str(tmp_path / "build"), REQUEST, {}).reason == ""


def test_a_reason_against_it_removes_the_manifest_before(tmp_path: Path) -> None:
    assert write(tmp_path, traced(tmp_path)) == ""
    input_trace = traced(tmp_path)
    input_trace.unsteady.add("/x")
    assert write(tmp_path, input_trace) == '"/x" changed while the build ran'
    assert judge(str(tmp_path / "build"), REQUEST, {}).reason == "no usable manifest"


def test_a_file_that_was_read_in_two_states_is_unsteady(tmp_path: Path) -> None:
    input_trace = traced(tmp_path)
    input_trace.saw_file(str(tmp_path / "lib/a.json"), "f" * 64)
    assert input_trace.unsteady == {str(tmp_path / "lib/a.json")}
    input_trace = traced(tmp_path)
    (tmp_path / "lib/b.json").write_text("x")
    RecordingDisk(input_trace).is_file(tmp_path / "lib/b.json")
    assert input_trace.unsteady == set()  # seen as a file from now on, and as absent before
    assert (
        write(tmp_path, input_trace) == f'"{tmp_path}/lib/b.json" came or went while the build ran'
    )


def test_a_young_input_needs_the_digest_of_what_was_read(tmp_path: Path) -> None:
    """A file that is no older than the process may have been loaded in another state."""
    input_trace = traced(tmp_path)
    path = str(tmp_path / "lib/a.json")
    stamp, digest = input_trace.files[path]
    assert digest is not None
    input_trace.files[path] = (stamp, None)
    reason = f'"{path}" changed while the build ran, or right before'
    assert write(tmp_path, input_trace) == reason
    input_trace.files[path] = (stamp, "0" * 64)
    assert write(tmp_path, input_trace) == reason


def test_an_old_input_needs_no_digest(tmp_path: Path) -> None:
    input_trace = traced(tmp_path)
    path = str(tmp_path / "lib/a.json")
    input_trace.files[path] = (input_trace.files[path][0], None)
    input_trace.started_ns = time.time_ns() + 10**15
    assert write(tmp_path, input_trace) == ""


def test_a_digest_that_is_known_by_the_state_of_a_file_counts_for_an_old_one_only(
    tmp_path: Path,
) -> None:
    input_trace = traced(tmp_path)
    path = str(tmp_path / "lib/a.json")
    stamp, _ = input_trace.files[path]
    assert stamp is not None
    remember_digest(stamp, "0" * 64)
    input_trace.files[path] = (stamp, "0" * 64)
    assert write(tmp_path, input_trace) == f'"{path}" changed while the build ran, or right before'
    input_trace.files[path] = (stamp, None)
    input_trace.started_ns = time.time_ns() + 10**15
    assert write(tmp_path, input_trace) == ""
    (manifest,) = (tmp_path / "build" / FOLDER).iterdir()
    assert "0" * 64 in manifest.read_text()


def test_an_old_input_is_not_read_when_its_digest_is_on_file_with_its_stamp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong digest is on file, which shows that it was taken; other stamps are not believed."""
    input_trace = traced(tmp_path)
    path = str(tmp_path / "lib/a.json")
    stamp = input_trace.files[path][0]
    assert stamp is not None
    input_trace.files[path] = (stamp, None)
    input_trace.started_ns = time.time_ns() + 10**15
    true = blake3_hex(b"one")
    for noted_stamp, digest in ((stamp, "0" * 64), ((*stamp[:4], stamp[4] + 1), true)):
        inputs = columns_of({"lib/a.json": (noted_stamp, "0" * 64)})
        monkeypatch.setattr(streams, "_DIGESTS", {})
        trust_noted({"written_ns": input_trace.started_ns, "inputs": inputs})
        assert write(tmp_path, input_trace) == ""
        manifest = read_manifest(manifest_path(str(tmp_path / "build"), REQUEST))
        assert manifest["inputs"]["digests"] == [digest]


def test_what_was_read_counts_more_than_what_is_on_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    input_trace = traced(tmp_path)
    stamp = input_trace.files[str(tmp_path / "lib/a.json")][0]
    assert stamp is not None
    input_trace.started_ns = time.time_ns() + 10**15
    inputs = columns_of({"lib/a.json": (stamp, "0" * 64)})
    monkeypatch.setattr(streams, "_DIGESTS", {})
    trust_noted({"written_ns": input_trace.started_ns, "inputs": inputs})
    assert write(tmp_path, input_trace) == ""
    assert judge(str(tmp_path / "build"), REQUEST, {}, verify=True).reason == ""


def test_a_product_with_more_in_it_leaves_no_manifest(tmp_path: Path) -> None:
    input_trace = traced(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x").write_text("")
    (tmp_path / "out/y").write_text("")
    products = {f"{tmp_path}/out": ["x"]}
    reason = f'other files lie in "{tmp_path}/out" than were expected'
    assert write(tmp_path, input_trace, products=products) == reason


def test_only_the_newest_manifests_are_kept(tmp_path: Path) -> None:
    input_trace = traced(tmp_path)
    for number in range(MOST_MANIFESTS + 5):
        finished = Finished(input_trace, 0, time.time_ns(), f"{tmp_path}/")
        request = {"number": number}
        assert write_manifest(RealDisk(), str(tmp_path / "build"), request, finished) == ""
    assert len(list((tmp_path / "build" / FOLDER).iterdir())) == MOST_MANIFESTS
