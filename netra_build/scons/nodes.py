"""Actions as SCons nodes: one builder node per action, content signatures, our errors."""

from __future__ import annotations

from typing import Any

import SCons.Builder
import SCons.Errors
import SCons.Node
import SCons.Node.FS
import SCons.Util
from SCons.Action import Action as SConsAction

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
    execution.note_sources(context.input_trace)
    name = execution.folders.name
    planned = {name(place): digest for place, digest in execution.graph.planned.items()}
    context.freshness(env).expect(planned)
    for action in execution.graph.actions:
        paths = execution.folders.names(action.outputs)
        known = context.action_by_paths.get(paths)
        if known is None:
            context.action_by_paths[paths] = action
            must_run = any(place in cleared for _, place in action.outputs)
            _declare_action(env, action, paths, execution, must_run)
        elif known is not action and known != action:
            raise made_in_two_ways(paths[0], action.outputs[0][1].root)
        nodes += [context.node_by_path[path] for path in paths]
    return nodes


def made_in_two_ways(path: str, root: Root) -> BadInput:
    """Return the error for two things asked for that make the same file or folder."""
    remedy = "ask in an Environment with another NETRA_BUILD"
    if root in (Root.OUT, Root.DIST):
        remedy = "name another folder with out="
    return BadInput(f"{path} is made in two ways", location="SConstruct", hint=remedy)


def _declare_action(
    env: Any, action: Action, paths: Paths, execution: Execution, must_run: bool
) -> None:
    context, inputs = env["NETRA_CONTEXT"], execution.folders.names(action.inputs)
    known = context.node_by_path
    for path in (*inputs, *paths):
        if path not in known:
            known[path] = env.fs.File(path)
    sources, targets = [known[path] for path in inputs], [known[path] for path in paths]
    step = Step(action, execution, context.freshness(env), (inputs, paths), must_run=must_run)
    step.attach(env, _BUILDER, _DOING, targets, sources)
    step.number = len(context.steps)
    context.steps.append(step)


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
        given = {"errstr": str(error), "status": error.status, "exitstatus": 2}
        raise SCons.Errors.BuildError(target, **given) from None
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
