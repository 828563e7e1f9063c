"""Actions as SCons nodes: one builder node per action, content signatures, our errors."""

from __future__ import annotations

from typing import Any

import SCons.Builder
import SCons.Errors
import SCons.Node
import SCons.Node.FS
import SCons.Util
from SCons.Action import Action as SConsAction

from netra_build.build.freshness.input_trace import absolute
from netra_build.build.graph.actions import Action, Paths, Place, Root
from netra_build.build.run.execution import Execution
from netra_build.core.canonical_json import canonical_text
from netra_build.core.errors import BadInput, NetraError
from netra_build.scons.steps import Step, StepFile


def content_changed(
    dependency: Any, target: Any, previous: Any, repository_node: Any = None
) -> bool:
    """Decide by the bytes of ``dependency`` as they are now.

    SCons reuses a stored signature for a file that is older than two days and has the same
    whole-second time stamp; the file is hashed here instead, once a run.
    """
    is_plain = isinstance(dependency, SCons.Node.FS.File) and not isinstance(dependency, StepFile)
    if is_plain and "netra_hashed" not in dependency.attributes.__dict__:
        contents = dependency.get_contents() if dependency.exists() else b""
        dependency.get_ninfo().csig = SCons.Util.hash_signature(contents)
        dependency.attributes.netra_hashed = True
    try:
        return bool(dependency.get_csig() != previous.csig)
    except AttributeError:
        return True


def declare_graph(env: Any, execution: Execution) -> list[Any]:
    """Declare a node for every file of a graph's actions and return them, in their order.

    An action that was declared already, with the same files, is taken as it is.
    """
    context = env["NETRA_CONTEXT"]
    nodes: list[Any] = []
    cleared = _places_to_clear(execution)
    _look_at_sources(context, execution)
    name = execution.folders.name
    planned = {name(place): digest for place, digest in execution.graph.planned.items()}
    context.freshness(env).expect(planned)
    for action in execution.graph.actions:
        paths = execution.folders.names(action.outputs)
        known = context.action_by_paths.setdefault(paths, action)
        if known is not action and known != action:
            raise made_in_two_ways(paths[0], action.outputs[0][1].root)
        if paths[0] not in context.node_by_path:
            must_run = any(place in cleared for _, place in action.outputs)
            made = _declare_action(env, action, paths, execution, must_run)
            context.node_by_path.update(zip(paths, made, strict=True))
        nodes += [context.node_by_path[path] for path in paths]
    return nodes


def made_in_two_ways(path: str, root: Root) -> BadInput:
    """Return the error for two things asked for that make the same file or folder."""
    is_named = root in (Root.OUT, Root.DIST)
    remedy = (
        "name another folder with out="
        if is_named
        else "ask in an Environment with another NETRA_BUILD"
    )
    return BadInput(f"{path} is made in two ways", location="SConstruct", hint=remedy)


def _look_at_sources(context: Any, execution: Execution) -> None:
    """Note every file that the graph reads and does not make."""
    producers = execution.graph.producers
    used = {p for a in execution.graph.actions for _, p in (*a.inputs, *a.hints)}
    for place in used:
        if place not in producers:
            context.input_trace.saw_file(absolute(execution.folders.path(place)))


def _declare_action(
    env: Any, action: Action, paths: Paths, execution: Execution, must_run: bool
) -> list[Any]:
    context, fs = env["NETRA_CONTEXT"], env.fs
    known, read = context.node_by_path, context.source_by_path
    inputs = execution.folders.names(action.inputs)
    sources = []
    for path in inputs:
        node = known.get(path) or read.get(path)
        if node is None:
            node = read[path] = fs.File(path)
        sources.append(node)
    targets = [fs.File(path) for path in paths]
    step = Step(action, execution, context.freshness(env), (inputs, paths), must_run=must_run)
    step.attach(env, _BUILDER, _DOING, targets, sources)
    step.number = len(context.steps)
    context.steps.append(step)
    return targets


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


def _build(target: list[Any], source: list[Any], env: Any) -> int:
    """Run the action behind a node; a failure becomes one ``BuildError`` with our message."""
    try:
        env["NETRA_CONTEXT"].executor.make(target[0].executor)
    except NetraError as error:
        raise SCons.Errors.BuildError(
            node=target, errstr=str(error), status=error.status, exitstatus=2
        ) from None
    return 0


def _build_line(target: list[Any], source: list[Any], env: Any) -> str:
    step: Step = target[0].executor
    if not env.get("NETRA_VERBOSE"):
        return step.action.line()
    return "\n".join([step.action.line(), *_detail(step.action, step.execution)])


def _detail(action: Action, execution: Execution) -> list[str]:
    """Return the lines of ``verbose=1``: files, parameters and the tool's commands."""
    folders = execution.folders
    lines = [f"    {role} <- {folders.path(place)}" for role, place in action.inputs]
    lines += [f"    {role} -> {folders.path(place)}" for role, place in action.outputs]
    lines += [f"    {name} = {canonical_text(v).rstrip()}" for name, v in action.parameters]
    if action.stage.uses_tools and (command := execution.tools.command(action.stage.name)):
        lines.append(f"    {command}")
    return lines


_DOING = SConsAction(_build, _build_line)
_BUILDER = SCons.Builder.Builder(action=_DOING)
"""One for all nodes, which makes them derived ones; each has an executor of its own."""
