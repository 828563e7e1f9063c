"""Actions as SCons nodes: one builder node per action, content signatures, our errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import SCons.Builder
import SCons.Errors
import SCons.Node
import SCons.Node.FS
import SCons.Util
from SCons.Action import Action as SConsAction
from SCons.Node.Python import ValueWithMemo

from netra_build.core.canonical_json import Json, canonical_text
from netra_build.core.code_digest import code_digest
from netra_build.core.digests import blake3_hex
from netra_build.core.errors import NetraError
from netra_build.core.execute import Execution
from netra_build.core.graph import Action, Place, Root
from netra_build.core.recording_disk import absolute
from netra_build.scons.cache import StoreCache, make

LONGEST_SHOWN = 400
"""Characters of a parameter that an explanation still shows."""


def content_changed(
    dependency: Any, target: Any, previous: Any, repository_node: Any = None
) -> bool:
    """Decide by the bytes of ``dependency`` as they are now.

    SCons reuses a stored signature for a file that is older than two days and has the same
    whole-second time stamp; the file is hashed here instead, once a run.
    """
    is_file = isinstance(dependency, SCons.Node.FS.File)
    if is_file and "netra_hashed" not in dependency.attributes.__dict__:
        dependency.get_ninfo().csig = SCons.Util.hash_signature(_contents(dependency))
        dependency.attributes.netra_hashed = True
    try:
        return bool(dependency.get_csig() != previous.csig)
    except AttributeError:
        return True


def _contents(node: Any) -> bytes:
    contents: bytes = node.get_contents() if node.exists() else b""
    return contents


def node_is_done(node: Any) -> bool:
    """Tell whether a node was found up to date or was made in this run."""
    return node.get_state() in (SCons.Node.executed, SCons.Node.up_to_date)


def declare_graph(env: Any, execution: Execution) -> list[Any]:
    """Declare a node for every action of a graph and return the nodes of its products.

    An action that was declared already, with the same files, is taken as it is.
    """
    declared = env["NETRA_DECLARED"]
    nodes: list[Any] = []
    cleared = _places_to_clear(execution)
    for action in execution.graph.actions:
        paths = tuple(str(execution.folders.path(place)) for _, place in action.outputs)
        known = declared.action_by_paths.setdefault(paths, action)
        if known is not action and known != action:
            raise ValueError(f"{paths[0]} is made in two ways")
        if paths[0] not in declared.node_by_path:
            must_run = any(place in cleared for _, place in action.outputs)
            made = _declare_action(env, action, paths, execution, must_run)
            declared.nodes.append((made[0], action, execution))
            declared.node_by_path.update(zip(paths, made, strict=True))
        nodes += [declared.node_by_path[path] for path in paths]
    return nodes


def _declare_action(
    env: Any, action: Action, paths: tuple[str, ...], execution: Execution, must_run: bool
) -> list[Any]:
    declared, folders = env["NETRA_DECLARED"], execution.folders
    for _, place in (*action.inputs, *action.hints):
        if place not in execution.graph.producers:
            declared.looks.saw_file(absolute(folders.path(place)))
    known = declared.node_by_path
    inputs = [str(folders.path(place)) for _, place in action.inputs]
    sources = [known.get(path) or env.File(path) for path in inputs]
    made: list[Any] = _BUILDER(
        env,
        [env.File(path) for path in paths],
        [*sources, *_values(env, action)],
        NETRA_ACTION=action,
        NETRA_EXECUTION=execution,
        CACHEDIR_CLASS=StoreCache,  # for these nodes alone; a cache of the user's keeps its own
    )
    is_altered = declared.record(env).is_altered(paths)
    if is_altered or must_run:
        env.AlwaysBuild(made)  # SCons asks only whether a target exists
    if is_altered:
        made[0].attributes.netra_altered = True
    env.Precious(made)  # else SCons removes a file first, and a failure leaves a product without it
    return made


def _places_to_clear(execution: Execution) -> frozenset[Place]:
    """Return what is to be written anew because a product's folder holds what is not of it.

    What is too much goes when the first file is written: the seal is enough. A link may stand in
    for a folder of the product, and then every file of it is written.
    """
    product, seal = execution.product, execution.graph.seal
    extra = product.extra_names() if product is not None else ()
    if product is None or seal is None or not extra:
        return frozenset()
    if not any((product.folder / name).is_symlink() for name in extra):
        return frozenset({seal})
    return frozenset(place for place in execution.graph.producers if place.root is Root.OUT)


def _values(env: Any, action: Action) -> list[Any]:
    """Return one named value per parameter, the stage's code digest and the tool identity.

    ``--debug=explain`` then names the parameter that changed, with the old and new value.
    """
    named = dict(_named_parameters(action.parameters))
    named[f"code of stage {action.stage.name}"] = code_digest(action.stage.module)
    named["roles"] = _shown(", ".join(f"{role}={place}" for role, place in action.inputs))
    if action.stage.uses_tools:
        for name, value in env["NETRA_DECLARED"].tool_identity.items():
            named[f"tool {name}"] = value
    return [ValueWithMemo(f"{name}: {text}", name=name) for name, text in named.items()]


def _named_parameters(parameters: Iterable[tuple[str, Json]]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each parameter; one that is an object gives one for each key."""
    for name, value in parameters:
        parts = value.items() if isinstance(value, dict) and value else [("", value)]
        for key, part in parts:
            dotted = f"{name}.{key}" if key else name
            yield f"parameter {dotted}", _shown(canonical_text(part).rstrip())


def _shown(text: str) -> str:
    """Return a text as it is, or the digest of a long one, which nobody would read."""
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{len(text)} characters, blake3 {blake3_hex(text.encode())}"


def _build(target: list[Any], source: list[Any], env: Any) -> int:
    """Run the action behind a node; a failure becomes one ``BuildError`` with our message."""
    try:
        make(target[0], source, env)
    except NetraError as error:
        raise SCons.Errors.BuildError(
            node=target, errstr=str(error), status=error.status, exitstatus=2
        ) from None
    return 0


def _build_line(target: list[Any], source: list[Any], env: Any) -> str:
    action: Action = env["NETRA_ACTION"]
    if not env.get("NETRA_VERBOSE"):
        return action.line()
    return "\n".join([action.line(), *_detail(action, env["NETRA_EXECUTION"])])


def _detail(action: Action, execution: Execution) -> list[str]:
    """Return the lines of ``verbose=1``: files, parameters and the tool's commands."""
    folders = execution.folders
    lines = [f"    {role} <- {folders.path(place)}" for role, place in action.inputs]
    lines += [f"    {role} -> {folders.path(place)}" for role, place in action.outputs]
    lines += [f"    {name} = {canonical_text(v).rstrip()}" for name, v in action.parameters]
    if action.stage.uses_tools and (command := execution.tools.command(action.stage.name)):
        lines.append(f"    {command}")
    return lines


_BUILDER = SCons.Builder.Builder(action=SConsAction(_build, _build_line))
"""One for all actions: SCons takes the signature of its function apart once, not for each."""
