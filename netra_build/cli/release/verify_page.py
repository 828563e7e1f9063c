"""The page of a release: made again from the product, where this code and its table are at hand."""

from __future__ import annotations

from netra_build.core.digests import sha256_hex
from netra_build.core.errors import Refused
from netra_build.formats.library import Library
from netra_build.inspect.report.make_report import page_bytes
from netra_build.inspect.validate.package import Finding
from netra_build.release.archive import Package
from netra_build.release.environment import environment_of
from netra_build.release.layout import PAGE
from netra_build.release.origin import Origin, product_files
from netra_build.release.provenance import read_provenance
from netra_build.releasing import SCORES

WHAT = "page"


def verify_page(package: Package, location: str, library: Library | None) -> Finding:
    """Return whether the page of a verified package was made again; ``Refused`` when it lies."""
    if PAGE not in package.files:
        return Finding(WHAT, False, "the package has none")
    origin = read_provenance(package.files, location)
    if origin.environment["netra_build"] != environment_of("netra_build.releasing")["netra_build"]:
        return Finding(WHAT, False, "another version of netra-build made it")
    table = _table(origin, library)
    if table is None and SCORES in origin.sources:
        return Finding(WHAT, False, f'the recorded "{SCORES}" that it shows is not here')
    made = page_bytes(product_files(origin.asked, package.files), table, origin.asked.name)
    if made != package.files[PAGE]:
        raise Refused("page is not the one of the product", location=f"{location}/{PAGE}")
    return Finding(WHAT, True, "made again from the product")


def _table(origin: Origin, library: Library | None) -> bytes | None:
    """Return the recorded table of mutation scores, if the library at hand has it."""
    if library is None or not library.disk.is_file(library.root / SCORES):
        return None
    data = library.read(SCORES)
    return data if sha256_hex(data) == origin.sources.get(SCORES) else None
