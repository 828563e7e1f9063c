"""``netra build``: the code objects of an engine directory, or a whole engine from its recipe."""

from __future__ import annotations

import argparse
from pathlib import Path

from netra_build.choose.build_objects import build_engine, refuse_sealed
from netra_build.choose.engine_folder import MANIFEST, EngineFolder
from netra_build.choose.verify import verify_engine
from netra_build.commands import rebuild
from netra_build.commands.places import library_of, toolchain_of
from netra_build.core.canonical_json import canonical_text
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.product import refuse_unfinished

HELP = "build the code objects of an engine directory, or the engine of a recipe"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the recipe's options; an engine directory takes those of places only."""
    rebuild.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Build an engine directory as ``validate --build`` does, anything else as ``rebuild``."""
    folder = Path(options.engine)
    if not RealDisk().is_file(folder / MANIFEST):
        return rebuild.run(options)
    for name in ("out", "profile", "golden_root", "locked"):
        if getattr(options, name):
            raise BadInput(
                f"--{name.replace('_', '-')} is for recipes, not for an engine directory",
                location=str(folder),
            )
    refuse_unfinished(folder, RealDisk())
    refuse_sealed(EngineFolder(folder, RealDisk()))
    library = library_of(options)
    result = verify_engine(folder, RealDisk(), library).summary
    engine = EngineFolder(folder, RealDisk())
    result["built"] = build_engine(engine, toolchain_of(options, library))
    print(canonical_text(result), end="")
    return 0
