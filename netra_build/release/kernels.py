"""The kernels of a product, as described by its own documents: one row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from netra_build.asm.source.includes import walk_includes
from netra_build.asm.source.source_file import read_source
from netra_build.core.canonical_json import Json, parse_object
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput, NetraError
from netra_build.formats.vocabulary import ENGINE

SEAL = "netra.json"
RESULT = "build-result.json"
INCLUDES = "generated/includes/"
NOT_RUN, PASSED, FAILED = "not_run", "passed", "failed"
RECORDED = ("symbol", "hsaco", "hsaco_sha256", "text_sha256", "tactic", "maturity")


@dataclass(frozen=True)
class KernelRow:
    """One kernel with its code object, its sources, its identities and its verdicts.

    File names are those inside the product; ``includes`` are names in the library.
    """

    symbol: str
    hsaco: str
    hsaco_sha256: str
    text_sha256: str
    tactic: str
    maturity: str
    source: str
    includes: tuple[str, ...]
    golden_sha256: str | None
    identities: Mapping[str, str]
    verdicts: Mapping[str, Json]

    def document(self) -> dict[str, Json]:
        """Return the row as the record lists it; sources are in the bill of materials."""
        named = {name: getattr(self, name) for name in RECORDED}
        return {**named, **self.identities, **self.verdicts}


@contextmanager
def read_as_ours(location: str) -> Iterator[None]:
    """Context for reading unverified documents: ``BadInput`` for those of another form."""
    try:
        yield
    except NetraError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        raise BadInput(
            "product has another form than a build of ours gives", location=location
        ) from None


def kernel_rows(kind: str, files: Mapping[str, bytes], location: str) -> list[KernelRow]:
    """Return the kernels of a product in the order of its documents; ``BadInput`` for others.

    ``files`` are those of the product by their names inside it.
    """
    with read_as_ours(location):
        return list(_engine_rows(files) if kind == ENGINE else _object_rows(files))


def toolchain_of(kind: str, files: Mapping[str, bytes], location: str) -> dict[str, str]:
    """Return the identity of the tool chain that the product itself states."""
    name = SEAL if kind == ENGINE else RESULT
    with read_as_ours(location):
        return dict(_document(files, name)["toolchain"])


def _document(files: Mapping[str, bytes], name: str) -> dict[str, Json]:
    return parse_object(files[name], name)


def _engine_rows(files: Mapping[str, bytes]) -> Iterator[KernelRow]:
    sealed = {row["symbol"]: row for row in _document(files, SEAL)["kernels"]}
    for candidate in _document(files, "validation_plan.json")["candidates"]:
        symbol = candidate["symbol"]
        yield _row(files, symbol, symbol, candidate, sealed[symbol])


def _object_rows(files: Mapping[str, bytes]) -> Iterator[KernelRow]:
    for artifact in _document(files, RESULT)["artifacts"]:
        checks = files.get(f"metadata/{artifact['name']}.checks.json")
        for member in artifact["members"]:
            verdicts = {
                "conformity": artifact["conformity"],
                "equivalence": artifact["equivalence"],
                "static_checks": _checks(checks),
                "numerics": _numerics(files, member["name"]),
            }
            yield _row(files, artifact["name"], member["name"], member, {**member, **verdicts})


def _row(
    files: Mapping[str, bytes],
    name: str,
    stem: str,
    described: Mapping[str, Json],
    proven: Mapping[str, Json],
) -> KernelRow:
    """Return one row; ``name`` is of the code object, ``stem`` of the kernel's own files."""
    record = _document(files, f"metadata/{name}.json")
    golden = f"generated/golden/{stem}.s"
    numerics = {key: value for key, value in proven["numerics"].items() if key != "text_sha256"}
    words = ("conformity", "equivalence", "static_checks")
    return KernelRow(
        symbol=described["symbol"],
        hsaco=record["hsaco"],
        hsaco_sha256=sha256_hex(files[record["hsaco"]]),
        text_sha256=record["text_sha256"],
        tactic=described["tactic"],
        maturity=described["maturity"],
        source=described["source"],
        includes=_includes(files, described["source"]),
        golden_sha256=sha256_hex(files[golden]) if golden in files else None,
        identities={
            key: proven[key] for key in ("source_closure_sha256", "computational_identity")
        },
        verdicts={**{word: proven[word] for word in words}, "numerics": numerics},
    )


def _includes(files: Mapping[str, bytes], source: str) -> tuple[str, ...]:
    """Return the library names that a unit reaches."""

    def read(name: str) -> bytes:
        return files[name if name == source else INCLUDES + name]

    return tuple(name for name in walk_includes(source, read, source, _found) if name != source)


@lru_cache(maxsize=1024)
def _found(name: str, data: bytes) -> tuple[tuple[int, str], ...]:
    """Return the includes of one file; the files that all kernels share are read once."""
    return tuple((item.line, item.name) for item in read_source(name, data, {}).includes)


def _checks(report: bytes | None) -> str:
    if report is None:
        return NOT_RUN
    return FAILED if parse_object(report, "checks")["counts"]["error"] else PASSED


def _numerics(files: Mapping[str, bytes], stem: str) -> dict[str, Json]:
    report = files.get(f"metadata/{stem}.numerics.json")
    if report is None:
        return {"verdict": NOT_RUN}
    document = parse_object(report, stem)
    return {"verdict": document["verdict"], "scope": document["scope"]}
