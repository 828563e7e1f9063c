"""Plans of models, as ``netra compile`` makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from netra_build.core.disk import RealDisk
from netra_build.formats.library import Library, open_library
from netra_build.formats.models.model import load_model, read_model_bytes
from netra_build.formats.plan import EnginePlan
from netra_build.plan.plan import PlanOptions, plan_engine


def plan_file(model: Path, profile: str, library_root: Path, **options: Any) -> EnginePlan:
    """Plan the model of one file."""
    library = open_library(RealDisk(), library_root, ())
    found = load_model(model, library.disk, library)
    return plan_engine(library, found, profile, PlanOptions(**options))


def plan_bytes(library_root: Path, data: bytes, profile: str, **options: Any) -> EnginePlan:
    """Plan one model of the given bytes, called ``m.json``, whatever the library's pins."""
    library = Library(library_root, RealDisk())
    model = read_model_bytes(data, "m.json", library)
    return plan_engine(library, model, profile, PlanOptions(derive_pins=True, **options))
