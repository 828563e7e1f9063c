"""Verify a release package: signature, digests and claims; and list what was not verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json, parse_object
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import Disk, sealed_folder
from netra_build.core.errors import BadInput, NetraError, Refused, ToolchainFailed
from netra_build.core.json_difference import hold_same
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import ENGINE
from netra_build.inspect.validate.engine import verify_engine
from netra_build.inspect.validate.result import verify_result
from netra_build.release.archive import Package, check_settings
from netra_build.release.kernels import kernel_rows, read_as_ours
from netra_build.release.layout import (
    ENVELOPE,
    LICENSE,
    PROVENANCE,
    RECORD,
    SBOM,
    WRITTEN_LAST,
    check_version,
    refuse_renamed,
)
from netra_build.release.origin import Asked, Origin, environment_of, product_files
from netra_build.release.provenance import check_signature, read_envelope, read_provenance, subjects
from netra_build.release.record import read_record, refuse_unready, release_record
from netra_build.release.sbom import sbom_bytes

INCLUDES = "generated/includes/"
SBOM_MODULE = "netra_build.release.sbom"
ROLES = ("assembler", "linker", "disassembler")
FACT = "claim differs from the content"


@dataclass(frozen=True)
class Finding:
    """One fact about a package: its subject, whether it was verified, and how or why not."""

    what: str
    is_verified: bool
    detail: str


@dataclass(frozen=True)
class Means:
    """What a verification may use: a library (for its schemas), a tool chain, a public key.

    ``find_tools`` returns the tool chain; it is called when all earlier checks have passed.
    """

    disk: Disk
    library: Library | None
    find_tools: Callable[[], Toolchain | None]
    key: bytes | None = None
    key_location: str = ""
    name: str | None = None
    version: str | None = None
    """What the release has to be called, and its version, if something is expected."""


def check_integrity(package: Package, location: str) -> tuple[dict[str, Json], Origin]:
    """Return record and origin of a package whose files all have the digests that both state.

    ``BadInput`` when record or statement is missing or unreadable, ``Refused`` for a file that is
    missing, not listed or altered.
    """
    files = package.files
    record = read_record(files, location)
    origin = read_provenance(files, location)
    with read_as_ours(f"{location}/{RECORD}"):
        listed = {name: row["sha256"] for name, row in record["files"].items()}
    for name in (LICENSE, SBOM):
        if name not in listed:
            raise Refused(f'record lists no "{name}"', location=f"{location}/{RECORD}")
    apart = {name: data for name, data in files.items() if name not in WRITTEN_LAST}
    _hold(apart, listed, RECORD, location)
    about = {name: data for name, data in files.items() if name not in (PROVENANCE, ENVELOPE)}
    _hold(about, subjects(files, location), PROVENANCE, location)
    asked = origin.asked
    check_version(asked.version, f"{location}/{PROVENANCE}")
    refuse_renamed(package.top, location, asked.name, asked.version)
    return record, origin


def verify_package(package: Package, location: str, means: Means) -> list[Finding]:
    """Return what was verified of a package, and what was not.

    Raises ``Refused`` with the first false statement, ``BadInput`` for files that cannot be read.
    """
    return list(_findings(package, location, means))


def _findings(package: Package, location: str, means: Means) -> Iterator[Finding]:
    yield _signature(package, location, means)
    record, origin = check_integrity(package, location)
    _refuse_unexpected(origin.asked, location, means)
    count = len(package.files)
    yield Finding("digests", True, f"{count} files, by {RECORD} and {PROVENANCE}")
    yield from _product(package, origin, location, means)
    with read_as_ours(location):
        yield _claims(package, record, origin, location)
        yield _bill(package, origin, location)
        yield _sources(package, origin, location)
    numerics = record["verdicts"]["numerics"]
    detail = (
        f"{numerics['verdict']} by its reports (scope {numerics['scope']}, "
        f"{numerics['kernels_run']} of {numerics['kernels']} kernels); not run again"
    )
    yield Finding("numerics", False, detail)
    yield Finding("hardware", False, "no release states anything about hardware")


def _refuse_unexpected(asked: Asked, location: str, means: Means) -> None:
    """Raise ``Refused`` for a release of another name or version than is expected."""
    for what, wanted, got in (
        ("name", means.name, asked.name),
        ("version", means.version, asked.version),
    ):
        if wanted is not None and wanted != got:
            fact = f"release has another {what}"
            raise Refused(fact, location=location, expected=f'"{wanted}"', got=f'"{got}"')


def _hold(files: Mapping[str, bytes], digests: Mapping[str, str], by: str, location: str) -> None:
    """Raise ``Refused`` for the first file that differs from the statement of ``by``."""
    for name in sorted({*files, *digests}):
        if name not in files:
            raise Refused(f'file "{name}" is missing', location=location, hint=f"{by} lists it")
        if name not in digests:
            raise Refused(f'file "{name}" is not in {by}', location=location)
        actual = sha256_hex(files[name])
        if actual != digests[name]:
            raise Refused(
                f'file "{name}" differs from {by}',
                location=location,
                expected=f"sha256 {digests[name]}",
                got=actual,
            )


def _signature(package: Package, location: str, means: Means) -> Finding:
    envelope = package.files.get(ENVELOPE)
    if envelope is None:
        if means.key is not None:
            raise Refused("package is not signed", location=location)
        return Finding("signature", False, "package is not signed")
    place = f"{location}/{ENVELOPE}"
    statement, signers = read_envelope(envelope, place)
    if means.key is not None:
        signer = check_signature(envelope, means.key, place, means.key_location)
    if statement != package.files.get(PROVENANCE):
        raise Refused(f'signed statement is not "{PROVENANCE}"', location=place)
    if means.key is None:
        return Finding("signature", False, f"no key was given; signed by {', '.join(signers)}")
    return Finding("signature", True, f"by key {signer}")


def _product(package: Package, origin: Origin, location: str, means: Means) -> Iterator[Finding]:
    """Verify the engine or the code objects like any product, apart from the release."""
    tools, reason = _usable_tools(means.find_tools(), origin)
    files, folder = product_files(origin.asked, package.files), origin.asked.folder
    if origin.asked.kind == ENGINE:
        if means.library is None:
            yield Finding("engine", False, "no kernel library here, whose schemas it needs")
            return
        with sealed_folder() as place, _refusal(f"{location}/{folder}", str(place)):
            for name, data in files.items():
                means.disk.write_bytes(place / name, data)
            found = verify_engine(place, means.disk, means.library, tools, self_contained=True)
            unverified: Sequence[str] = found.unverified
        yield Finding("engine", True, "ids, documents, code objects and reports derived again")
    else:
        with _refusal(f"{location}/{folder}", ""):
            unverified = verify_result(files, tools)
        yield Finding("code objects", True, "records and reports derived again")
        yield Finding("conformity", False, "contracts of code objects are not in the package")
    if not kernel_rows(origin.asked.kind, files, location):
        yield Finding("equivalence", False, "no kernel in it was made from sources")
    elif tools is None or tools.disassembler is None:
        left = sum(not name.endswith(".numerics.json") for name in unverified)
        yield Finding("equivalence", False, f"{reason}; {left} files are not verified")
    else:
        yield Finding("equivalence", True, "sources assembled and compared again")


def _usable_tools(tools: Toolchain | None, origin: Origin) -> tuple[Toolchain | None, str]:
    """Return the tool chain if it is of the recorded versions, else why it is not used."""
    if tools is None:
        return None, "no tool chain"
    if tools.disassembler is None:
        return tools, "the tool chain has no disassembler"
    found = tools.identity()
    for key in (f"{role}_version" for role in ROLES):
        if found.get(key) != origin.toolchain.get(key):
            there = origin.toolchain.get(key)
            return None, f"the tool chain here is {found.get(key)}, the recorded one {there}"
    return tools, ""


@contextmanager
def _refusal(place: str, folder: str) -> Iterator[None]:
    """Turn an error inside a package into a refusal that names the file of the package."""
    try:
        yield
    except ToolchainFailed:
        raise
    except NetraError as error:
        here = error.location.removeprefix(f"{folder}/") if folder else error.location
        raise Refused(
            error.fact.replace(f"{folder}/", "") if folder else error.fact,
            location=place + here,
            expected=error.expected,
            got=error.got,
            hint=error.hint.replace(f"{folder}/", "") if folder else error.hint,
            detail=error.detail,
        ) from None


def _claims(package: Package, record: Mapping[str, Json], origin: Origin, location: str) -> Finding:
    """Write the record again from the content, compare it, and check the release conditions."""
    content = {name: data for name, data in package.files.items() if name not in WRITTEN_LAST}
    with _refusal(f"{location}/", ""):
        derived = release_record(content, origin, record["archive"])
        if derived["toolchain"] != origin.toolchain:
            raise BadInput("tool chain is not the one of the product", location=PROVENANCE)
        hold_same(derived, record, FACT, RECORD)
        check_settings(Fields(record["archive"], RECORD, "/archive"), origin)
        refuse_unready(content, origin, record)
    verdicts = record["verdicts"]
    detail = (
        f"{len(record['kernels'])} kernels: equivalence {verdicts['equivalence']}, "
        f"static checks {verdicts['static_checks']}"
    )
    return Finding("claims", True, detail)


def _bill(package: Package, origin: Origin, location: str) -> Finding:
    """Write the bill of materials again, if the libraries that wrote it are installed."""
    recorded = origin.environment["packages"]
    for name, version in environment_of(SBOM_MODULE)["packages"].items():
        if recorded.get(name) != version:
            detail = f"written with {name} {recorded.get(name)}, here is {version}"
            return Finding("bill of materials", False, detail)
    apart = (SBOM, *WRITTEN_LAST)
    bare = {name: data for name, data in package.files.items() if name not in apart}
    with _refusal(f"{location}/", ""):
        derived = parse_object(sbom_bytes(bare, origin), SBOM)
        hold_same(derived, parse_object(package.files[SBOM], SBOM), FACT, SBOM)
    return Finding("bill of materials", True, "written again from content and provenance")


def _sources(package: Package, origin: Origin, location: str) -> Finding:
    """Compare the sources in the package with the provenance; count the others."""
    files = product_files(origin.asked, package.files)
    seen: set[str] = set()
    for name in sorted(files):
        if name.startswith(INCLUDES):
            source = name.removeprefix(INCLUDES)
            if origin.sources.get(source) != sha256_hex(files[name]):
                raise Refused(
                    f'source "{source}" is not the one of {PROVENANCE}',
                    location=f"{location}/{origin.asked.folder}{name}",
                )
            seen.add(source)
    for row in kernel_rows(origin.asked.kind, files, location):
        same = {n for n, d in origin.sources.items() if d == row.golden_sha256}
        if row.golden_sha256 is not None and not same:
            raise Refused(
                f'golden source of "{row.symbol}" is not in {PROVENANCE}', location=location
            )
        seen |= same
    left = len(origin.sources) - len(seen)
    detail = f"{len(seen)} are in the package; of {left} more there is the digest alone"
    return Finding("sources", left == 0, detail)
