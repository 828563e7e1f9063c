"""The up-to-date check before our SConstruct: take the lock, tell whether there is work to do.

It is imported before the rest of the package, which takes longer to load than to decide.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import SCons.Script.Main

from netra_build.build.freshness import up_to_date
from netra_build.build.run.build_lock import take_lock
from netra_build.core.errors import NetraError

BUILD = "build"
HARMLESS_OPTIONS = {"num_jobs", "silent", "no_progress", "keep_going"}
"""Options that change neither what is made nor what is shown of it."""

DERIVED_OPTIONS = ("debug_explain", "debug_includes")
"""Options that SCons sets itself in each run."""

NAMED_TARGETS = ("product", "check-equivalence", "check-kernels", "check-numerics")
"""Targets whose results are known by name; any other word leads past the check."""

PASSING_FLAGS = ("verbose", "verify")
PASSING_VARIABLES = (*PASSING_FLAGS, "store")
"""Variables that do not change what is made."""


class UpToDateCheck:
    """One command line, and whether a manifest may answer it or be written for it."""

    def __init__(
        self, variables: Mapping[str, str], targets: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        self.variables = dict(variables)
        self.targets = list(targets)
        self.environment = environment
        self.verify = variables.get("verify") == "1"
        counted = {name: text for name, text in variables.items() if name not in PASSING_VARIABLES}
        self.request = up_to_date.scons_request(str(Path.cwd()), counted, targets)
        is_known = all(target in NAMED_TARGETS for target in targets)
        self.is_usable = is_known and _are_sound(variables) and _is_plain()
        self.noted: Mapping[str, Any] = {}
        """What the manifest of the same request says of its inputs, if something differs."""

    def has_nothing_to_do(self) -> bool:
        """Take the build folder's lock; tell, and say, whether all is as it was left.

        If not, the manifest is removed: from here on outputs are made. A folder that cannot be
        locked ends the run with one line.
        """
        try:
            lock_build(BUILD)
            if self.is_usable and self._is_as_it_was():
                return True
            up_to_date.forget(BUILD, self.request)
        except NetraError as error:
            _say(str(error))
            sys.exit(error.status)
        return False

    def _is_as_it_was(self) -> bool:
        verdict = up_to_date.judge(BUILD, self.request, self.environment, verify=self.verify)
        self.noted = verdict.noted
        if verdict.reason:
            return False
        is_silent = SCons.Script.Main.OptionsParser.values.silent
        for line in (*verdict.said, *([] if is_silent else [f"netra: {verdict.line()}"])):
            print(line)
        return True


def lock_build(build: str) -> None:
    """Take the lock of a build folder for this run of SCons, as ``take_lock`` does."""
    take_lock(build, " ".join(["scons", *sys.argv[1:]]), _say)


def _say(line: str) -> None:
    print(f"netra: {line}", file=sys.stderr)


def _are_sound(variables: Mapping[str, str]) -> bool:
    """Tell whether the values that pass would not be refused: a manifest must not answer those."""
    are_flags = all(variables.get(name, "0") in ("0", "1") for name in PASSING_FLAGS)
    return are_flags and all(text or name == "why" for name, text in variables.items())


def _is_plain() -> bool:
    """Tell whether the command line holds no option that the manifest does not cover."""
    parser = SCons.Script.Main.OptionsParser
    given = {name for name, value in vars(parser.values).items() if not name.startswith("__")}
    given -= {name for name in DERIVED_OPTIONS if getattr(parser.values, name) is False}
    # Options that may be given more than once are appended to the list that is their default.
    defaults = vars(vars(parser.values)["__defaults__"])
    given |= {name for name, value in defaults.items() if isinstance(value, list) and value}
    return given <= HARMLESS_OPTIONS and not any(word[:1] == "-" for word in parser.largs)
