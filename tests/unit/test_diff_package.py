"""``netra diff`` on two releases: what changed, why, and whose code really is another one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from release_product import content, origin, product, sha256
from report_samples import LISTING, OBJECT

from netra_build.cli.look.diff import notes
from netra_build.cli.look.diff_text import summary
from netra_build.cli.main import main
from netra_build.inspect.diff.package import PackageSide, package_difference
from netra_build.release.archive import Package, settings, write_archive
from netra_build.release.origin import Origin
from netra_build.release.provenance import provenance_bytes
from netra_build.release.record import record_bytes, release_record

LEAF, REGS = "kernels/gfx950/templates/fill.inc", "kernels/gfx950/templates/common/regs.inc"
MOVED = "v_mov_b32_e32 v1, 7                                        // 000000001708: 7E020287"


def files(**changes: Any) -> dict[str, bytes]:
    """Return a product with the two sample kernels in its code object."""
    made = product(**changes)
    made["metadata/fill.dis"] = LISTING
    made["hsaco/fill.hsaco"] = OBJECT
    return made


def other_code(made: dict[str, bytes]) -> dict[str, bytes]:
    """Return the product with 8 instead of 7 in the second instruction of the first kernel."""
    assert OBJECT.count(b"\x87\x02\x02\x7e") == 1
    assert LISTING.count(MOVED.encode()) == 1
    return made | {
        "hsaco/fill.hsaco": OBJECT.replace(b"\x87\x02\x02\x7e", b"\x88\x02\x02\x7e"),
        "metadata/fill.dis": LISTING.replace(
            MOVED.encode(), MOVED.replace("v1, 7", "v1, 8").replace("0287", "0288").encode()
        ),
    }


def side(made: dict[str, bytes], version: str, given: Origin | None = None, **sources: str):
    """Return a package; ``sources`` are digests of sources that are others."""
    base = given or origin()
    digests = dict(base.sources) | {key.replace("__", "/"): v for key, v in sources.items()}
    made_from = replace(base, asked=replace(base.asked, version=version), sources=digests)
    whole = content(made) | {"sbom.cdx.json": b"{}"}
    record = release_record(whole, made_from, settings())
    whole["RELEASE.json"] = record_bytes(record)
    whole["provenance.json"] = provenance_bytes(whole, made_from)
    return PackageSide(Package(f"small-{version}-gfx950", whole), record, made_from, version)


def with_source(base: Origin, name: str, data: bytes) -> Origin:
    return replace(base, sources={**base.sources, name: sha256(data)})


def kernels(difference: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(row["new_symbol"], row["verdict"], row["why"]) for row in difference["kernels"]]


OLD = side(files(), "1.2.0")


def test_a_package_is_equal_to_itself():
    difference = package_difference(OLD, side(files(), "1.2.0"))
    assert difference["equal"]
    assert summary(difference) == "The two packages are equal."
    assert difference["causes"] == {"sources": [], "toolchain": [], "environment": [], "asked": []}


def test_other_code_is_told_from_what_it_leaves_alone_and_its_source_is_named():
    changed = other_code(files())
    changed[f"generated/includes/{LEAF}"] += b"// more\n"
    new = side(changed, "1.3.0", with_source(origin(), LEAF, b"other"))
    difference = package_difference(OLD, new)
    assert kernels(difference) == [
        ("sample_first", "text_differs", []),
        ("sample_second", "unchanged", []),
    ]
    assert difference["causes"]["sources"] == [
        {"old": LEAF, "new": LEAF, "state": "changed", "role": "template"}
    ]
    (text,) = [row["difference"]["text"] for row in difference["kernels"] if row["difference"]]
    (hunk,) = text["instructions"]["hunks"]
    assert [line["text"] for line in hunk["removed"]] == ["v_mov_b32_e32 v1, 7"]
    assert [line["text"] for line in hunk["added"]] == ["v_mov_b32_e32 v1, 8"]
    assert summary(difference) == "Other code in 1 of 2 kernels, 1 unchanged."


def named(made: dict[str, bytes], symbol: str = "sample_first") -> dict[str, bytes]:
    """Return the product with the row of its recipe under a symbol that the object holds."""
    result = json.loads(made["build-result.json"])
    result["artifacts"][0]["members"][0]["symbol"] = symbol
    return made | {"build-result.json": json.dumps(result).encode()}


NAMED = side(named(files()), "1.2.0")


def why_of(made: dict[str, bytes], given: Origin | None = None) -> list[list[str]]:
    difference = package_difference(NAMED, side(named(made), "1.3.0", given))
    return difference["kernels"][0]["why"]


def test_a_source_that_the_kernel_reaches_is_its_cause():
    assert why_of(other_code(files()), with_source(origin(), REGS, b"x")) == [["source", REGS]]


def test_a_source_that_it_does_not_reach_is_not():
    far = with_source(origin(), "kernels/gfx950/templates/other.inc", b"x")
    assert why_of(other_code(files()), far) == []


def test_a_constant_is_named_with_both_values():
    changed = other_code(files())
    changed["generated/fill.s"] = b"\t.set NETRA_M, 2\n" + changed["generated/fill.s"]
    assert why_of(changed) == [["constant", "NETRA_M none -> 2"]]


def test_another_tactic_is_the_cause():
    changed = other_code(files())
    result = json.loads(named(changed)["build-result.json"])
    result["artifacts"][0]["members"][0]["tactic"] = "gfx950.fill_wide"
    changed["build-result.json"] = json.dumps(result).encode()
    assert why_of(changed) == [["tactic", "gfx950.fill -> gfx950.fill_wide"]]


def test_another_version_of_a_tool_is_a_cause():
    newer = {**origin().toolchain, "linker_version": "23.0.0", "linker_digest": "9" * 64}
    newer_origin = replace(origin(), toolchain=newer)
    assert why_of(other_code(files()), newer_origin) == [["tool chain", "22.1.8 -> 23.0.0"]]


def test_our_own_code_is_the_cause_when_nothing_else_is():
    environment = {**origin().environment, "netra_build": {"version": "0.2.0", "sha256": "0" * 64}}
    newer = replace(origin(), environment=environment)
    assert why_of(other_code(files()), newer) == [["netra-build", "its own code"]]


def test_what_is_unchanged_needs_no_cause():
    assert why_of(files(), with_source(origin(), REGS, b"x")) == []


@pytest.mark.parametrize("is_added", [True, False])
def test_code_objects_of_one_side(is_added):
    more = files() | {"hsaco/more.hsaco": OBJECT}
    sides = (side(files(), "1.2.0"), side(more, "1.3.0"))
    difference = package_difference(*(sides if is_added else sides[::-1]))
    word = "added" if is_added else "removed"
    rows = [row for row in difference["kernels"] if row["operation"] == "hsaco/more.hsaco"]
    assert [row["verdict"] for row in rows] == [word, word]
    said = "2 new" if is_added else "2 gone"
    assert summary(difference) == f"Other code in 0 of 4 kernels, {said}, 2 unchanged."


def test_sizes_are_of_all_files_and_of_code():
    sizes = package_difference(OLD, side(files() | {"generated/x": b"12345"}, "1.2.0"))["sizes"]
    assert sizes["files"] == [len(OLD.package.files), len(OLD.package.files) + 1]
    assert sizes["code_bytes"] == [len(OBJECT), len(OBJECT)]


HOSTILE = "a`b|c\n# d<script>\u202e"


def test_notes_are_markdown_that_no_name_breaks_out_of():
    changed = other_code(files())
    result = json.loads(named(changed)["build-result.json"])
    result["artifacts"][0]["members"][0]["tactic"] = HOSTILE
    changed["build-result.json"] = json.dumps(result).encode()
    far = with_source(origin(), f"recipes/{HOSTILE}", b"x")
    text = notes(package_difference(NAMED, side(named(changed), "1.3.0", far)))
    lines = text.splitlines()
    assert lines[0] == "# small: 1.2.0 to 1.3.0"
    assert (
        "| `hsaco/fill.hsaco` | other machine code | tactic gfx950.fill -\\> "
        "a\\`b\\|c\\\\u\\{a\\}\\# d\\<script\\>\\\\u\\{202e\\} |"
    ) in lines
    assert "| recipe | `recipes/a'b\\|c\\u{a}# d<script>\\u{202e}` | added |" in lines
    assert [line for line in lines if line.startswith("#")] == [
        "# small: 1.2.0 to 1.3.0",
        "## Kernels",
        "### `sample_first`",
        "## Sources",
        "## Sizes",
    ]
    assert "    - 0x0008  v_mov_b32_e32 v1, 7" in lines
    assert "    + 0x0008  v_mov_b32_e32 v1, 8" in lines
    assert "\u202e" not in text


@pytest.fixture
def archives(tmp_path):
    """Return two packages as files: the old one, and one with other code."""
    paths = []
    for made, version in ((files(), "1.2.0"), (other_code(files()), "1.3.0")):
        path = tmp_path / f"{version}.tar.zst"
        path.write_bytes(write_archive(side(made, version).package))
        paths.append(str(path))
    return paths


def test_the_command_says_what_changed(archives, capsys):
    assert main(["diff", *archives]) == 1
    out = capsys.readouterr().out
    assert out.startswith(
        "small 1.2.0 -> small 1.3.0\n\nOther code in 1 of 2 kernels, 1 unchanged.\n\n"
    )
    assert "  - 0x0008  v_mov_b32_e32 v1, 7\n  + 0x0008  v_mov_b32_e32 v1, 8\n" in out
    assert out.endswith("\n\ndifferent\n")
    assert main(["diff", archives[0], archives[0]]) == 0
    assert capsys.readouterr().out.endswith("equal\n")


def test_the_command_prints_json_and_notes(archives, capsys):
    assert main(["diff", *archives, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["kind"]) == ("netra-difference-1", "release package")
    assert document["version"] == ["1.2.0", "1.3.0"]
    assert main(["diff", *archives, "--markdown"]) == 1
    assert capsys.readouterr().out.startswith("# small: 1.2.0 to 1.3.0\n")


def test_a_package_whose_files_are_not_those_of_its_record_is_not_compared(
    archives, tmp_path, capsys
):
    package = side(files(), "1.2.0").package
    path = tmp_path / "bad.tar.zst"
    altered = {**package.files, "LICENSE": b"other\n"}
    path.write_bytes(write_archive(Package(package.top, altered)))
    assert main(["diff", archives[0], str(path)]) == 1
    assert capsys.readouterr().err == (
        f'netra: {path}: file "LICENSE" differs from RELEASE.json; '
        f"expected sha256 {sha256(b'MIT' + bytes([10]))}, got {sha256(b'other' + bytes([10]))}\n"
    )


def test_notes_are_of_releases_alone(tmp_path, capsys):
    path = tmp_path / "x.hsaco"
    path.write_bytes(OBJECT)
    assert main(["diff", str(path), str(path), "--markdown"]) == 2
    assert capsys.readouterr().err == (
        "netra: netra diff: --markdown is for two releases; expected a release package, "
        "got a code object\n"
    )
