"""The page of every folder of the package: its package file names what lies in the folder."""

from __future__ import annotations

import re

import pytest
from package_sources import PACKAGE, ROOT, Sources, parsed, read_sources


def page_faults(sources: Sources) -> list[str]:
    """Report modules and folders that the page of their folder does not name."""
    faults = []
    for name in sources:
        folder, _, last = name.rpartition(".")
        if folder in ("", PACKAGE):
            continue
        page = parsed(sources[folder]).body
        text = str(page[0].value.value) if page else ""  # type: ignore[attr-defined]
        if not re.search(rf"(?<![\w.]){re.escape(last)}(?!\w)", text):
            faults.append(f"{name}: is not on the page of its folder")
    return faults


def test_every_page_names_what_lies_in_its_folder():
    assert page_faults(read_sources()) == []


BASE = {"netra_build.a": '"""Doc.\n\n``b``: a thing.\n"""', "netra_build.a.b": ""}


@pytest.mark.parametrize("module", ["netra_build.a.bb", "netra_build.a.thin"])
def test_a_seeded_module_is_reported(module):
    assert page_faults(BASE) == []
    assert page_faults({**BASE, module: ""}) == [f"{module}: is not on the page of its folder"]


def test_the_lengths_of_what_is_written_by_hand_are_those_of_the_files():
    page = (ROOT / "docs/layout.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| `([\w/]+\.py)` \| (\d+) \|", page, re.MULTILINE))
    assert len(stated) >= 7
    texts = {name: (ROOT / PACKAGE / name).read_text(encoding="utf-8") for name in stated}
    assert stated == {name: str(len(text.splitlines())) for name, text in texts.items()}
