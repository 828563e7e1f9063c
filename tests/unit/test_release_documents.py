"""Record, lock, bill of materials, provenance and signature of a release made by hand."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from pathlib import Path

import cyclonedx.schema
import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from referencing import Registry, Resource
from release_product import (
    ENVIRONMENT,
    SOURCES,
    TOOLCHAIN,
    as_bytes,
    content,
    origin,
    product,
    sha256,
)

from netra_build.core.errors import BadInput, Refused
from netra_build.release.archive import settings
from netra_build.release.provenance import provenance_bytes, read_provenance, subjects
from netra_build.release.record import read_record, record_bytes, refuse_unready, release_record
from netra_build.release.sbom import sbom_bytes

ARCHIVE = {"compressor": "zstd", "level": 19}


KERNEL = {
    "symbol": "fill_gfx950",
    "hsaco": "hsaco/fill.hsaco",
    "hsaco_sha256": sha256(b"\x7fELF code"),
    "text_sha256": "d" * 64,
    "tactic": "gfx950.fill",
    "maturity": "verified",
    "source_closure_sha256": "e" * 64,
    "computational_identity": "f" * 64,
    "conformity": "passed",
    "equivalence": "identical",
    "static_checks": "passed",
    "numerics": {"verdict": "passed", "scope": "simulated"},
}


def record(files: dict[str, bytes]) -> dict:
    return release_record(content(files), origin(), ARCHIVE)


def test_the_record_says_what_the_release_is_and_what_was_proven():
    files = product()
    found = record(files)
    listed = {name: sha256(data) for name, data in content(files).items()}
    assert {name: row["sha256"] for name, row in found.pop("files").items()} == listed
    content_digest = sha256(
        (json.dumps(listed, sort_keys=True, separators=(",", ":")) + "\n").encode()
    )
    closure = {"objects": {}, "sources": {name: sha256(data) for name, data in SOURCES.items()}}
    assert found == {
        "format": "netra-release-1",
        "name": "small",
        "version": "1.2.0",
        "kind": "code_objects",
        "target": "gfx950",
        "recipe": "recipes/small.yaml",
        "formats": {
            "RELEASE.json": "netra-release-1",
            "sbom.cdx.json": "CycloneDX 1.6",
            "provenance.json": "https://slsa.dev/provenance/v1",
            "build-result.json": "netra-build-result-1",
        },
        "engine_ids": [],
        "toolchain": TOOLCHAIN,
        "source": {
            "files": 5,
            "closure_sha256": sha256(
                (json.dumps(closure, sort_keys=True, separators=(",", ":")) + "\n").encode()
            ),
        },
        "verdicts": {
            "equivalence": "identical",
            "static_checks": "passed",
            "numerics": {
                "verdict": "passed",
                "scope": "simulated",
                "kernels_run": 1,
                "kernels": 1,
            },
            "hardware": "not_run",
        },
        "kernels": [KERNEL],
        "not_pinned": [],
        "archive": ARCHIVE,
        "content_sha256": content_digest,
    }


LOCK = "\nhint: a release is of an engine that is pinned, whole, proven and checked"
UNREADY = [
    (
        {"equivalence": "text_differs"},
        f'kernel "fill_gfx950" is not identical to a golden source{LOCK}',
    ),
    ({"equivalence": "not_run"}, f'kernel "fill_gfx950" is not identical to a golden source{LOCK}'),
    ({"errors": 1}, f'kernel "fill_gfx950" did not pass the static checks{LOCK}'),
    ({"conformity": "not_run"}, f'kernel "fill_gfx950" did not pass the static checks{LOCK}'),
    ({"numerics": "failed"}, f'kernel "fill_gfx950" did not pass its numeric contract{LOCK}'),
    ({"scope": "hardware"}, f'kernel "fill_gfx950" has numerics of another scope{LOCK}'),
]


@pytest.mark.parametrize(("changes", "message"), UNREADY)
def test_the_lock_refuses_what_is_not_proven(changes, message):
    files = product(**changes)
    with pytest.raises(Refused) as caught:
        refuse_unready(content(files), origin(), record(files))
    assert str(caught.value) == f"recipes/small.yaml: {message}"


def test_the_lock_takes_a_product_that_is_ready():
    files = product()
    assert refuse_unready(content(files), origin(), record(files)) is None


def test_the_lock_refuses_pins_that_do_not_hold():
    files = product()
    with pytest.raises(Refused) as caught:
        refuse_unready(content(files), origin(), record(files) | {"not_pinned": ["fill"]})
    assert str(caught.value) == (
        'recipes/small.yaml: tactic "fill" is not pinned\nhint: netra pin renews its pins'
    )


@pytest.mark.parametrize(
    ("name", "data"),
    [("generated/fill.s", b"altered"), ("generated/fill.s", None), ("extra", b"")],
)
def test_the_lock_refuses_a_product_that_is_not_whole(name, data):
    files = product()
    proven = record(files)
    if data is None:
        del files[name]
    else:
        files[name] = data
    with pytest.raises(Refused) as caught:
        refuse_unready(content(files), origin(), proven)
    assert str(caught.value) == (
        f'recipes/small.yaml: product is not whole: "{name}"\nhint: build it again'
    )


def test_numerics_that_nothing_ran_are_said_to_be_not_run():
    files = product()
    del files["metadata/fill.numerics.json"]
    found = record(files)
    assert found["kernels"][0]["numerics"] == {"verdict": "not_run"}
    assert found["verdicts"]["numerics"]["verdict"] == "not_run"
    assert found["verdicts"]["numerics"]["kernels_run"] == 0


def test_a_product_of_another_form_is_one_line():
    files = product()
    files["build-result.json"] = as_bytes({"artifacts": 7})
    with pytest.raises(BadInput) as caught:
        record(files)
    assert str(caught.value) == ("objects/: product has another form than a build of ours gives")


def test_only_a_record_as_we_write_it_is_read():
    found = record(product())
    assert read_record({"RELEASE.json": record_bytes(found)}, "p") == found
    cases = [
        ({}, 'p: package holds no "RELEASE.json"'),
        (
            {"RELEASE.json": b'{"format": "x"}'},
            "p/RELEASE.json: record has another format; expected netra-release-1, got another",
        ),
        (
            {"RELEASE.json": record_bytes(found) + b"\n"},
            "p/RELEASE.json: record is not written canonically",
        ),
    ]
    for files, message in cases:
        with pytest.raises(BadInput) as caught:
            read_record(files, "p")
        assert str(caught.value) == message


def schema_validator() -> Draft7Validator:
    """Return the validator of CycloneDX 1.6, from the files that its library brings."""
    folder = Path(cyclonedx.schema.__file__).parent / "_res"
    names = ("bom-1.6", "spdx", "jsf-0.82")
    schemas = {n: json.loads((folder / f"{n}.SNAPSHOT.schema.json").read_bytes()) for n in names}
    base = "http://cyclonedx.org/schema/"
    registry = Registry().with_resources(
        [(f"{base}{n}.SNAPSHOT.schema.json", Resource.from_contents(s)) for n, s in schemas.items()]
        + [(f"{base}{n}.schema.json", Resource.from_contents(s)) for n, s in schemas.items()]
    )
    return Draft7Validator(schemas["bom-1.6"], registry=registry)


def test_the_bill_of_materials_follows_the_published_schema():
    validator = schema_validator()
    bill = json.loads(sbom_bytes(content(product()), origin()))
    assert [error.message for error in validator.iter_errors(bill)] == []
    bill["components"][0]["type"] = "nonsense"
    assert list(validator.iter_errors(bill))


def test_the_bill_of_materials_lists_kernels_sources_tools_and_libraries():
    bill = json.loads(sbom_bytes(content(product()), origin()))
    rows = {row["bom-ref"]: row for row in bill["components"]}
    assert sorted(rows) == [
        "kernel:fill_gfx950",
        "netra-build",
        "python",
        "python:blake3",
        "python:ruamel.yaml",
        *sorted(f"source:{name}" for name in SOURCES),
        "tool:assembler",
        "tool:linker",
    ]
    assert rows["python:blake3"]["purl"] == "pkg:pypi/blake3@1.0.5"
    assert rows["tool:linker"]["hashes"] == [{"alg": "BLAKE3", "content": "b" * 64}]
    assert "timestamp" not in bill["metadata"]
    used = {row["ref"]: row.get("dependsOn", []) for row in bill["dependencies"]}
    assert used["release:small"] == ["kernel:fill_gfx950"]
    assert used["kernel:fill_gfx950"] == [
        "source:golden/gfx950/fill/kernel.s",
        "source:kernels/gfx950/templates/common/regs.inc",
        "source:kernels/gfx950/templates/fill.inc",
        "tool:assembler",
        "tool:linker",
    ]


def test_code_objects_that_a_user_brought_are_listed():
    whole = replace(origin(), objects={"given.hsaco": "9" * 64})
    bill = json.loads(sbom_bytes(content(product()), whole))
    row = next(row for row in bill["components"] if row["bom-ref"] == "object:given.hsaco")
    assert row["hashes"] == [{"alg": "SHA-256", "content": "9" * 64}]
    used = {row["ref"]: row.get("dependsOn", []) for row in bill["dependencies"]}
    assert used["release:small"] == ["kernel:fill_gfx950", "object:given.hsaco"]


def test_the_serial_number_follows_the_content_alone():
    files = content(product())
    one = json.loads(sbom_bytes(files, origin()))["serialNumber"]
    listed = {name: sha256(data) for name, data in files.items()}
    digest = sha256((json.dumps(listed, sort_keys=True, separators=(",", ":")) + "\n").encode())
    namespace = uuid.UUID("5b1d1d34-6e0c-5c2a-9a3f-0d4a2b7c9e11")
    assert one == f"urn:uuid:{uuid.uuid5(namespace, digest)}"
    other = json.loads(sbom_bytes({**files, "LICENSE": b"other"}, origin()))["serialNumber"]
    assert one != other


def statement() -> dict:
    return json.loads(provenance_bytes({"a": b"1", "provenance.json": b"x"}, origin()))


def test_the_provenance_is_an_in_toto_statement_about_every_file():
    found = statement()
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://slsa.dev/provenance/v1"
    assert found["subject"] == [{"name": "a", "digest": {"sha256": sha256(b"1")}}]
    definition = found["predicate"]["buildDefinition"]
    assert definition["buildType"] == "urn:netra-build:release:1"
    assert definition["externalParameters"] == {
        "name": "small",
        "version": "1.2.0",
        "kind": "code_objects",
        "recipe": "recipes/small.yaml",
        "profile": None,
    }
    assert found["predicate"]["runDetails"] == {"builder": {"id": "urn:netra-build:builder:self"}}
    materials = {row["name"]: row for row in definition["resolvedDependencies"]}
    assert {n: materials[n]["digest"]["sha256"] for n in SOURCES} == {
        name: sha256(data) for name, data in SOURCES.items()
    }
    assert materials["llvm-mc"]["digest"] == {"blake3": "a" * 64}
    assert materials["netra-build"]["digest"] == {"sha256": "c" * 64}
    assert materials["blake3"]["uri"] == "pkg:pypi/blake3@1.0.5"
    assert len(materials) == len(SOURCES) + 2 + 1 + len(ENVIRONMENT["packages"])


def test_a_statement_gives_back_its_origin():
    files = {"a": b"1"}
    files["provenance.json"] = provenance_bytes(files, origin())
    assert read_provenance(files, "p") == origin()
    assert subjects(files, "p") == {"a": sha256(b"1")}


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.update(extra=1),
        lambda s: s.update(predicate=[]),
        lambda s: s["predicate"]["buildDefinition"].update(buildType="x"),
        lambda s: s["predicate"]["buildDefinition"]["externalParameters"].update(kind="x"),
        lambda s: s["predicate"]["buildDefinition"]["externalParameters"].update(version=7),
        lambda s: s["predicate"]["buildDefinition"]["externalParameters"].update(recipe=None),
        lambda s: s["predicate"]["buildDefinition"]["externalParameters"].update(profile=[]),
        lambda s: s["predicate"]["runDetails"]["builder"].update(id={}),
        lambda s: s["predicate"]["buildDefinition"]["resolvedDependencies"][0].update(name=[]),
        lambda s: s["predicate"]["buildDefinition"]["resolvedDependencies"].append(7),
        lambda s: s["predicate"]["buildDefinition"]["resolvedDependencies"].reverse(),
    ],
)
def test_a_statement_of_another_form_is_refused(change):
    document = statement()
    change(document)
    with pytest.raises(BadInput) as caught:
        read_provenance({"provenance.json": as_bytes(document)}, "p")
    assert str(caught.value) in (
        "p/provenance.json: statement has another form than ours",
        "p/provenance.json: product has another form than a build of ours gives",
    )


def test_a_record_follows_our_schema():
    path = Path(__file__).resolve().parents[2] / "schemas/netra-release.schema.json"
    validator = Draft202012Validator(json.loads(path.read_text()))
    found = release_record(content(product()), origin(), settings())
    assert [error.message for error in validator.iter_errors(found)] == []
    for pointer in ("hardware", "equivalence"):
        lie = {**found, "verdicts": {**found["verdicts"], pointer: "passed"}}
        assert list(validator.iter_errors(lie))
