"""The names of a release package and of its files."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from netra_build.core.errors import BadInput, Refused
from netra_build.formats.vocabulary import CODE_OBJECTS, ENGINE, TARGET

FORMAT = "netra-release-1"
FOLDER_BY_KIND = {ENGINE: "engine/", CODE_OBJECTS: "objects/"}
"""Kind of product to the folder of the package that holds it."""

RECORD = "RELEASE.json"
LICENSE = "LICENSE"
PAGE = "report.html"
SBOM = "sbom.cdx.json"
PROVENANCE = "provenance.json"
ENVELOPE = "provenance.dsse.json"
WRITTEN_LAST = (RECORD, PROVENANCE, ENVELOPE)
"""Files that the record cannot list: itself, and those that contain its digest."""

SUFFIX, OCI_SUFFIX = ".tar.zst", ".oci.tar"
"""Of the archive and of the OCI layout as one tar file, both named after the top folder."""
_VERSION = re.compile(
    r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}(-[0-9A-Za-z][0-9A-Za-z.]{0,31})?"
)
_STATES_VERSION = re.compile(rf"-[0-9]+\.[0-9]+\.[0-9]+|-{TARGET}\Z")


def top_folder(name: str, version: str) -> str:
    """Return the one folder at the top of an archive, for example ``moe-1.2.0-gfx950``."""
    return f"{name}-{version}-{TARGET}"


def refuse_renamed(top: str, location: str, name: str, version: str) -> None:
    """Raise ``Refused`` when the top folder, or the file, is called as another release is.

    A file whose name states neither a version nor the target may be called as one likes.
    """
    wanted = top_folder(name, version)
    stem = (
        PurePosixPath(location).name.removesuffix(SUFFIX).removesuffix(".tar").removesuffix(".oci")
    )
    fact, got = "folder of the archive is named otherwise", top
    if top == wanted:
        if not _STATES_VERSION.search(stem) or stem in (wanted, f"{name}-{version}"):
            return
        fact, got = "file is named for another release", stem
    raise Refused(fact, location=location, expected=f'"{wanted}"', got=f'"{got}"')


def check_version(version: str, location: str) -> None:
    """Raise ``BadInput`` unless ``version`` is ``X.Y.Z``, optionally with ``-WORD``."""
    if not _VERSION.fullmatch(version):
        raise BadInput(
            "version is not usable",
            location=location,
            expected="X.Y.Z or X.Y.Z-WORD",
            got=f'"{ascii(version)[1:-1][:40]}"',
        )


def refuse_above(got: int, most: int, fact: str, location: str, unit: str = "") -> None:
    """Raise ``BadInput`` for a value above a limit of releases."""
    if got > most:
        raise BadInput(fact, location=location, expected=f"at most {most}{unit}", got=got)
