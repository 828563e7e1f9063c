"""Our SConstruct's side: variables, targets, what they declare, and what is shown at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import SCons.Node
import SCons.Node.Alias
import SCons.Script

from netra_build.choose.why_text import why_text
from netra_build.core.canonical_json import parse_object
from netra_build.core.disk import RealDisk
from netra_build.core.errors import EXIT_BAD_INPUT, EXIT_REFUSED, BadInput, NetraError
from netra_build.core.finished import Finished, write_manifest
from netra_build.core.nearest import nearest_hint
from netra_build.core.recording_disk import RecordingEnvironment, absolute, joined
from netra_build.core.store_place import store_place
from netra_build.core.tally import Counts, Ending
from netra_build.release.layout import CODE_OBJECTS, ENGINE
from netra_build.requests import recipe_names
from netra_build.scons.door import BUILD, Door
from netra_build.scons.live import LiveLine, can_be_redrawn
from netra_build.scons.methods import Declared, NetraUserError, library_of
from netra_build.scons.nodes import node_is_done
from netra_build.scons.restoring import keep_request, restore_request, system_looks
from netra_build.stages.tabulate import summary_text

VARIABLES = {
    "engine": "build the engine of this recipe (name or file), or of this model (JSON file)",
    "recipe": "build the code objects of this recipe (name or file; JSON: the published form)",
    "tactic": "build, prove and check this tactic; narrows a check target to it",
    "profile": "serving profile, instead of the recipe's",
    "golden_root": "folder that holds the golden code objects to copy",
    "toolchain": "folder of llvm-mc and ld.lld, instead of the one found",
    "library_root": "kernel library, instead of this repository",
    "allow_unlocked": "1: published recipes may build experiments whose lock is 64 zeros",
    "locked": "1: refuse tactics whose pins are missing or stale",
    "out": "folder of the one thing asked for",
    "version": "release: its version, X.Y.Z (default: that of this package)",
    "key": "release: file of an Ed25519 private key (PEM) to sign with",
    "oci": "release: 1: also the OCI layout, as one tar file",
    "debug": "1: also code objects with line tables, in build/debug, never in a product",
    "store": "folder of the store, instead of the user's own; 0: none",
    "seeds": "check-numerics: how many seeds of random inputs (default 50)",
    "verify": "1: trust no time stamp, read every file",
    "why": "say why this file was last made and whether it would be again; empty: what would run",
    "verbose": "1: show files, parameters and whole commands",
}
USED_WITH = {
    "profile": "engine=",
    "golden_root": "engine=",
    "seeds": "check-numerics",
    "allow_unlocked": "recipe=",
    "version": "release",
    "key": "release",
    "oci": "release",
}
"""Variables that mean something to one question only."""

NOT_RELEASED = ("tactic", "allow_unlocked", "locked", "debug")
"""Variables that a release takes no word on: what is packed is locked, and of a recipe."""

KNOWN_STATUSES = (1, 2, 3, 4, 5, 70)
MOST_SEEDS = 10_000

TARGETS = {
    "check-equivalence": "compare every tactic specialization with its golden source",
    "check-kernels": "check every tactic specialization statically",
    "check-numerics": "simulate every tactic specialization against its numeric contract",
    "report": "write one page that shows what engine= or recipe= asks for, in build/reports/",
    "release": "pack what engine= and recipe= ask for into dist/, described and provable",
}


def help_text() -> str:
    """Return what ``scons -h`` shows about this project."""
    lines = ["Netra Build", "", "Targets (none: the engines of all recipes):"]
    lines += [f"  {name:<18} {text}" for name, text in TARGETS.items()]
    lines += ["", "Variables (NAME=VALUE):"]
    lines += [f"  {name:<18} {text}" for name, text in VARIABLES.items()]
    return "\n".join([*lines, ""])


def declare(env: Any, door: Door) -> int | None:
    """Declare what the command line asks for, to be built when this returns None.

    Otherwise the exit status is returned: of a question that was answered, or of a command line
    that was refused with one printed line.
    """
    declared: Declared = env["NETRA_DECLARED"]
    environment = RecordingEnvironment(door.environment, declared.looks)
    try:
        values = read_variables(door.variables, door.targets)
        declared.verify = _flag(values, "verify")
        env["NETRA_VERBOSE"] = _flag(values, "verbose")
        env["NETRA_ROCM_PATH"] = environment.get("ROCM_PATH", "")
        env["NETRA_TOOLCHAIN"] = values.get("toolchain", "")
        place = store_place(values.get("store", ""), door.environment)
        if place is not None:
            env["NETRA_STORE"], env["NETRA_STORE_BYTES"] = str(place.root), place.max_bytes
        env["NETRA_LIBRARY_ROOT"] = values.get("library_root", "#")
        restored = restore_request(env, door) if _is_build(env) else None
        if restored is not None:
            files = f"{len(restored.outputs)} files"
            print("\n".join([*restored.said, f"netra: restored {files} from the store"]))
            return 0
        _declare_asked(env, values, door.targets)
        if "why" in values:
            declared.notes.clear()
            print(why_text(values["why"], declared.executions, declared.run_record(env)))
            return 0
    except NetraUserError as error:
        return _complain(error.args[0], error.status)
    except NetraError as error:
        return _complain(str(error), error.status)
    if can_be_redrawn(sys.stdout, door.environment.get("TERM", "")) and not env["NETRA_VERBOSE"]:
        _show_progress(env)
    return None


def _show_progress(env: Any) -> None:
    """Show one live line in place of the build lines."""
    if _is_quiet(env):
        return
    nodes = env["NETRA_DECLARED"].nodes

    def settled() -> int:
        return sum(node.get_state() == SCons.Node.up_to_date for node, _, _ in nodes)

    env["PRINT_CMD_LINE_FUNC"] = lambda *_: None
    LiveLine(sys.stdout, env["NETRA_DECLARED"].tally, settled, len(nodes)).start()


def _is_build(env: Any) -> bool:
    return not any(env.GetOption(name) for name in ("clean", "no_exec", "help"))


def _is_quiet(env: Any) -> bool:
    return any(env.GetOption(name) for name in ("clean", "no_exec", "help", "silent"))


def finish(env: Any, door: Door, has_failed: bool) -> None:
    """Print what is worth knowing after the build; if all is done, note it for the next time."""
    declared: Declared = env["NETRA_DECLARED"]
    moment_ns = time.time_ns()
    if door.is_usable and not has_failed and _is_done(door.targets or ["asked"]):
        _write_manifest(env, door, moment_ns)
    declared.finish()
    for note in declared.notes:
        print(f"netra: {note}")
    if not _is_quiet(env) and any(node.get_state() for node, _, _ in declared.nodes):
        print(closing_counts(declared).line(time.time() - SCons.Script.start_time))


def _is_done(targets: Sequence[str]) -> bool:
    nodes = [SCons.Node.Alias.default_ans.lookup(target) for target in targets]
    return all(node is not None and node_is_done(node) for node in nodes)


def _write_manifest(env: Any, door: Door, moment_ns: int) -> None:
    """Note the request as finished; nothing is noted if an output is not what was written."""
    declared: Declared = env["NETRA_DECLARED"]
    outputs = declared.confirmed_outputs()
    if outputs is None:
        return
    finished = Finished(
        looks=joined(declared.looks, system_looks(declared)),
        started_ns=declared.looks.started_ns,
        moment_ns=moment_ns,
        base=absolute(".") + "/",
        outputs=outputs,
        products={folder: names for folder, _, names in declared.traced_products()},
        is_shared=not declared.has_path_tools,
        said=[*declared.said, *(f"netra: {note}" for note in declared.notes)],
    )
    try:
        is_whole = not write_manifest(RealDisk(), BUILD, door.request, finished)
        if is_whole and (declared.tally.count(Ending.RAN) or declared.tally.count(Ending.RESTORED)):
            keep_request(env, door, finished)
    except NetraError:
        return  # a disk that is full or read-only: the next run decides without it


def read_variables(arguments: Mapping[str, str], targets: Sequence[str]) -> dict[str, str]:
    """Return the variables of the command line.

    Refused with ``BadInput``: an unknown name, an empty value, and a variable that what is asked
    for does not use.
    """
    for name, value in arguments.items():
        if name not in VARIABLES:
            hint = nearest_hint(name, VARIABLES)
            raise BadInput(f'unknown variable "{name}"', location="scons", hint=hint)
        if not value and name != "why":
            raise BadInput(f"{name}= has no value", location="scons")
    asked = [name for name in ("engine", "recipe", "tactic") if name in arguments]
    if "out" in arguments and len(asked) != 1:
        raise BadInput(
            "out= needs exactly one of engine=, recipe= and tactic=",
            location="scons",
            expected=1,
            got=len(asked),
        )
    for name, needed in USED_WITH.items():
        if name in arguments and needed not in (*targets, *(f"{one}=" for one in asked)):
            raise BadInput(f"{name}= is used with {needed} only", location="scons")
    return dict(arguments)


def _refuse_unknown(targets: Sequence[str]) -> None:
    """Refuse a word that is no target of ours and no path; SCons would only call it a file."""
    for target in targets:
        if target in TARGETS or target == "asked" or any(mark in target for mark in "/.#"):
            continue
        if not RealDisk().exists(Path(target)):
            hint = nearest_hint(target, TARGETS)
            raise BadInput(f'unknown target "{target}"', location="scons", hint=hint)


def _declare_asked(env: Any, values: Mapping[str, str], targets: Sequence[str]) -> None:
    _refuse_unknown(targets)
    packed = [
        env.Alias(target, declare_target(env, values))
        for target, declare_target in (("release", _releases), ("report", _reports))
        if target in targets
    ]
    if packed:
        _declare_checks(env, values, targets, {})
        env.Default(env.Alias("asked", packed))
        return
    shared = {"locked": _flag(values, "locked")}
    product: dict[str, Any] = {"out": values["out"]} if "out" in values else {}
    if _flag(values, "debug"):
        product["debug"] = True
    engine = {key: values[key] for key in ("profile", "golden_root") if key in values}
    checks = [target for target in targets if target in TARGETS]
    asked: list[Any] = []
    if "engine" in values:
        asked += env.NetraEngine(values["engine"], **engine, **shared, **product)
    if "recipe" in values:
        unlocked = {"allow_unlocked": _flag(values, "allow_unlocked")}
        asked += env.NetraRecipe(values["recipe"], **unlocked, **shared, **product)
    if "tactic" in values and ("asked" in targets or not checks):
        asked += env.NetraTactic(values["tactic"], **shared, **product)
    _declare_checks(env, values, checks, shared)
    if not asked and not targets:
        for name in recipe_names(library_of(env)):
            asked += env.NetraEngine(name, **shared, **product)
    if asked:
        env.Default(env.Alias("asked", asked))


def _releases(env: Any, values: Mapping[str, str]) -> list[Any]:
    """Declare the packages of what is asked for; return their nodes."""
    for name in NOT_RELEASED:
        if name in values:
            raise BadInput(f"{name}= is not used with release", location="scons")
    shared: dict[str, Any] = {k: values[k] for k in ("version", "key", "out") if k in values}
    shared["oci"] = _flag(values, "oci")
    engine = {key: values[key] for key in ("profile", "golden_root") if key in values}
    asked: list[Any] = []
    if "engine" in values:
        asked += env.NetraRelease(values["engine"], kind=ENGINE, **engine, **shared)
    if "recipe" in values:
        asked += env.NetraRelease(values["recipe"], kind=CODE_OBJECTS, **shared)
    if not asked:
        raise BadInput("release needs engine= or recipe=", location="scons")
    return asked


def _reports(env: Any, values: Mapping[str, str]) -> list[Any]:
    """Declare the pages of what is asked for, of all engines without a word; return their nodes."""
    for name in ("tactic", "allow_unlocked"):
        if name in values:
            raise BadInput(f"{name}= is not used with report", location="scons")
    shared: dict[str, Any] = {"out": values["out"]} if "out" in values else {}
    shared["locked"] = _flag(values, "locked")
    engine = {key: values[key] for key in ("profile", "golden_root") if key in values}
    asked: list[Any] = []
    if "engine" in values:
        asked += env.NetraReport(values["engine"], kind=ENGINE, **engine, **shared)
    if "recipe" in values:
        asked += env.NetraReport(values["recipe"], kind=CODE_OBJECTS, **shared)
    if not asked:
        for name in recipe_names(library_of(env)):
            asked += env.NetraReport(name, kind=ENGINE, **shared)
    return asked


def _declare_checks(
    env: Any, values: Mapping[str, str], checks: Sequence[str], shared: Mapping[str, bool]
) -> None:
    """Declare the check targets; ``tactic=`` narrows them to one tactic."""
    options = {**shared, **({"tactic": values["tactic"]} if "tactic" in values else {})}
    if "check-equivalence" in checks:
        env.Alias("check-equivalence", _equivalence(env, options))
    if "check-kernels" in checks:
        env.Alias("check-kernels", env.NetraChecks(**options))
    if "check-numerics" in checks:
        env.Alias("check-numerics", env.NetraNumerics(_seeds(values), **options))


def _equivalence(env: Any, options: Mapping[str, Any]) -> Any:
    """Return the node that shows the table each time it is asked for, and fails on a difference."""
    report = env.NetraEquivalence(**options)[-1]
    shown = env.Command("#build/equivalence-shown", report, env.Action(_show_table, None))
    env.AlwaysBuild(shown)
    return shown


def _show_table(target: list[Any], source: list[Any], env: Any) -> int:
    path = Path(str(source[0]))
    summary = parse_object(RealDisk().read_bytes(path), str(path))
    shown = summary_text(summary)
    env["NETRA_DECLARED"].said.append(shown)
    print(shown)
    return EXIT_REFUSED if summary["differing"] else 0


def exit_status(failure: Any) -> int:
    """Return the exit code of a failed node: ours, or 2 for what SCons itself ran into."""
    return failure.status if failure.status in KNOWN_STATUSES else EXIT_BAD_INPUT


def closing_counts(declared: Declared) -> Counts:
    """Return how every action ended that SCons has come to."""
    settled = (
        (execution.folders.names(action.outputs), execution.folders.names(action.inputs))
        for node, action, execution in declared.nodes
        if node.get_state() == SCons.Node.up_to_date
    )
    return declared.tally.counts(settled)


def _flag(values: Mapping[str, str], name: str) -> bool:
    text = values.get(name, "0")
    if text not in ("0", "1"):
        raise BadInput(f"{name}= must be 0 or 1", location="scons", expected="0 or 1", got=text)
    return text == "1"


def _seeds(values: Mapping[str, str]) -> list[int]:
    text = values.get("seeds", "50")
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= MOST_SEEDS):
        raise BadInput(
            "seeds= is not usable", location="scons", expected=f"1 to {MOST_SEEDS}", got=text
        )
    return list(range(1, int(text) + 1))


def _complain(message: str, status: int) -> int:
    print(f"netra: {message}", file=sys.stderr)
    return status
