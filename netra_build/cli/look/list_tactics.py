"""``netra list-tactics``: every tactic of a kernel library as one JSON line."""

from __future__ import annotations

import argparse

from netra_build.cli.options import add_searched_library, library_anchors
from netra_build.core.canonical_json import canonical_text
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.library import open_library
from netra_build.formats.vocabulary import TARGET
from netra_build.plan.dense import DENSE_TACTIC

HELP = "list the tactics of a kernel library"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--target", required=True, help=f'only "{TARGET}"')
    add_searched_library(parser)


def run(options: argparse.Namespace) -> int:
    """Print all tactics sorted by name."""
    if options.target != TARGET:
        raise BadInput(
            "unknown target", location="--target", expected=f'"{TARGET}"', got=f'"{options.target}"'
        )
    catalog = load_catalog(open_library(RealDisk(), options.library_root, library_anchors()))
    catalog.require_sound()
    records = [tactic.document() for tactic in catalog.tactics] + [DENSE_TACTIC.document()]
    records.sort(key=lambda record: str(record["name"]))
    print(canonical_text({"target": TARGET, "tactics": records}), end="")
    return 0
