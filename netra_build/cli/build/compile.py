"""``netra compile``: a model description and a profile become an engine directory."""

from __future__ import annotations

import argparse
import sys

from netra_build.cli.options import LIBRARY_AROUND, at_path, command, flag, option, say_kept
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

OWN_FOLDERS = ("generated/", "hsaco/", "metadata/")


@command(
    "turn a model description and a profile into an engine directory",
    at_path("--model", "model description (JSON)", required=True),
    option("--target", required=True, help=f'only "{TARGET}"'),
    option("--profile", required=True, help="name of a shape profile"),
    at_path("--output", "engine directory to write", required=True),
    option("--checkpoint-hash", help="SHA-256 of the checkpoint, recorded"),
    at_path("--golden-artifact-root", "folder of golden code objects"),
    flag("--allow-experimental", "let experiments be selected"),
    option("--placement", choices=PLACEMENTS, default="first_use", help="how buffers are placed"),
    flag("--strict", "refuse what the published compiler lets through"),
    flag("--replace", "remove the sources of another model's engine too"),
    LIBRARY_AROUND,
)
@collector_paused()
def compile_command(options: argparse.Namespace) -> int:
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
