"""SCons's side of the store: nodes of ours are restored by action digest, never by SCons's key.

SCons asks a ``CacheDir`` object for each target before it runs an action. The class is named in
the overrides of our nodes, so it serves them alone, and no option of SCons is touched.
"""

from __future__ import annotations

import sys
from typing import Any

import SCons.Action
import SCons.CacheDir

from netra_build.core.errors import NetraError
from netra_build.core.store import Store
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
        if node is step.node:
            step.is_restored = self._restore(step)
        return step.is_restored

    def push(self, node: Any) -> None:
        """Do nothing: ``make`` has kept the outputs, before anybody could alter the files."""

    def push_if_forced(self, node: Any) -> None:
        """Do nothing, as ``push``."""

    def _restore(self, step: Step) -> bool:
        env = step.env
        is_asked = SCons.Action.execute_actions and step.action.stage.is_kept
        store = _store(env) if is_asked else None
        if store is None:
            return False
        try:
            run = step.prepare_run()
            decision = step.decided_for(run)
            written = run.restore(store, decision.digest)
        except NetraError:
            return False  # the action meets it again, and reports it
        if written is None:
            step.prepared = run
            return False
        if SCons.Action.print_actions:
            show = env.get("PRINT_CMD_LINE_FUNC", _print_line)
            show(run.action.line(LABEL), [step.node], [], env)
        step.standing.note(written, step.output_paths, step.noted_digest(decision))
        return True


def _print_line(line: str, target: list[Any], source: list[Any], env: Any) -> None:
    sys.stdout.write(line + "\n")


def make(step: Step) -> None:
    """Run the action of a step, keep its outputs in the store, and note what was written.

    Raises the action's ``NetraError``.
    """
    run, step.prepared = step.prepared or step.prepare_run(), None
    decision = step.decided_for(run)
    is_kept = run.action.stage.is_kept and not SCons.CacheDir.cache_readonly
    written = run.make(_store(step.env) if is_kept else None, decision.digest)
    noted = step.noted_digest(decision) if run.is_steady(decision.digest) else ""
    step.standing.note(written, step.output_paths, noted)


def _store(env: Any) -> Store | None:
    """Return the store of an environment, None without one and with ``--cache-disable``."""
    return env["NETRA_DECLARED"].store(env) if SCons.CacheDir.cache_enabled else None
