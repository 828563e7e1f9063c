"""The command line of our SConstruct: variables, targets, and what they ask for as nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netra_build.core.canonical_json import parse_object
from netra_build.core.disk import RealDisk
from netra_build.core.errors import EXIT_REFUSED, BadInput, nearest_hint
from netra_build.formats.vocabulary import CODE_OBJECTS, ENGINE
from netra_build.requests import recipe_names
from netra_build.scons.steps import last_files

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
    "strict": "1: refuse what is only a warning for published recipes and models",
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
MOST_SEEDS = 10_000
TARGETS = {
    "check-equivalence": "compare every tactic specialization with its golden source",
    "check-kernels": "check every tactic specialization statically, or a published recipe= of JSON",
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


def flag(values: Mapping[str, str], name: str) -> bool:
    """Return a variable that is 0 or 1, False without it; ``BadInput`` for anything else."""
    text = values.get(name, "0")
    if text not in ("0", "1"):
        raise BadInput(f"{name}= must be 0 or 1", location="scons", expected="0 or 1", got=text)
    return text == "1"


def seeds(values: Mapping[str, str]) -> list[int]:
    """Return the seeds that ``seeds=`` asks for; ``BadInput`` for what is no count of them."""
    text = values.get("seeds", "50")
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= MOST_SEEDS):
        raise BadInput(
            "seeds= is not usable", location="scons", expected=f"1 to {MOST_SEEDS}", got=text
        )
    return list(range(1, int(text) + 1))


NOT_USED_WITH = {
    "release": ("tactic", "allow_unlocked", "locked", "debug", "strict"),
    "report": ("tactic", "allow_unlocked", "strict"),
}
"""Variables that mean nothing to a target: what is packed is locked, and of a recipe."""


def _refuse_unknown(targets: Sequence[str]) -> None:
    """Refuse a word that is no target of ours and no path; SCons would only call it a file."""
    for target in targets:
        if target in TARGETS or target == "product" or any(mark in target for mark in "/.#"):
            continue
        if not RealDisk().exists(Path(target)):
            hint = nearest_hint(target, TARGETS)
            raise BadInput(f'unknown target "{target}"', location="scons", hint=hint)


def declare_asked(env: Any, values: Mapping[str, str], targets: Sequence[str]) -> None:
    """Declare all that variables and targets ask for; it becomes what is built by default.

    Refused with ``BadInput``: unknown targets, and variables that do not go with a target.
    """
    _refuse_unknown(targets)
    packed = [
        env.Alias(target, _packed(env, values, target))
        for target in NOT_USED_WITH
        if target in targets
    ]
    if packed:
        _declare_checks(env, values, targets, {})
        env.Default(env.Alias("product", packed))
        return
    shared = {"locked": flag(values, "locked")}
    product: dict[str, Any] = {**_given(values, "out"), **shared}
    if flag(values, "debug"):
        product["debug"] = True
    engine = _given(values, "profile", "golden_root")
    objects = {**product, "strict": True} if flag(values, "strict") else product
    checks = [target for target in targets if target in TARGETS]
    asked: list[Any] = []
    if "engine" in values:
        asked += last_files(env.NetraEngine(values["engine"], **engine, **objects))
    if "recipe" in values:
        unlocked = {"allow_unlocked": flag(values, "allow_unlocked")}
        asked += last_files(env.NetraRecipe(values["recipe"], **unlocked, **objects))
    if "tactic" in values and ("product" in targets or not checks):
        asked += last_files(env.NetraTactic(values["tactic"], **product))
    _declare_checks(env, values, checks, shared)
    if not asked and not targets:
        for name in recipe_names(env["NETRA_CONTEXT"].library(env)):
            asked += last_files(env.NetraEngine(name, **product))
    if asked:
        env.Default(env.Alias("product", asked))


def _packed(env: Any, values: Mapping[str, str], target: str) -> list[Any]:
    """Declare the packages or the pages of what is asked for; return their nodes.

    Without a word there is a page of every engine, but no package.
    """
    for name in NOT_USED_WITH[target]:
        if name in values:
            raise BadInput(f"{name}= is not used with {target}", location="scons")
    asked: list[Any] = []
    if target == "release":
        declare = env.NetraRelease
        shared = {**_given(values, "version", "key", "out"), "oci": flag(values, "oci")}
    else:
        declare = env.NetraReport
        shared = {**_given(values, "out"), "locked": flag(values, "locked")}
    if "engine" in values:
        engine = _given(values, "profile", "golden_root")
        asked += declare(values["engine"], kind=ENGINE, **engine, **shared)
    if "recipe" in values:
        asked += declare(values["recipe"], kind=CODE_OBJECTS, **shared)
    if not asked and target == "release":
        raise BadInput("release needs engine= or recipe=", location="scons")
    names = [] if asked else recipe_names(env["NETRA_CONTEXT"].library(env))
    return asked + [node for name in names for node in declare(name, kind=ENGINE, **shared)]


def _given(values: Mapping[str, str], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _declare_checks(
    env: Any, values: Mapping[str, str], checks: Sequence[str], shared: Mapping[str, bool]
) -> None:
    """Declare the check targets; ``tactic=`` narrows them to one tactic."""
    options = {**shared, **_given(values, "tactic")}
    if "check-equivalence" in checks:
        env.Alias("check-equivalence", _equivalence(env, options))
    if "check-kernels" in checks:
        checked = dict(options)
        if values.get("recipe", "").endswith(".json"):
            flags = {name: flag(values, name) for name in ("allow_unlocked", "strict")}
            checked |= {"deployment": values["recipe"], **flags}
        env.Alias("check-kernels", env.NetraChecks(**checked))
    if "check-numerics" in checks:
        env.Alias("check-numerics", env.NetraNumerics(seeds(values), **options))


def _equivalence(env: Any, options: Mapping[str, Any]) -> Any:
    """Return the node that shows the table each time it is asked for, and fails on a difference."""
    report = env.NetraEquivalence(**options)[-1]
    shown = env.Command("#build/equivalence-shown", report, env.Action(_show_table, None))
    env.AlwaysBuild(shown)
    return shown


def _show_table(target: list[Any], source: list[Any], env: Any) -> int:
    from netra_build.stages.tabulate import summary_text

    path = Path(str(source[0]))
    summary = parse_object(RealDisk().read_bytes(path), str(path))
    shown = summary_text(summary)
    env["NETRA_CONTEXT"].said.append(shown)
    print(shown)
    return EXIT_REFUSED if summary["differing"] else 0
