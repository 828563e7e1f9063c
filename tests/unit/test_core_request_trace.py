"""A trace restores in one checkout what another has made from the same, and only then."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from netra_build.build.cache.contents import TRACE
from netra_build.build.cache.request_trace import (
    Asked,
    KeptTrace,
    Made,
    fits,
    keep_trace,
    kept_traces,
    read_made,
    restore,
    trace_of,
)
from netra_build.build.cache.store import MOST_RECORDS, Store, open_store
from netra_build.build.freshness.input_trace import InputTrace, RecordingDisk
from netra_build.build.graph.product import JOURNAL, Product
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.stamps import own_stamp_of

OUTPUTS = {
    "build/work/k.o": "object",
    "build/out/hsaco/k": "code",
    "build/out/seal.json": '{"files": ["hsaco/k"]}',
}
NAMES = ("hsaco/k", "seal.json")


def product(base: str, names: tuple[str, ...] = NAMES) -> Product:
    """Return the product of a checkout."""
    return Product(Path(base, "build/out"), "seal.json", names, RealDisk(), is_alone=True)


def checkout(folder: Path) -> str:
    """Lay out the sources of a checkout and return its base."""
    for name in ("recipes/a.yaml", "kernels/k.s"):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(f"content of {name}")
    return f"{folder}/"


def look(base: str) -> InputTrace:
    """Look at a checkout as a build does."""
    input_trace = InputTrace()
    disk, folder = RecordingDisk(input_trace), Path(base)
    disk.files_under(folder / "recipes", ".yaml")
    disk.read_bytes(folder / "recipes/a.yaml")
    disk.is_file(folder / "kernels/k.s")
    disk.exists(folder / "override")
    disk.is_folder(folder / "kernels")
    return input_trace


def build(base: str) -> dict:
    """Make the outputs; return stamp and digest of each."""
    made = {}
    for name, text in OUTPUTS.items():
        RealDisk().write_bytes(Path(base + name), text.encode())
        made[base + name] = (own_stamp_of(base + name), blake3_hex(text.encode()))
    return made


ASKED = {name: {"graph": "k", "out": name} for name in ("build/out", "/elsewhere")}


def made_trace(base: str) -> tuple[Asked, Made]:
    """Build in a checkout and return the trace."""
    made = [("digest", build(base))], [product(base)], ["said"], ASKED
    trace = trace_of(look(base), base, *made)
    assert trace is not None
    return trace


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


@pytest.fixture
def kept(tmp_path: Path, store: Store) -> KeptTrace:
    """Return the trace of a build, as the store has it."""
    base = checkout(tmp_path / "first")
    keep_trace(store, "key", "code", *made_trace(base), base)
    (trace,) = kept_traces(store, "key")
    return trace


def fitting(asked: Asked, base: str) -> bool:
    """Tell whether a trace fits a checkout that nobody has looked at yet."""
    return fits(asked, base, InputTrace())


def contents(base: str) -> dict[str, str]:
    """Return all files of the build folder."""
    paths = [path for path in Path(base, "build").rglob("*") if path.is_file()]
    return {str(path).removeprefix(base): path.read_text() for path in paths}


def test_another_checkout_of_the_same_is_restored(
    tmp_path: Path, store: Store, kept: KeptTrace
) -> None:
    base = checkout(tmp_path / "elsewhere/second")
    shutil.rmtree(tmp_path / "first")
    assert fitting(kept.asked, base)
    written = restore(kept.made, base, store)
    assert written == {name: blake3_hex(text.encode()) for name, text in OUTPUTS.items()}
    assert contents(base) == OUTPUTS
    assert kept.made.said == ("said",)
    assert kept.made.makers() == [("digest", tuple(OUTPUTS))]
    assert kept.made.products == (("build/out", "seal.json"),)
    (restored,) = kept.made.products_in(base)
    assert (restored.folder, restored.names) == (Path(base, "build/out"), frozenset(NAMES))


def test_a_trace_holds_no_absolute_path(tmp_path: Path, kept: KeptTrace) -> None:
    text = json.dumps([kept.asked._asdict(), kept.made.document()])
    assert str(tmp_path) not in text
    assert '"/' not in text
    assert kept.made.requests == {"build/out": ASKED["build/out"]}


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
def test_a_checkout_that_differs_does_not_fit(tmp_path: Path, kept: KeptTrace, change: str) -> None:
    base = checkout(tmp_path / "second")
    CHANGES[change](tmp_path / "second")
    assert not fitting(kept.asked, base)


def test_a_file_that_is_edited_between_two_looks_is_seen(tmp_path: Path, kept: KeptTrace) -> None:
    base = checkout(tmp_path / "second")
    path = tmp_path / "second/recipes/a.yaml"
    before = path.read_text()
    assert fitting(kept.asked, base)
    path.write_text(before.upper())
    assert not fitting(kept.asked, base)
    path.write_text(before)
    assert fitting(kept.asked, base)


def test_the_digest_of_the_code_is_kept(kept: KeptTrace) -> None:
    assert kept.code == "code"


@pytest.mark.parametrize(("part", "change"), [("inputs", "input"), ("listings", "listed")])
def test_a_change_is_missed_without_its_entry(
    tmp_path: Path, kept: KeptTrace, part: str, change: str
) -> None:
    """Seeded faults: a trace that lacks a part fits what it should not."""
    base = checkout(tmp_path / "second")
    CHANGES[change](tmp_path / "second")
    asked = kept.asked._replace(**{part: {}})
    assert fitting(asked, base)


@pytest.mark.parametrize("data", [None, b"{}", b"[]", b'{"inputs": 3}'])
def test_a_trace_whose_part_is_gone_or_is_none_is_no_trace(
    store: Store, kept: KeptTrace, data: bytes | None
) -> None:
    (record,) = store.get_records(TRACE, "key")
    digest = store.put_blob(data) if data is not None else "0" * 64
    trace = KeptTrace({**record, "made": digest}, store)
    with pytest.raises(BadInput):
        _ = trace.made
    asked = None if data is None else json.loads(data)
    with pytest.raises(BadInput):
        KeptTrace({**record, "asked": asked}, store)


def test_what_is_no_trace_is_passed_over(store: Store, kept: KeptTrace) -> None:
    (record,) = store.get_records(TRACE, "key")
    former = {**record, "format": "netra-trace-5"}
    odd = [3, [], former, {**record, "asked": 3}, {"format": None}]
    for document in odd:
        store.put_record(TRACE, "key", document)
    assert [trace.made for trace in kept_traces(store, "key")] == [kept.made]


def test_traces_of_the_same_share_what_is_the_same(tmp_path: Path, store: Store) -> None:
    """A remark that changes nothing that is made: only what was asked is kept anew."""
    base = checkout(tmp_path / "first")
    for text in ("one", "two"):
        (tmp_path / "first/recipes/a.yaml").write_text(text)
        keep_trace(store, "key", "code", *made_trace(base), base)
    records = list(store.get_records(TRACE, "key"))
    assert len({json.dumps(record["asked"]) for record in records}) == 2
    assert len({record["made"] for record in records}) == 1


def test_parts_of_traces_that_are_no_longer_kept_go(tmp_path: Path, store: Store) -> None:
    """An edit leaves nothing in the store that nothing leads to."""
    base = checkout(tmp_path / "first")
    for number in range(MOST_RECORDS + 3):
        (tmp_path / "first/recipes/a.yaml").write_text(f"{number}")
        asked, made = made_trace(base)
        keep_trace(store, "key", "code", asked, replace(made, said=(f"{number // 2}",)), base)
    kept = list(kept_traces(store, "key"))
    assert len(kept) == MOST_RECORDS
    assert [trace.made.said for trace in kept] == [(f"{n // 2}",) for n in range(10, 2, -1)]
    parts = {trace.made_digest for trace in kept}
    outputs = {blake3_hex(text.encode()) for text in OUTPUTS.values()}
    blobs = {path.name for path in (tmp_path / "store/blobs").rglob("*") if path.is_file()}
    assert blobs == parts | outputs
    assert len(parts) == 5


def test_a_lost_blob_restores_nothing_whole(tmp_path: Path, store: Store, kept: KeptTrace) -> None:
    digest = blake3_hex(OUTPUTS["build/out/hsaco/k"].encode())
    (tmp_path / f"store/blobs/{digest[:2]}/{digest}").write_text("damaged")
    base = checkout(tmp_path / "second")
    assert restore(kept.made, base, store) is None
    assert "build/out/seal.json" not in contents(base)
    assert not store.has_blob(digest)


def kept_by_actions(tmp_path: Path, store: Store, **others: bytes) -> Made:
    """Return a trace whose outputs the store has as those of actions, but for the seal."""
    base = checkout(tmp_path / "first")
    texts = {name: text.encode() for name, text in OUTPUTS.items()}
    one, two, _ = texts
    store.put_outputs("1" * 64, {"a": texts[one], "b": texts[two], **others})
    rows = [*build(base).items()]
    groups = [("1" * 64, dict(rows[:2])), ("2" * 64, dict(rows[2:]))]
    trace = trace_of(look(base), base, groups, [product(base)], ["said"])
    assert trace is not None
    keep_trace(store, "key", "code", *trace, base)
    return trace[1]


def test_what_actions_have_kept_is_restored_from_there(tmp_path: Path, store: Store) -> None:
    made = kept_by_actions(tmp_path, store)
    digests = [blake3_hex(text.encode()) for text in OUTPUTS.values()]
    assert [store.has_blob(digest) for digest in digests] == [False, False, True]
    base = checkout(tmp_path / "second")
    assert restore(made, base, store) == dict(zip(OUTPUTS, digests, strict=True))
    assert contents(base) == OUTPUTS


@pytest.mark.parametrize("others", [{"b": b"other"}, {"c": b"more"}])
def test_other_outputs_of_the_same_action_restore_nothing_whole(
    tmp_path: Path, store: Store, others: dict[str, bytes]
) -> None:
    made = kept_by_actions(tmp_path, store, **others)
    base = checkout(tmp_path / "second")
    assert restore(made, base, store) is None
    assert "build/out/seal.json" not in contents(base)


def test_files_that_are_there_are_left_and_former_ones_go(
    tmp_path: Path, store: Store, kept: KeptTrace
) -> None:
    base = checkout(tmp_path / "second")
    RealDisk().write_bytes(Path(base, "build/work/k.o"), b"object")
    before = own_stamp_of(f"{base}build/work/k.o")
    RealDisk().write_bytes(Path(base, "build/out/old"), b"x")
    RealDisk().write_bytes(Path(base, "build/out/seal.json"), b'{"files": ["old"]}')
    assert restore(kept.made, base, store) is not None
    assert contents(base) == OUTPUTS
    assert JOURNAL not in contents(base)
    assert own_stamp_of(f"{base}build/work/k.o") == before


def test_a_link_in_the_place_of_an_output_becomes_a_file(
    tmp_path: Path, store: Store, kept: KeptTrace
) -> None:
    base = checkout(tmp_path / "second")
    RealDisk().write_bytes(Path(base, "elsewhere"), b"object")
    Path(base, "build/work").mkdir(parents=True)
    Path(base, "build/work/k.o").symlink_to(Path(base, "elsewhere"))
    assert restore(kept.made, base, store) is not None
    assert not Path(base, "build/work/k.o").is_symlink()
    assert contents(base) == OUTPUTS


@pytest.mark.parametrize("name", ["../escape", "build/../../escape", "kernels/k.s", "/etc/x"])
def test_a_hostile_name_writes_nothing_outside_the_build_folder(
    tmp_path: Path, store: Store, kept: KeptTrace, name: str
) -> None:
    base = checkout(tmp_path / "second")
    digest = store.put_blob(b"evil")
    with suppress(BadInput):
        assert restore(Made((("", ((name, digest),)),)), base, store) is None
    assert not (tmp_path / "escape").exists()
    assert (tmp_path / "second/kernels/k.s").read_text() == "content of kernels/k.s"


def test_a_product_whose_files_are_not_all_outputs_has_no_trace(tmp_path: Path) -> None:
    base = checkout(tmp_path / "first")
    outputs = build(base)
    for names in (("seal.json",), (*NAMES, "more")):
        assert trace_of(look(base), base, [("", outputs)], [product(base, names)], []) is None


def test_what_looks_outside_the_checkout_has_no_trace(tmp_path: Path) -> None:
    base = checkout(tmp_path / "first")
    outputs = build(base)
    input_trace = look(base)
    RecordingDisk(input_trace).exists(tmp_path / "model.json")
    assert trace_of(input_trace, base, [("", outputs)], [], []) is None
    input_trace = look(base)
    input_trace.environment["ROCM_PATH"] = "/opt/rocm"
    assert trace_of(input_trace, base, [("", outputs)], [], []) is None
    elsewhere = {str(tmp_path / "out/x"): next(iter(outputs.values()))}
    assert trace_of(look(base), base, [("", {**outputs, **elsewhere})], [], []) is None


def test_the_code_is_known_by_contents_not_by_place(tmp_path: Path) -> None:
    digests = []
    for name, text in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(text)
        input_trace = InputTrace()
        input_trace.saw_file(str(tmp_path / name / "m.py"))
        input_trace.saw_file(str(tmp_path / "a" / "m.py"))
        digests.append(input_trace.digests_below(str(tmp_path / name)))
    assert digests == [{"/m.py": blake3_hex(text)} for text in (b"1", b"1", b"2")]


def test_code_that_was_edited_since_it_was_looked_at_is_unsteady(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("1")
    input_trace = InputTrace(time.time_ns() + 10**15)
    input_trace.saw_file(str(path))
    assert input_trace.digests_below(str(path)) == {"": blake3_hex(b"1")}
    assert input_trace.unsteady == set()
    path.write_text("22")
    later = InputTrace(input_trace.started_ns)
    later.files[str(path)] = (input_trace.files[str(path)][0], None)
    later.digests_below(str(tmp_path))
    assert later.unsteady == {str(path)}


def test_any_name_of_an_output_comes_back(tmp_path: Path) -> None:
    base = checkout(tmp_path / "first")
    names = [f"build/{name}" for name in ("a|b", "%7C", "%25|%", 'q"\\', "two words", "é")]
    rows = [(base + name, ((0, 0, 0, 0, 0), f"{number}")) for number, name in enumerate(names)]
    trace = trace_of(look(base), base, [("d1", dict(rows[:2])), ("", dict(rows[2:]))], [], [])
    assert trace is not None
    read = read_made(json.loads(json.dumps(trace[1].document())))
    assert read == trace[1]
    assert read.outputs == {name: f"{number}" for number, name in enumerate(names)}
    assert read.makers() == [("d1", (names[0], names[1]))]
