"""``netra compile``: a model description and a profile become an engine directory."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from netra_build.cli.options import add_library_root, say_kept
from netra_build.cli.places import library_of, refuse_other_target
from netra_build.core.canonical_json import canonical_text, parse_object
from netra_build.core.disk import RealDisk
from netra_build.core.folders import publish_folder
from netra_build.core.processes import collector_paused
from netra_build.formats.models.model import load_model
from netra_build.formats.vocabulary import PLACEMENTS, TARGET
from netra_build.inspect.validate.engine_folder import former_files, kept_sources
from netra_build.plan.documents import engine_files
from netra_build.plan.golden import read_golden, with_golden
from netra_build.plan.plan import PlanOptions, plan_engine

HELP = "turn a model description and a profile into an engine directory"

OWN_FOLDERS = ("generated/", "hsaco/", "metadata/")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--model", type=Path, required=True, help="model description (JSON)")
    parser.add_argument("--target", required=True, help=f'only "{TARGET}"')
    parser.add_argument("--profile", required=True, help="name of a shape profile")
    parser.add_argument("--output", type=Path, required=True, help="engine directory to write")
    parser.add_argument("--checkpoint-hash", help="SHA-256 of the checkpoint, recorded")
    parser.add_argument("--golden-artifact-root", type=Path, help="folder of golden code objects")
    parser.add_argument(
        "--allow-experimental", action="store_true", help="let experiments be selected"
    )
    parser.add_argument(
        "--placement", choices=PLACEMENTS, default="first_use", help="how buffers are placed"
    )
    parser.add_argument(
        "--strict", action="store_true", help="refuse what the published compiler lets through"
    )
    parser.add_argument(
        "--replace", action="store_true", help="remove the sources of another model's engine too"
    )
    add_library_root(parser, "else searched around the input")


@collector_paused()
def run(options: argparse.Namespace) -> int:
    """Compile and print the engine's id as one JSON line."""
    refuse_other_target(options)
    disk, root = RealDisk(), options.golden_artifact_root
    library = library_of(options, beside=options.model)
    choices = PlanOptions(
        allow_experimental=options.allow_experimental,
        checkpoint_hash=options.checkpoint_hash,
        strict=options.strict,
        placement=options.placement,
    )
    plan = plan_engine(library, load_model(options.model, disk, library), options.profile, choices)
    if root is not None:
        plan = with_golden(plan, read_golden(plan, root, disk, strict=False))
    files = engine_files(plan)
    for problem in plan.problems:
        print(f"netra: warning: {problem.line()}", file=sys.stderr)
    kept = {} if options.replace else kept_sources(options.output, disk, files)
    former = former_files(options.output, disk)
    publish_folder(
        options.output, files | kept, ("generated",), lambda name: _is_ours(name, former)
    )
    if kept:
        say_kept(options.output, tuple(kept))
    engine = parse_object(files["engine.json"], "engine.json")
    result = {
        "engine": str(options.output),
        "engine_id": engine["engine_id"],
        "validation_status": engine["validation_status"],
    }
    print(canonical_text(result), end="")
    return 0


def _is_ours(name: str, former: frozenset[str]) -> bool:
    """Tell whether an entry of the output folder may be replaced; empty folders of ours may."""
    return name in former or (name.endswith("/") and name.startswith(OWN_FOLDERS))
