"""A library of the published formats in every form that its writers may choose."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from netra_build.core.digests import sha256_hex

ROOT = Path(__file__).resolve().parents[2]
FORMS = ROOT / "tests" / "data" / "published" / "library"
DEPLOYMENT = "manifests/gfx950/deployments/kinds.json"
CATALOG = "manifests/gfx950/tactics/kinds.json"
TEMPLATE = "kernels/gfx950/templates/kinds/fill.inc"
VERSIONS = (4, 5, 6)
WITHOUT_WAIT = "1dfc5c0009a93399c46cec237a4ccd2af752b08103a4c138fb01f6c24ef62b3e"
"""Digest of the ``.text`` of two kernels without their waits, as LLVM's programs make it."""

DEVIATIONS = {
    "wide_offset": ("accumulation offset of kinds_fill_gfx950", "4", "8"),
    "two_kernels": ("number of kernels", "1", "2"),
    "other_symbol": ("symbol", "kinds_fill_gfx950", "kinds_first_gfx950"),
}
"""What of each form we would like to be stricter about; there is nothing about the others."""
WARNINGS = [
    f"netra: warning: {form}_v{version}.hsaco: {what} differs from our convention; "
    f"expected {expected}, got {got}"
    for form, (what, expected, got) in DEVIATIONS.items()
    for version in VERSIONS
]
FIRST_ERROR = (
    "wide_offset_v4.hsaco: accumulation offset of kinds_fill_gfx950 differs from the contract; "
    "expected 4, got 8"
)


def library_at(folder: Path) -> Path:
    """Return a copy of the library with the schemas that mark its root."""
    shutil.copytree(FORMS, folder)
    (folder / "schemas").mkdir()
    for name in ("model", "engine", "kernel-contract"):
        file = f"schemas/netra-{name}.schema.json"
        shutil.copyfile(ROOT / file, folder / file)
    return folder


def edit(library: Path, file: str, change: Callable[[Any], None]) -> None:
    """Change a JSON file of the library."""
    document = json.loads((library / file).read_text())
    change(document)
    (library / file).write_text(json.dumps(document))


def edit_template(library: Path, changes: Mapping[str, str]) -> None:
    """Replace texts of the template, and pin the catalog to it."""
    text = (library / TEMPLATE).read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (library / TEMPLATE).write_text(text)
    data, name = text.encode(), TEMPLATE.encode()
    parts = [part for one in (name, data) for part in (len(one).to_bytes(8, "big"), one)]

    def pin(catalog: Any) -> None:
        catalog["tactics"][0]["template_sha256"] = sha256_hex(data)
        catalog["tactics"][0]["source_closure_sha256"] = sha256_hex(b"".join(parts))

    edit(library, CATALOG, pin)
