"""Variables and targets of our SConstruct: what they mean, which go together, and their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint

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
