"""Builders of the tool: what a SConstruct can ask for, as methods of its environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from os.path import normpath
from pathlib import Path
from typing import Any

import SCons.Action
import SCons.Errors

from netra_build import __version__, requests
from netra_build.build.freshness.freshness import OutputRecord
from netra_build.build.freshness.input_trace import absolute
from netra_build.build.graph.actions import Graph, Root
from netra_build.build.run.execution import Execution, Folders
from netra_build.core.canonical_json import Json
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, NetraError, nearest_hint
from netra_build.core.processes import collector_paused
from netra_build.formats.vocabulary import CODE_OBJECTS, ENGINE
from netra_build.scons.context import BuildContext
from netra_build.scons.nodes import declare_graph, made_in_two_ways

SHARED_OPTIONS = {"out", "library_root"}
"""What every builder takes."""
RELEASE_OPTIONS = {"kind", "version", "profile", "golden_root", "key", "oci"}
PRODUCTS = {ENGINE: "engine", CODE_OBJECTS: "recipe"}
"""What a release packs and a report shows, by their ``kind``."""
FOLDERS = {"engine": "engines", "recipe": "recipes", "tactic": "tactics"}
"""Kind of product to the folder below the build folder that it is made in."""
DIST, REPORTS = "dist", "reports"
_ASKED_FOR: list[Execution] = []
"""All that the SConstruct has asked for, in whatever environment: folders are shared by all."""


def netra_engine(env: Any, recipe: str, **options: Any) -> list[Any]:
    """Declare an engine of a recipe or published model (JSON); return its nodes, the seal last."""
    return _declare(env, "engine", recipe, options)


def netra_recipe(env: Any, recipe: str, **options: Any) -> list[Any]:
    """Declare code objects; ``recipe`` is a name, a file of ours or a published JSON recipe."""
    return _declare(env, "recipe", recipe, options)


def netra_tactic(env: Any, tactic: str, **options: Any) -> list[Any]:
    """Declare build, proof and check of one tactic id."""
    return _declare(env, "tactic", tactic, options)


def netra_release(
    env: Any, recipe: str, version: str = __version__, kind: str = ENGINE, **options: Any
) -> list[Any]:
    """Declare the package of a recipe's product; return its nodes, the archive last.

    ``out`` is the folder of the archive. The product goes where it always does.
    """
    folders = {Root.DIST: Path(options.pop("out", None) or DIST)}
    if options.get("key"):
        folders[Root.KEY] = Path(options["key"]).parent
    given, product = {**options, "kind": kind, "version": version}, _product_of(kind)
    return _declare(env, requests.RELEASE, recipe, given, product, folders)


def netra_report(env: Any, recipe: str, kind: str = ENGINE, **options: Any) -> list[Any]:
    """Declare the page that shows a recipe's product; return its nodes, the page last.

    ``out`` is the folder of the page; the other options are those of the product.
    """
    product = _product_of(kind)
    folder = options.pop("out", None) or f"{env['NETRA_BUILD']}/{REPORTS}"
    return _declare(
        env, requests.REPORT_OF + product, recipe, options, product, {Root.DIST: Path(folder)}
    )


def netra_equivalence(env: Any, **options: Any) -> list[Any]:
    """Declare the comparison of every specialization with its golden source."""
    return _declare(env, "equivalence", None, options)


def netra_checks(env: Any, **options: Any) -> list[Any]:
    """Declare the static checks of every specialization, or of a published ``deployment``."""
    return _declare(env, "checks", None, options)


def netra_numerics(env: Any, seeds: Sequence[int], **options: Any) -> list[Any]:
    """Declare the simulation of every specialization with these seeds."""
    return _declare(env, "numerics", None, {**options, "seeds": list(seeds)})


BUILDERS: dict[str, Callable[..., list[Any]]] = {
    "NetraEngine": netra_engine,
    "NetraRecipe": netra_recipe,
    "NetraTactic": netra_tactic,
    "NetraRelease": netra_release,
    "NetraReport": netra_report,
    "NetraEquivalence": netra_equivalence,
    "NetraChecks": netra_checks,
    "NetraNumerics": netra_numerics,
}


def _declare(
    env: Any,
    what: str,
    asked: str | None,
    options: dict[str, Any],
    product: str = "",
    folders: Mapping[Root, Path] | None = None,
) -> list[Any]:
    """Plan, then declare nodes; an error of ours becomes a ``UserError`` for any SConstruct.

    The product goes to ``out``, else to a folder of its name below that of its kind, ``product`` or
    ``what``; ``folders`` are further roots. ``what`` and ``asked``, the kind of thing and its name,
    are recorded with the options, so that it can be planned again without SCons.
    """
    out, root = options.pop("out", None), options.pop("library_root", None)
    kind = FOLDERS.get(product or what)
    try:
        _refuse_other_folder(env)
        _refuse_unknown(what, options)
        context: BuildContext = env["NETRA_CONTEXT"]
        library = context.library(env, root)
        with collector_paused():
            graph = _plan(what)(library, what, asked, options)
        build = env["NETRA_BUILD"]
        folder = normpath(out) if out else (f"{build}/{kind}/{graph.name}" if kind else build)
        paths = {Root.SOURCE: library.root, Root.OUT: Path(folder), **(folders or {})}
        paths[Root.WORK] = Path(f"{build}/work")
        paths[Root.DEBUG] = Path(f"{build}/debug/{graph.name}")
        paths[Root.EXTERNAL] = Path(options.get("golden_root") or ".")
        runs, tools, roots = context.run_record(env), context.tools(env), Folders(paths)
        execution = Execution(graph, roots, RealDisk(), tools, context.tally, runs, not out)
        if out and (out.startswith("#") or "$" in out):
            fact = f'out= "{out}" holds "#" or "$", which SCons expands'
            raise BadInput(fact, location="scons")
        if execution.product is not None:
            execution.product.refuse_foreign()
        _refuse_mixing(execution)
        _refuse_replacing(execution, context.record(env))
        context.executions.append(execution)
        _ASKED_FOR.append(execution)
        request = _request(env, execution, what, asked, options)
        context.run_record(env).ask(f"{what} {folder}", request)
        context.notes += [f"{graph.name}: {note}" for note in graph.notes]
        return declare_graph(env, execution)
    except NetraError as error:
        raise NetraUserError(error) from error


def _request(
    env: Any, execution: Execution, what: str, asked: str | None, options: dict[str, Any]
) -> Json:
    """Return a request in the form in which it is recorded."""
    paths = execution.folders.paths
    return {
        "graph": execution.graph.name,
        "what": what,
        "asked": asked,
        "options": {name: _plain(value) for name, value in options.items()},
        "folders": {root.value: str(path) for root, path in paths.items()},
        "build": str(env["NETRA_BUILD"]),
        "toolchain": str(env["NETRA_TOOLCHAIN"]),
    }


def _plain(value: Any) -> Json:
    """Return an option as JSON; a path or a node of SCons by its name."""
    return value if isinstance(value, bool | int | str | list | None) else str(value)


def _refuse_other_folder(env: Any) -> None:
    """Refuse a call from a SConscript elsewhere, where nodes and files would be two places."""
    here, top = env.Dir("."), env.Dir("#")
    if here is not top:
        raise BadInput(
            "called from a SConscript in another folder",
            location=str(top.rel_path(here)),
            hint="call it in the SConstruct, and pass the nodes on with Export",
        )


def _refuse_unknown(what: str, options: Mapping[str, Any]) -> None:
    """Refuse an option that the builder does not know, naming the nearest one it does."""
    known = known_options(what)
    for name in options:
        if name not in known:
            raise _unknown("option", name, known | SHARED_OPTIONS)


def _product_of(kind: str) -> str:
    """Return the kind of request for what a release packs or a report shows."""
    if kind not in PRODUCTS:
        raise NetraUserError(_unknown("kind", kind, PRODUCTS))
    return PRODUCTS[kind]


def _unknown(what: str, name: object, known: Iterable[str]) -> BadInput:
    hint = nearest_hint(str(name), known)
    return BadInput(f'unknown {what} "{name}"', location="SConstruct", hint=hint)


def _plan(what: str) -> Callable[..., Graph]:
    """Return what plans a kind of request; few builds release anything."""
    if what != requests.RELEASE and not what.startswith(requests.REPORT_OF):
        return requests.asked_graph
    from netra_build.releasing import planned

    return planned


def known_options(what: str) -> set[str]:
    """Return the options of a kind of request: what plans it takes them by name."""
    if what == requests.RELEASE:
        return RELEASE_OPTIONS
    if what == requests.REPORT_OF + PRODUCTS[CODE_OBJECTS]:
        return {"locked"}
    plan = requests.PLANS.get(what, requests.EngineRequest)
    return {*signature(plan).parameters} - {"library", "asked", "recipe"}


def _refuse_mixing(execution: Execution) -> None:
    """Refuse a product in the folder of something else that was asked for; twice the same is fine.

    Packages and pages lie beside each other in folders of theirs (``Root.DIST``).
    """
    folder = execution.folders.paths[Root.OUT]
    for other in _ASKED_FOR:
        is_product = execution.product is not None or other.product is not None
        if not is_product or absolute(folder) != absolute(other.folders.paths[Root.OUT]):
            continue
        if execution.graph.products(Root.OUT) != other.graph.products(Root.OUT):
            raise made_in_two_ways(str(folder), Root.OUT)


def _refuse_replacing(execution: Execution, record: OutputRecord) -> None:
    """Refuse to write a package or page over a file that we have not written."""
    for name in execution.graph.products(Root.DIST):
        path = execution.folders.paths[Root.DIST] / name
        if execution.disk.exists(path) and not record.knows(str(path)):
            from netra_build.inspect.report.page import is_page

            if not (name.endswith(".html") and is_page(path, execution.disk)):
                fact = "file is there, and no build of this folder has made it"
                hint = "remove it, or name another folder with out="
                raise BadInput(fact, location=str(path), hint=hint)


class NetraUserError(SCons.Errors.UserError):  # type: ignore[misc]
    """One line for SCons to print, with the exit code that our own SConstruct uses."""

    def __init__(self, error: NetraError) -> None:
        super().__init__(str(error))
        self.status = error.status
