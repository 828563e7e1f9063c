"""SCons's side of the store: nodes of ours are restored by action digest, never by SCons's key.

SCons asks a ``CacheDir`` object for each target before it runs an action. The class is named in
the overrides of our nodes, so it serves them alone, and no option of SCons is touched.
"""

from __future__ import annotations

import sys
from typing import Any

import SCons.Action
import SCons.CacheDir

from netra_build.scons.carrying import restore
from netra_build.scons.steps import Step

LABEL = "STORE"


class StoreCache(SCons.CacheDir.CacheDir):  # type: ignore[misc]
    """Restores the targets of our nodes from the store of their environment.

    An action's first target decides for all; its step holds what was read for it until it is
    made. The methods are called from several threads, each action from one of them.
    """

    def __init__(self, path: str | None) -> None:
        """Open nothing: ``path`` is that of a cache of SCons's, which is not for our nodes."""
        super().__init__(None)

    def is_enabled(self) -> bool:
        """Follow ``--cache-disable``."""
        return bool(SCons.CacheDir.cache_enabled)

    def cachepath(self, node: Any) -> tuple[None, None]:
        """Return no path: SCons's key is not used."""
        return None, None

    def retrieve(self, node: Any) -> bool:
        """Restore the outputs of the node's action; False when it has to run."""
        step: Step = node.executor
        if node is step.node and SCons.Action.execute_actions:
            step.is_restored = restore(step)
            if step.is_restored and SCons.Action.print_actions:
                show = step.env.get("PRINT_CMD_LINE_FUNC", _print_line)
                show(step.action.line(LABEL), [node], [], step.env)
        return step.is_restored

    def push(self, node: Any) -> None:
        """Do nothing: ``make`` has kept the outputs, before anybody could alter the files."""

    def push_if_forced(self, node: Any) -> None:
        """Do nothing, as ``push``."""


def _print_line(line: str, target: list[Any], source: list[Any], env: Any) -> None:
    sys.stdout.write(line + "\n")
