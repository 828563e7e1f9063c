"""A real release: verified when it is good, refused with the right reason when it is not."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from release_attacks import (
    ENVELOPE,
    PROVENANCE,
    RECORD,
    VERDICTS,
    Files,
    all_attacks,
    as_bytes,
    differs,
    edited,
    resealed,
    restated,
)
from release_making import KEY, OTHER, ROOT, netra, public, repacked

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.disk import RealDisk
from netra_build.core.errors import EXIT_BAD_INPUT, EXIT_REFUSED, NetraError, Refused
from netra_build.formats.library import Library, open_library
from netra_build.inspect.validate.package import Means, verify_package
from netra_build.release.archive import Package, write_archive


@pytest.fixture(scope="module")
def library() -> Library:
    return open_library(RealDisk(), ROOT, ())


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key.pub"
    path.write_bytes(public(KEY))
    return path


def test_a_good_engine_verifies(engine_release, key, capsys):
    status, out, err = netra(capsys, "verify", engine_release.path, "--key", key, "--json")
    assert (status, err) == (0, "")
    findings = {row["what"]: row["is_verified"] for row in json.loads(out)["findings"]}
    assert findings == {
        "signature": True,
        "digests": True,
        "engine": True,
        "equivalence": True,
        "claims": True,
        "bill of materials": True,
        "sources": False,
        "numerics": False,
        "hardware": False,
        "page": True,
    }


def test_good_code_objects_verify(objects_release, key, capsys):
    status, out, err = netra(capsys, "verify", objects_release.path, "--key", key, "--json")
    assert (status, err) == (0, "")
    findings = {row["what"]: row["is_verified"] for row in json.loads(out)["findings"]}
    assert findings["code objects"]
    assert findings["equivalence"]
    assert findings["claims"]
    assert not findings["conformity"]


def test_what_could_not_be_verified_is_said(engine_release, library, capsys):
    """Without a key, a tool chain and a library there is less to say, and it is said."""
    bare = verify_package(engine_release.package, "p", Means(RealDisk(), None, lambda: None))
    by_name = {finding.what: finding for finding in bare}
    assert by_name["signature"].detail.startswith("no key was given; signed by ")
    assert by_name["engine"].detail == "no kernel library here, whose schemas it needs"
    assert not by_name["engine"].is_verified
    without = verify_package(engine_release.package, "p", Means(RealDisk(), library, lambda: None))
    (found,) = [finding for finding in without if finding.what == "equivalence"]
    # Of each of three kernels: code object, listing, golden source and report of equivalence.
    assert (found.is_verified, found.detail) == (
        False,
        "no tool chain; 12 files are not verified",
    )
    status, out, _ = netra(capsys, "verify", engine_release.path)
    assert status == 0
    assert out.rstrip().endswith("qwen36_moe_m1-1.2.0-gfx950: verified; 4 things could not be")


def test_another_tool_chain_is_not_used(engine_release, library):
    class Older:
        disassembler = True

        def identity(self) -> dict[str, str]:
            return {"assembler_version": "21.0.0"}

    found = verify_package(engine_release.package, "p", Means(RealDisk(), library, Older))
    (row,) = [finding for finding in found if finding.what == "equivalence"]
    assert row.detail == (
        "the tool chain here is 21.0.0, the recorded one 22.1.8; 12 files are not verified"
    )


def test_two_hundred_altered_packages_are_refused(
    engine_release, key, tmp_path, seed, sample_of_each, capsys
):
    """Every kind of the list, each with the whole message; the sample takes two of each."""
    rng = random.Random(seed)
    attacks = all_attacks(
        engine_release.package.top, engine_release.files, engine_release.path.read_bytes(), rng
    )
    counts = Counter(attack.kind for attack in attacks)
    assert sum(counts.values()) >= 200
    assert len(counts) >= 20, counts
    path = tmp_path / engine_release.path.name
    wrong = []
    for attack in sample_of_each(attacks, lambda attack: attack.kind, 2):
        path.write_bytes(attack.make())
        status, out, err = netra(capsys, "verify", path, "--key", key)
        if err != f"netra: {path}{attack.message}\n" or out or status not in (1, 2):
            wrong.append((attack.kind, status, err, attack.message))
    assert wrong == []


@pytest.mark.parametrize("kind", ["other", "none"])
def test_a_wrong_key_and_a_missing_signature_are_refused(kind, engine_release, tmp_path, capsys):
    path, key = tmp_path / "p.tar.zst", tmp_path / "k"
    files = engine_release.files
    keyid = json.loads(files[ENVELOPE])["signatures"][0]["keyid"]
    if kind == "none":
        del files[ENVELOPE]
    path.write_bytes(write_archive(Package(engine_release.package.top, files)))
    key.write_bytes(public(OTHER if kind == "other" else KEY))
    status, _, err = netra(capsys, "verify", path, "--key", key)
    assert status == EXIT_REFUSED
    if kind == "none":
        assert err == f"netra: {path}: package is not signed\n"
    else:
        start = f"netra: {path}/{ENVELOPE}: package is not signed with this key; expected "
        assert err.startswith(start)
        assert err.endswith(f", got {keyid}\n")


def refusal(files: Files, top: str, library: Library, tools: Toolchain | None) -> str:
    """Return why a package without a signature is refused."""
    with pytest.raises(NetraError) as caught:
        verify_package(Package(top, files), "p", Means(RealDisk(), library, lambda: tools))
    assert isinstance(caught.value, Refused), caught.value
    return str(caught.value)


@pytest.mark.parametrize(("pointer", "value"), VERDICTS)
def test_a_lie_with_every_digest_right_is_found(pointer, value, engine_release, library, toolchain):
    """Anybody can write digests anew; what they speak of is derived again."""
    files = engine_release.files
    stated = json.loads(files[RECORD])
    for step in pointer:
        stated = stated[step]
    files[RECORD] = edited(files[RECORD], pointer, value)
    files = restated(files)
    place = "/".join(map(str, pointer))
    shown = [f'"{v}"' if isinstance(v, str) else str(v) for v in (stated, value)]
    assert refusal(files, engine_release.package.top, library, toolchain) == (
        f"p/{RECORD}#/{place}: claim differs from the content; expected {shown[0]}, got {shown[1]}"
    )


def symbol_of(files: Files) -> str:
    return str(json.loads(files[RECORD])["kernels"][0]["symbol"])


def test_a_report_that_lies_is_found_behind_right_digests(engine_release, library, toolchain):
    files = engine_release.files
    name = f"engine/metadata/{symbol_of(files)}.equivalence.json"
    report = json.loads(files[name]) | {"golden_symbol": "another"}
    files[name] = (json.dumps(report, sort_keys=True, separators=(",", ":")) + "\n").encode()
    message = refusal(resealed(files), engine_release.package.top, library, toolchain)
    assert message == (
        f"p/{name}#/golden_symbol: report differs from the comparison; expected "
        '"netra_moe_down_reduce_decode_m1_gfx950", got "another"'
    )


def test_a_source_that_was_never_assembled_is_found(engine_release, library, toolchain):
    files = engine_release.files
    name = f"engine/generated/{symbol_of(files)}.s"
    files[name] += b"// a comment\n"
    message = refusal(resealed(files), engine_release.package.top, library, toolchain)
    assert message.startswith("p/engine/validation_plan.json#/candidates/0/source_sha256: ")


def test_sources_that_the_provenance_does_not_know_are_found(engine_release, library, toolchain):
    files = engine_release.files
    statement = json.loads(files[PROVENANCE])
    rows = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    row = next(row for row in rows if row["name"].endswith("common/regs.inc"))
    row["digest"]["sha256"] = "0" * 64
    files[PROVENANCE] = as_bytes(statement)
    message = refusal(resealed(files), engine_release.package.top, library, toolchain)
    assert message.startswith(f"p/{RECORD}#/source/closure_sha256: claim differs from the content")


def test_a_bill_of_materials_that_lies_is_found(engine_release, library, toolchain):
    files = engine_release.files
    bill = json.loads(files["sbom.cdx.json"])
    before = bill["metadata"]["component"]["version"]
    bill["metadata"]["component"]["version"] = "9.9.9"
    files["sbom.cdx.json"] = as_bytes(bill)
    assert refusal(resealed(files), engine_release.package.top, library, toolchain) == (
        "p/sbom.cdx.json#/metadata/component/version: claim differs from the content; "
        f'expected "{before}", got "9.9.9"'
    )


def test_a_page_that_lies_is_found(engine_release, tmp_path, capsys):
    files = engine_release.files
    assert b"simulated" in files["report.html"]
    files["report.html"] = files["report.html"].replace(b"simulated", b"hardware", 1)
    path = repacked(engine_release, resealed(files), tmp_path)
    status, _, err = netra(capsys, "verify", path)
    assert (status, err) == (
        EXIT_REFUSED,
        f"netra: {path}/report.html: page is not the one of the product\n",
    )


WRITERS = [
    (
        "bill of materials",
        "cyclonedx-python-lib",
        {"uri": "pkg:pypi/cyclonedx-python-lib@1.0.0"},
        "written with cyclonedx-python-lib 1.0.0, here is ",
    ),
    (
        "page",
        "netra-build",
        {"digest": {"sha256": "0" * 64}},
        "another version of netra-build made it",
    ),
    ("page", "Jinja2", {"uri": "pkg:pypi/Jinja2@1.0.0"}, "another version of Jinja2 made it"),
]


@pytest.mark.parametrize(("what", "name", "changes", "detail"), WRITERS)
def test_what_other_versions_wrote_is_not_called_verified(
    what, name, changes, detail, engine_release, tmp_path, capsys
):
    files = engine_release.files
    statement = json.loads(files[PROVENANCE])
    rows = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    row = next(row for row in rows if row["name"] == name)
    row.update(changes)
    if "uri" in changes:
        row["annotations"]["version"] = "1.0.0"
    files[PROVENANCE] = as_bytes(statement)
    files = resealed(files)
    if what == "page":
        # The bill names the code too, and lies as well.
        bill = json.loads(files["sbom.cdx.json"])
        component = next(row for row in bill["components"] if row["name"] == name)
        lies = {"version": "1.0.0", "purl": changes.get("uri", "").lower()}
        hashes = [{"alg": "SHA-256", "content": "0" * 64}]
        component |= lies if "uri" in changes else {"hashes": hashes}
        files["sbom.cdx.json"] = as_bytes(bill)
    status, out, err = netra(
        capsys, "verify", repacked(engine_release, resealed(files), tmp_path), "--json"
    )
    assert (status, err) == (0, "")
    found = {row["what"]: row for row in json.loads(out)["findings"]}
    assert not found[what]["is_verified"]
    assert found[what]["detail"].startswith(detail)


OBJECT_LIES = [
    ("metadata/{n}.dis", "listing differs from the code object"),
    ("metadata/{n}.text", "content differs from the code object"),
    ("metadata/{n}.metadata.txt", "content differs from the code object"),
    ("metadata/{n}.golden.text", "content differs from what the golden source gives"),
    ("metadata/{n}.golden.dis", "listing differs from the code object"),
    ("metadata/{n}.checks.json", "report differs from the static checks"),
    ("metadata/{n}.equivalence.json", "report differs from the comparison"),
]


@pytest.mark.parametrize(("name", "fact"), OBJECT_LIES)
def test_code_objects_are_derived_again(name, fact, objects_release, library, toolchain):
    files = objects_release.files
    stem = json.loads(files["objects/build-result.json"])["artifacts"][0]["name"]
    name = f"objects/{name.format(n=stem)}"
    before = files[name]
    changed = before.replace(b"identical", b"identicaL") if b"identical" in before else before
    files[name] = changed if changed != before else before[:-2] + b" " + before[-1:]
    if name.endswith("checks.json"):
        files[name] = before.replace(b'"note":0', b'"note":1')
    assert files[name] != before
    message = refusal(resealed(files), objects_release.package.top, library, toolchain)
    assert message == f"p/{name}: {fact}"


RESULT_LIES: list[tuple[tuple[Any, ...], Any]] = [
    (("artifacts", 0, "equivalence"), "text_differs"),
    (("artifacts", 0, "text_sha256"), "0" * 64),
    (("artifacts", 0, "members", 0, "computational_identity"), "0" * 64),
    (("artifacts", 0, "members", 0, "numerics"), "not_run"),
    (("files", "hsaco/x.hsaco"), "0" * 64),
]


@pytest.mark.parametrize(("pointer", "value"), RESULT_LIES)
def test_the_result_of_a_recipe_is_derived_again(
    pointer, value, objects_release, library, toolchain
):
    files = objects_release.files
    document = json.loads(files["objects/build-result.json"])
    node = document
    for step in pointer[:-1]:
        node = node[step]
    before = node.get(pointer[-1])
    node[pointer[-1]] = value
    files["objects/build-result.json"] = as_bytes(document)
    shown = "nothing" if before is None else f'"{before}"'
    place = "/".join(str(step).replace("/", "~1") for step in pointer)
    assert refusal(resealed(files), objects_release.package.top, library, toolchain) == (
        f"p/objects/build-result.json#/{place}: record differs from the files; "
        f'expected {shown}, got "{value}"'
    )


def test_a_file_that_nothing_names_is_found_among_code_objects(objects_release, library, toolchain):
    files = objects_release.files | {"objects/metadata/extra.txt": b"x"}
    message = refusal(resealed(files), objects_release.package.top, library, toolchain)
    assert message == ("p/objects/metadata/extra.txt: file is named by nothing in the product")


@pytest.mark.parametrize("name", [RECORD, PROVENANCE])
def test_a_package_without_its_documents_is_none(name, engine_release, tmp_path, capsys):
    files = {n: d for n, d in engine_release.files.items() if n not in (name, ENVELOPE)}
    path = tmp_path / "p.tar.zst"
    path.write_bytes(write_archive(Package(engine_release.package.top, files)))
    status, _, err = netra(capsys, "verify", path)
    assert (status, err) == (EXIT_BAD_INPUT, f'netra: {path}: package holds no "{name}"\n')


def test_hostile_documents_end_in_one_line(engine_release, library, toolchain, rng, is_full):
    """Values of other types anywhere in the documents, with every digest right."""
    wrong: list[Any] = [None, 7, "x", [], {}, [None], {"x": {}}]
    places = []
    for _ in range(60 if is_full else 20):
        files = engine_release.files
        name = rng.choice([RECORD, PROVENANCE, "sbom.cdx.json", "engine/netra.json"])
        document = json.loads(files[name])
        node, steps = document, []
        while isinstance(node, dict | list) and node and (not steps or rng.random() < 0.7):
            step = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
            steps.append((node, step))
            node = node[step]
        parent, step = steps[-1]
        parent[step] = rng.choice([value for value in wrong if value != parent[step]])
        files[name] = as_bytes(document)
        try:
            files = resealed(files)
        except (KeyError, TypeError, AttributeError):
            del files[ENVELOPE]
        places.append(place_of_refusal(Package(engine_release.package.top, files), library))
    assert len(places) == (60 if is_full else 20)
    assert [place for place in places if not place.startswith("p")] == []


def place_of_refusal(package: Package, library: Library) -> str:
    """Return where a package is refused; a new builder or name of a library is no lie to us."""
    try:
        verify_package(package, "p", Means(RealDisk(), library, lambda: None))
    except NetraError as error:
        return error.location
    return "p is taken"


def test_nothing_in_a_package_names_where_it_was_made(engine_release, objects_release):
    for made in (engine_release, objects_release):
        marks = [
            str(made.path.parents[1]).encode(),
            str(ROOT).encode(),
            b"/tmp/",
        ]
        for name, data in made.files.items():
            assert [mark for mark in marks if mark in data] == [], name


def test_a_byte_of_a_signed_file_is_named(engine_release, tmp_path, key, capsys):
    files = engine_release.files
    files["LICENSE"] += b"!"
    path = tmp_path / "p.tar.zst"
    path.write_bytes(write_archive(Package(engine_release.package.top, files)))
    status, _, err = netra(capsys, "verify", path, "--key", key)
    message = differs("LICENSE", RECORD, engine_release.files["LICENSE"], files["LICENSE"])
    assert (status, err) == (EXIT_REFUSED, f"netra: {path}{message}\n")
