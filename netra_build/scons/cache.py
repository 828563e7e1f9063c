"""SCons's side of the store: nodes of ours are restored by action digest, never by SCons's key.

SCons asks a ``CacheDir`` object for each target before it runs an action. The class is named in
the overrides of our nodes, so it serves them alone, and no option of SCons is touched.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import SCons.Action
import SCons.CacheDir
import SCons.Node.FS
import SCons.Util

from netra_build.core.errors import NetraError
from netra_build.core.execute import ActionRun, prepare_run
from netra_build.core.store import Store

LABEL = "STORE"


class StoreCache(SCons.CacheDir.CacheDir):  # type: ignore[misc]
    """Restores the targets of our nodes from the store of their environment.

    An action's first target decides for all; its attributes hold what was read for it until it
    is made. The methods are called from several threads, each action from one of them.
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
        first = node.get_executor().get_all_targets()[0]
        if node is first:
            first.attributes.netra_restored = self._restore(first)
        return bool(first.attributes.__dict__.get("netra_restored"))

    def push(self, node: Any) -> None:
        """Do nothing: ``make`` has kept the outputs, before anybody could alter the files."""

    def push_if_forced(self, node: Any) -> None:
        """Do nothing, as ``push``."""

    def _restore(self, first: Any) -> bool:
        env = first.get_build_env()
        is_asked = SCons.Action.execute_actions and env["NETRA_ACTION"].stage.is_kept
        store = _store(env) if is_asked else None
        if store is None:
            return False
        try:
            run = _prepare(first, env)
            digest = run.digest()
            written = run.restore(store, digest)
        except NetraError:
            return False  # the action meets it again, and reports it
        if written is None:
            first.attributes.netra_run = run, digest
            return False
        if SCons.Action.print_actions:
            show = env.get("PRINT_CMD_LINE_FUNC", _print_line)
            show(run.action.line(LABEL), [first], [], env)
        _note(env, run, written, first.get_executor().get_all_sources())
        return True


def _print_line(line: str, target: list[Any], source: list[Any], env: Any) -> None:
    sys.stdout.write(line + "\n")


def make(first: Any, sources: Sequence[Any], env: Any) -> None:
    """Run the action of a node, keep its outputs in the store, and note what was written.

    Raises the action's ``NetraError``.
    """
    run, digest = first.attributes.__dict__.pop("netra_run", (None, ""))
    if run is None:
        run = _prepare(first, env)
    store = _store(env) if digest and not SCons.CacheDir.cache_readonly else None
    _note(env, run, run.make(store, digest), sources)


def _prepare(first: Any, env: Any) -> ActionRun:
    """Read the inputs of a node's action."""
    is_always = first.always_build and not hasattr(first.attributes, "netra_altered")
    return prepare_run(env["NETRA_ACTION"], env["NETRA_EXECUTION"], is_always=is_always)


def _store(env: Any) -> Store | None:
    """Return the store of an environment, None without one and with ``--cache-disable``."""
    return env["NETRA_DECLARED"].store(env) if SCons.CacheDir.cache_enabled else None


def _note(env: Any, run: ActionRun, written: Mapping[str, str], sources: Sequence[Any]) -> None:
    """Remember what was written, unless an input was edited after SCons had looked at it.

    SCons would then hold the outputs for made of the input it saw, and never look again when the
    edit is taken back.
    """
    record = env["NETRA_DECLARED"].record(env)
    if _is_as_decided(run, sources):
        record.note(written)
    else:
        record.forget(written)


def _is_as_decided(run: ActionRun, sources: Sequence[Any]) -> bool:
    """Tell whether the bytes that were read are those that SCons decided by."""
    nodes = dict.fromkeys(node for node in sources if isinstance(node, SCons.Node.FS.File))
    data_by_path = {run.path(role): data for role, data in run.inputs.items()}
    pairs = zip(nodes, data_by_path.values(), strict=False)
    return len(nodes) == len(data_by_path) and all(
        SCons.Util.hash_signature(data) == node.get_csig() for node, data in pairs
    )
