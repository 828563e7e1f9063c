"""A trace restores in one checkout what another has made from the same, and only then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from netra_build.core.build_trace import (
    KIND,
    Trace,
    TracedProduct,
    code_of,
    fits,
    keep_trace,
    read_trace,
    restore,
    trace_of,
)
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.product import JOURNAL
from netra_build.core.recording_disk import Looks, RecordingDisk
from netra_build.core.stamps import own_stamp_of
from netra_build.core.store import Store, open_store

OUTPUTS = {
    "build/work/k.o": "object",
    "build/out/hsaco/k": "code",
    "build/out/seal.json": '{"files": ["hsaco/k"]}',
}
PRODUCT = TracedProduct("build/out", "seal.json", ("hsaco/k", "seal.json"))


def checkout(folder: Path) -> str:
    """Lay out the sources of a checkout and return its base."""
    for name in ("recipes/a.yaml", "kernels/k.s"):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(f"content of {name}")
    return f"{folder}/"


def look(base: str) -> Looks:
    """Look at a checkout as a build does."""
    looks = Looks()
    disk, folder = RecordingDisk(looks), Path(base)
    disk.files_under(folder / "recipes", ".yaml")
    disk.read_bytes(folder / "recipes/a.yaml")
    disk.is_file(folder / "kernels/k.s")
    disk.exists(folder / "override")
    disk.is_folder(folder / "kernels")
    return looks


def build(base: str) -> dict:
    """Make the outputs; return stamp and digest of each."""
    made = {}
    for name, text in OUTPUTS.items():
        RealDisk().write_bytes(Path(base + name), text.encode())
        made[base + name] = (own_stamp_of(base + name), blake3_hex(text.encode()))
    return made


def actions(base: str) -> dict[tuple[str, ...], str]:
    """Return the action digest by the outputs of each action."""
    return {tuple(base + name for name in OUTPUTS): "digest"}


def made_trace(base: str) -> Trace:
    """Build in a checkout and return the trace."""
    trace = trace_of(look(base), base, "code", build(base), actions(base), [PRODUCT], ["said"])
    assert trace is not None
    return trace


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


@pytest.fixture
def kept(tmp_path: Path, store: Store) -> Trace:
    """Return the trace of a build, as the store has it."""
    base = checkout(tmp_path / "first")
    keep_trace(store, "key", made_trace(base), base, RealDisk())
    (document,) = store.get_records(KIND, "key")
    return read_trace(document)


def contents(base: str) -> dict[str, str]:
    """Return all files of the build folder."""
    paths = [path for path in Path(base, "build").rglob("*") if path.is_file()]
    return {str(path).removeprefix(base): path.read_text() for path in paths}


def test_another_checkout_of_the_same_is_restored(
    tmp_path: Path, store: Store, kept: Trace
) -> None:
    base = checkout(tmp_path / "elsewhere/second")
    shutil.rmtree(tmp_path / "first")
    assert fits(kept, "code", base, Looks())
    written = restore(kept, base, store)
    assert written == {name: blake3_hex(text.encode()) for name, text in OUTPUTS.items()}
    assert contents(base) == OUTPUTS
    assert kept.said == ("said",)
    assert kept.actions == (("digest", tuple(OUTPUTS)),)


def test_a_trace_holds_no_absolute_path(tmp_path: Path, kept: Trace) -> None:
    text = json.dumps(kept.document())
    assert str(tmp_path) not in text
    assert '"/' not in text


CHANGES: dict[str, Callable[[Path], object]] = {
    "input": lambda folder: (folder / "recipes/a.yaml").write_text("other"),
    "looked at": lambda folder: (folder / "kernels/k.s").write_text("other"),
    "gone": lambda folder: (folder / "kernels/k.s").unlink(),
    "listed": lambda folder: (folder / "recipes/b.yaml").write_text("x"),
    "looked for": lambda folder: (folder / "override").write_text("x"),
    "leads out": lambda folder: (
        (folder / "recipes/a.yaml").rename(folder.parent / "outside"),
        (folder / "recipes/a.yaml").symlink_to(folder.parent / "outside"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_checkout_that_differs_does_not_fit(tmp_path: Path, kept: Trace, change: str) -> None:
    base = checkout(tmp_path / "second")
    CHANGES[change](tmp_path / "second")
    assert not fits(kept, "code", base, Looks())


def test_a_file_that_is_edited_between_two_looks_is_seen(tmp_path: Path, kept: Trace) -> None:
    base = checkout(tmp_path / "second")
    path = tmp_path / "second/recipes/a.yaml"
    before = path.read_text()
    assert fits(kept, "code", base, Looks())
    path.write_text(before.upper())
    assert not fits(kept, "code", base, Looks())
    path.write_text(before)
    assert fits(kept, "code", base, Looks())


def test_a_stamp_that_says_nothing_vouches_for_nothing(
    tmp_path: Path, kept: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Edited within one step of the clock: only the full look sees the new bytes."""
    base = checkout(tmp_path / "second")
    monkeypatch.setattr("netra_build.core.build_trace.stamp_of", lambda path: (0, 0, 0, 0, 0))
    assert fits(kept, "code", base, Looks())
    (tmp_path / "second/recipes/a.yaml").write_text("other")
    assert not fits(kept, "code", base, Looks())


def test_other_code_does_not_fit(tmp_path: Path, kept: Trace) -> None:
    base = checkout(tmp_path / "second")
    assert fits(kept, "code", base, Looks())
    assert not fits(kept, "other code", base, Looks())


@pytest.mark.parametrize(("part", "change"), [("inputs", "input"), ("listings", "listed")])
def test_a_change_is_missed_without_its_entry(
    tmp_path: Path, kept: Trace, part: str, change: str
) -> None:
    """Seeded faults: a trace that lacks a part fits what it should not."""
    base = checkout(tmp_path / "second")
    CHANGES[change](tmp_path / "second")
    document = kept.document()
    document[part] = type(document[part])()
    assert fits(read_trace(document), "code", base, Looks())


def test_a_lost_blob_restores_nothing_whole(tmp_path: Path, store: Store, kept: Trace) -> None:
    digest = blake3_hex(OUTPUTS["build/out/hsaco/k"].encode())
    (tmp_path / f"store/blobs/{digest[:2]}/{digest}").write_text("damaged")
    base = checkout(tmp_path / "second")
    assert restore(kept, base, store) is None
    assert "build/out/seal.json" not in contents(base)
    assert not store.has_blob(digest)


def kept_by_actions(tmp_path: Path, store: Store, **others: bytes) -> Trace:
    """Return a trace whose outputs the store has as those of actions, but for the seal."""
    base = checkout(tmp_path / "first")
    texts = {name: text.encode() for name, text in OUTPUTS.items()}
    one, two, seal = texts
    store.put_outputs("1" * 64, {"a": texts[one], "b": texts[two], **others})
    made = {(base + one, base + two): "1" * 64, (base + seal,): "2" * 64}
    trace = trace_of(look(base), base, "code", build(base), made, [PRODUCT], ["said"])
    assert trace is not None
    keep_trace(store, "key", trace, base, RealDisk())
    return trace


def test_what_actions_have_kept_is_restored_from_there(tmp_path: Path, store: Store) -> None:
    trace = kept_by_actions(tmp_path, store)
    digests = [blake3_hex(text.encode()) for text in OUTPUTS.values()]
    assert [store.has_blob(digest) for digest in digests] == [False, False, True]
    base = checkout(tmp_path / "second")
    assert restore(trace, base, store) == dict(zip(OUTPUTS, digests, strict=True))
    assert contents(base) == OUTPUTS


@pytest.mark.parametrize("others", [{"b": b"other"}, {"c": b"more"}])
def test_other_outputs_of_the_same_action_restore_nothing_whole(
    tmp_path: Path, store: Store, others: dict[str, bytes]
) -> None:
    trace = kept_by_actions(tmp_path, store, **others)
    base = checkout(tmp_path / "second")
    assert restore(trace, base, store) is None
    assert "build/out/seal.json" not in contents(base)


def test_files_that_are_there_are_left_and_former_ones_go(
    tmp_path: Path, store: Store, kept: Trace
) -> None:
    base = checkout(tmp_path / "second")
    RealDisk().write_bytes(Path(base, "build/work/k.o"), b"object")
    before = own_stamp_of(f"{base}build/work/k.o")
    RealDisk().write_bytes(Path(base, "build/out/old"), b"x")
    RealDisk().write_bytes(Path(base, "build/out/seal.json"), b'{"files": ["old"]}')
    assert restore(kept, base, store) is not None
    assert contents(base) == OUTPUTS
    assert JOURNAL not in contents(base)
    assert own_stamp_of(f"{base}build/work/k.o") == before


@pytest.mark.parametrize("name", ["../escape", "build/../../escape", "kernels/k.s", "/etc/x"])
def test_a_hostile_name_writes_nothing_outside_the_build_folder(
    tmp_path: Path, store: Store, kept: Trace, name: str
) -> None:
    base = checkout(tmp_path / "second")
    digest = store.put_blob(b"evil")
    document = kept.document()
    document["made"] = f"1|{digest} {name}"
    with suppress(BadInput):
        assert restore(read_trace(document), base, store) is None
    assert not (tmp_path / "escape").exists()
    assert (tmp_path / "second/kernels/k.s").read_text() == "content of kernels/k.s"


@pytest.mark.parametrize(
    "change",
    [
        {"format": "netra-trace-0"},
        {"inputs": []},
        {"answers": [[1]]},
        {"answers": 3},
        {"listings": [["a", "b", "c"]]},
        {"made": None},
        {"made": [{}, []]},
        {"products": [["a"]]},
        {"said": "no"},
    ],
)
def test_a_document_of_another_shape_is_refused(kept: Trace, change: dict) -> None:
    with pytest.raises(BadInput) as caught:
        read_trace({**kept.document(), **change})
    assert str(caught.value) == "store: not a trace"


def test_what_looks_outside_the_checkout_has_no_trace(tmp_path: Path) -> None:
    base = checkout(tmp_path / "first")
    outputs = build(base)
    looks = look(base)
    RecordingDisk(looks).exists(tmp_path / "model.json")
    assert trace_of(looks, base, "code", outputs, {}, [], []) is None
    looks = look(base)
    looks.environment["ROCM_PATH"] = "/opt/rocm"
    assert trace_of(looks, base, "code", outputs, {}, [], []) is None
    elsewhere = {str(tmp_path / "out/x"): next(iter(outputs.values()))}
    assert trace_of(look(base), base, "code", {**outputs, **elsewhere}, {}, [], []) is None


def test_the_code_is_known_by_contents_not_by_place(tmp_path: Path) -> None:
    digests = []
    for name, text in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(text)
        looks = Looks()
        looks.saw_file(str(tmp_path / name / "m.py"))
        digests.append(code_of(looks, str(tmp_path / name), {"python": "3"}))
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    "made", ["", "x", "-1", "2|a b", "0|d 0", "1|d n|d 1", "1|d n|d -1", "1|d n|d x", "9" * 5000]
)
def test_what_a_trace_made_is_refused_when_it_is_asked_for(
    tmp_path: Path, store: Store, kept: Trace, made: str
) -> None:
    trace = read_trace({**kept.document(), "made": made})
    base = checkout(tmp_path / "second")
    assert fits(trace, "code", base, Looks())
    with pytest.raises(BadInput):
        restore(trace, base, store)
    assert not (tmp_path / "second/build").exists()


def test_any_name_of_an_output_comes_back(tmp_path: Path) -> None:
    base = checkout(tmp_path / "first")
    names = [f"build/{name}" for name in ("a|b", "%7C", "%25|%", 'q"\\', "two words", "é")]
    made = {base + name: ((0, 0, 0, 0, 0), f"{number}") for number, name in enumerate(names)}
    by = {(base + names[0], base + names[2]): "d1", (f"{base}gone", base + names[1]): "d2"}
    trace = trace_of(look(base), base, "code", made, by, [], [])
    assert trace is not None
    read = read_trace(json.loads(json.dumps(trace.document())))
    assert read.outputs == {name: f"{number}" for number, name in enumerate(names)}
    assert read.actions == (("d1", (names[0], names[2])),)
