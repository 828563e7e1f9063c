"""The check says "nothing to do" exactly when every input and output is as it was."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from netra_build.build.freshness.finished import Finished, trust_noted, write_manifest
from netra_build.build.freshness.input_trace import InputTrace, RecordingDisk
from netra_build.build.freshness.up_to_date import (
    body_digest,
    forget,
    judge,
    manifest_path,
    request_key,
)
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.stamps import own_stamp_of, rows_in

REQUEST = {"front": "test", "targets": [], "variables": {"engine": "e"}}
DAY_NS = 86_400 * 10**9
OLD_NS = time.time_ns() - 30 * DAY_NS
"""A start long ago: nothing that a test wrote is older, so nothing is taken on its stamp alone."""


class Place:
    """A project whose build reads a recipe, a template, a listing and two missing files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.build = str(folder / "build")
        self.environment = {"ROCM_PATH": "/rocm", "HOME": "/root"}
        for name in ("recipes/a.yaml", "recipes/notes.txt", "kernels/k.s", "kernels/sub/i.inc"):
            self.write(name, f"content of {name}")
        self.write("build/out/x.o", "object")
        self.write("build/out/seal", "seal")
        self.write("build/work/w", "work")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def look(self, input_trace: InputTrace) -> None:
        """Look at the project as a loader does."""
        disk = RecordingDisk(input_trace)
        assert len(disk.files_under(self.folder / "recipes", ".yaml")) == 1
        disk.read_bytes(self.folder / "recipes/a.yaml")
        disk.is_file(self.folder / "kernels/k.s")
        disk.read_bytes(self.folder / "kernels/sub/i.inc")
        assert not disk.is_file(self.folder / "kernels/i.inc")
        assert not disk.exists(self.folder / "override")
        assert disk.is_folder(self.folder / "kernels")
        assert input_trace.variable(self.environment, "ROCM_PATH") == "/rocm"

    def finished(self, input_trace: InputTrace, moment_ns: int | None = None) -> Finished:
        """Return what was finished; the product is the folder ``build/out``."""
        outputs = {}
        for name in ("build/out/x.o", "build/out/seal", "build/work/w"):
            path = str(self.folder / name)
            data = RecordingDisk(InputTrace())
            data.read_bytes(Path(path))
            outputs[path] = (own_stamp_of(path), data.input_trace.files[path][1])
        return Finished(
            input_trace=input_trace,
            started_ns=input_trace.started_ns,
            moment_ns=moment_ns if moment_ns is not None else time.time_ns(),
            base=f"{self.folder}/",
            outputs=outputs,
            products={str(self.folder / "build/out"): ["x.o", "seal"]},
            said=["two lines", "were said"],
        )

    def finish(self, moment_ns: int | None = None) -> str:
        """Look, and write the manifest."""
        input_trace = InputTrace(OLD_NS)
        self.look(input_trace)
        return write_manifest(
            RealDisk(), self.build, REQUEST, self.finished(input_trace, moment_ns)
        )

    def reason(self, *, verify: bool = False, **environment: str) -> str:
        """Return why there is something to do."""
        now = {**self.environment, **environment}
        return judge(self.build, REQUEST, now, verify=verify).reason


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "project")
    assert made.finish() == ""
    return made


@pytest.fixture
def trusting(tmp_path: Path) -> Place:
    """Return a project whose manifest trusts the stamps, as that of an older build does."""
    made = Place(tmp_path / "project")
    assert made.finish(moment_ns=time.time_ns() + DAY_NS) == ""
    return made


def test_nothing_is_to_do_and_what_was_said_is_told(place: Place) -> None:
    verdict = judge(place.build, REQUEST, place.environment)
    assert verdict.line() == "nothing to do: 3 inputs and 3 outputs are as they were"
    assert verdict.said == ("two lines", "were said")
    assert place.reason(verify=True) == ""


Edit = Callable[[Place], object]

EDITS: dict[str, tuple[Edit, str]] = {
    "input changed": (lambda p: p.write("recipes/a.yaml", "other"), '"recipes/a.yaml" changed'),
    "only looked at": (lambda p: p.write("kernels/k.s", "other"), '"kernels/k.s" changed'),
    "input gone": (lambda p: (p.folder / "kernels/k.s").unlink(), '"kernels/k.s" is gone'),
    "input is a folder": (
        lambda p: ((p.folder / "kernels/k.s").unlink(), (p.folder / "kernels/k.s").mkdir()),
        '"kernels/k.s" changed',
    ),
    "include earlier on the path": (
        lambda p: p.write("kernels/i.inc", "x"),
        '"kernels/i.inc" came or went',
    ),
    "override appears": (lambda p: p.write("override", ""), '"override" came or went'),
    "new in a listing": (
        lambda p: p.write("recipes/b.yaml", "x"),
        'other files lie in "PROJECT/recipes"',
    ),
    "new deep in a listing": (
        lambda p: p.write("recipes/deep/b.yaml", "x"),
        'other files lie in "PROJECT/recipes"',
    ),
    "listing without one": (
        lambda p: (p.folder / "recipes/a.yaml").rename(p.folder / "recipes/c.yaml"),
        'other files lie in "PROJECT/recipes"',
    ),
    "output changed": (lambda p: p.write("build/out/x.o", "objecT"), '"build/out/x.o" changed'),
    "output cut off": (lambda p: p.write("build/out/x.o", ""), '"build/out/x.o" changed'),
    "output gone": (
        lambda p: (p.folder / "build/work/w").unlink(),
        '"build/work/w" is gone',
    ),
    "output is a link": (
        lambda p: (
            (p.folder / "build/work/w").rename(p.folder / "moved"),
            (p.folder / "build/work/w").symlink_to(p.folder / "moved"),
        ),
        '"build/work/w" changed',
    ),
    "more in the product": (
        lambda p: p.write("build/out/more", ""),
        'other files lie in "PROJECT/build/out"',
    ),
    "an empty folder in the product": (
        lambda p: (p.folder / "build/out/empty").mkdir(),
        'other files lie in "PROJECT/build/out"',
    ),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", ["place", "trusting"])
def test_every_edit_is_found(kind: str, edit: str, request: pytest.FixtureRequest) -> None:
    place: Place = request.getfixturevalue(kind)
    change, reason = EDITS[edit]
    assert place.reason() == ""
    change(place)
    assert place.reason() == reason.replace("PROJECT", str(place.folder))
    assert place.reason(verify=True) == reason.replace("PROJECT", str(place.folder))


HARMLESS: dict[str, Edit] = {
    "touched": lambda p: os.utime(p.folder / "kernels/k.s"),
    "touched into the past": lambda p: os.utime(p.folder / "kernels/k.s", ns=(1, 1)),
    "touched into the future": lambda p: os.utime(
        p.folder / "kernels/k.s", ns=(2 * time.time_ns(), 2 * time.time_ns())
    ),
    "an output touched": lambda p: os.utime(p.folder / "build/out/x.o"),
    "written anew": lambda p: p.write("kernels/sub/i.inc", "content of kernels/sub/i.inc"),
    "a neighbour that nobody listed": lambda p: p.write("kernels/other.s", "x"),
    "another kind of file in a listing": lambda p: p.write("recipes/readme.md", "x"),
    "a work file that nobody made": lambda p: p.write("build/work/more", "x"),
}


@pytest.mark.parametrize("edit", HARMLESS)
@pytest.mark.parametrize("kind", ["place", "trusting"])
def test_what_changes_no_content_is_nothing_to_do(
    kind: str, edit: str, request: pytest.FixtureRequest
) -> None:
    place: Place = request.getfixturevalue(kind)
    HARMLESS[edit](place)
    assert place.reason() == ""


def test_same_size_and_restored_time_are_seen_by_the_ctime(trusting: Place) -> None:
    path = trusting.folder / "kernels/k.s"
    before = path.stat()
    path.write_text("CONTENT of kernels/k.s")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert path.stat().st_size == before.st_size
    assert trusting.reason() == '"kernels/k.s" changed'


def test_a_young_entry_is_hashed_though_its_stamp_is_the_same(place: Place) -> None:
    """The manifest is made to hold the stamp of other bytes, as an edit in the same tick does."""
    path = place.folder / "kernels/k.s"
    path.write_text("CONTENT of kernels/k.s")
    status = path.stat()
    stamp = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev]
    alter(place, lambda m: put(m["inputs"], "kernels/k.s", stamp, "0" * 64))
    assert place.reason() == '"kernels/k.s" changed'
    # Seeded fault: were the moment of the manifest not counted, the stamp would be believed.
    alter(place, lambda m: m.update(written_ns=time.time_ns() + DAY_NS))
    assert place.reason() == ""
    assert place.reason(verify=True) == '"kernels/k.s" changed'


def put(columns: dict, name: str, stamp: list[int], digest: str) -> None:
    """Change the stamp and digest of one file in a part of a manifest."""
    at = columns["names"].index(name)
    columns["stamps"][5 * at : 5 * at + 5] = stamp
    columns["digests"][at] = digest


EMPTY = {"inputs": {"names": [], "stamps": [], "digests": []}, "answers": {}, "listings": []}


def alter(place: Place, change: Callable[[dict], object]) -> None:
    """Change a manifest and seal it again."""
    path = Path(manifest_path(place.build, REQUEST))
    document = json.loads(path.read_bytes().partition(b"\n")[2])
    change(document)
    body = json.dumps(document).encode()
    path.write_bytes(body_digest(body) + b"\n" + body)


@pytest.mark.parametrize(
    ("part", "edit"),
    [
        ("inputs", "input changed"),
        ("answers", "include earlier on the path"),
        ("listings", "new in a listing"),
        ("outputs", "output changed"),
    ],
)
def test_an_edit_is_missed_without_its_entry(place: Place, part: str, edit: str) -> None:
    """Seeded faults: each part of the manifest is what finds its kind of edit."""
    change, _ = EDITS[edit]
    change(place)
    assert place.reason() != ""
    alter(place, lambda manifest: manifest.update({part: EMPTY.get(part, EMPTY["inputs"])}))
    assert place.reason() == ""


def test_what_differs_leaves_the_digests_of_the_rest(trusting: Place) -> None:
    """They are for whoever builds then; ``verify`` believes no stamp, so there are none."""
    trusting.write("recipes/a.yaml", "other")
    path = str(trusting.folder / "kernels/k.s")
    verdict = judge(trusting.build, REQUEST, trusting.environment)
    row = own_stamp_of(path), blake3_hex(b"content of kernels/k.s")
    assert row in rows_in(verdict.noted["inputs"]).values()
    assert judge(trusting.build, REQUEST, trusting.environment, verify=True).noted == {}


@pytest.mark.parametrize("part", ["base", "written_ns", "inputs"])
def test_a_manifest_that_lacks_what_would_be_noted_is_no_fault_of_ours(
    place: Place, part: str
) -> None:
    alter(place, lambda manifest: manifest.pop(part))
    environment = {**place.environment, "ROCM_PATH": "/other"}
    verdict = judge(place.build, REQUEST, environment)
    assert verdict.reason == "ROCM_PATH has another value"
    trust_noted(verdict.noted)


def test_environment_that_was_read_counts_and_no_other(place: Place) -> None:
    assert place.reason(HOME="/elsewhere") == ""
    assert place.reason(ROCM_PATH="/other") == "ROCM_PATH has another value"


def test_another_request_has_no_manifest(place: Place) -> None:
    other = {**REQUEST, "targets": ["check-kernels"]}
    assert judge(place.build, other, place.environment).reason == "no usable manifest"
    shutil.copy(manifest_path(place.build, REQUEST), manifest_path(place.build, other))
    assert judge(place.build, other, place.environment).reason == "another request"


def test_a_forgotten_request_is_to_do(place: Place) -> None:
    forget(place.build, REQUEST)
    forget(place.build, REQUEST)
    assert place.reason() == "no usable manifest"


def test_what_is_no_manifest_at_all_is_none_and_is_left(place: Place) -> None:
    path = Path(manifest_path(place.build, REQUEST))
    path.unlink()
    path.mkdir()
    forget(place.build, REQUEST)
    assert place.reason() == "no usable manifest"
    shutil.rmtree(path.parent)
    path.parent.write_text("")
    forget(place.build, REQUEST)
    assert place.reason() == "no usable manifest"


@pytest.mark.parametrize(
    "data", [b"", b"x", b"\n", b"0" * 64 + b"\n{}", b"[" * 100_000, b'{"format": 1}', b"\xff\n\xfe"]
)
def test_an_odd_manifest_is_none(place: Place, data: bytes) -> None:
    Path(manifest_path(place.build, REQUEST)).write_bytes(data)
    assert place.reason() == "no usable manifest"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("inputs", {"names": ["kernels/k.s"], "stamps": [1, 2], "digests": ["d"]}),
        ("inputs", {"names": [], "stamps": [], "digests": ["d"]}),
        ("inputs", {"names": [3], "stamps": [0] * 5, "digests": ["d"]}),
        ("inputs", {"names": [], "stamps": []}),
        ("inputs", {}),
        ("inputs", 3),
        ("answers", {"is_hot": {}}),
        ("listings", [{}]),
        ("format", "netra-finished-0"),
        ("written_ns", "now"),
        ("said", "words"),
        ("said", [3]),
        ("said", ["\ud800"]),
    ],
)
def test_a_manifest_of_another_shape_is_none(place: Place, key: str, value: object) -> None:
    alter(place, lambda manifest: manifest.update({key: value}))
    assert place.reason() == "no usable manifest"


def test_any_flipped_byte_of_a_manifest_is_found(place: Place) -> None:
    path = Path(manifest_path(place.build, REQUEST))
    whole = path.read_bytes()
    for at in range(0, len(whole), 97):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert place.reason() == "no usable manifest"
    path.write_bytes(whole[:-1])
    assert place.reason() == "no usable manifest"


def test_a_link_that_leads_elsewhere_is_found_though_the_bytes_are_the_same(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path / "project")
    place.write("real/k.s", "content of kernels/k.s")
    (place.folder / "kernels/k.s").unlink()
    (place.folder / "kernels/k.s").symlink_to("../real/k.s")
    assert place.finish() == ""
    assert place.reason() == ""
    (tmp_path / "outside.s").write_text("content of kernels/k.s")
    (place.folder / "kernels/k.s").unlink()
    (place.folder / "kernels/k.s").symlink_to(tmp_path / "outside.s")
    assert place.reason() == '"kernels/k.s" lies elsewhere now'


def test_equal_requests_have_equal_names_whatever_their_order() -> None:
    one = {"a": 1, "b": {"c": 2, "d": 3}}
    assert request_key(one) == request_key({"b": {"d": 3, "c": 2}, "a": 1})
    assert request_key(one) != request_key({"a": 1, "b": {"c": 2, "d": 4}})


def test_a_pipe_in_the_place_of_a_manifest_is_no_manifest(place: Place) -> None:
    path = manifest_path(place.build, REQUEST)
    os.unlink(path)
    os.mkfifo(path)
    assert place.reason() == "no usable manifest"


def test_a_manifest_that_cannot_be_removed_is_said(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(BadInput) as caught:
        forget(place.build, REQUEST)
    path = manifest_path(place.build, REQUEST)
    assert str(caught.value) == f"{path}: cannot remove: read-only file system"
