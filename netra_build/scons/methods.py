"""Builders of the tool: what a SConstruct can ask for, as methods of its environment."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import SCons.Errors

from netra_build import __version__, requests
from netra_build.asm.native.session import with_native_part
from netra_build.asm.toolchain import Toolchain, find_toolchain
from netra_build.core.build_lock import take_lock
from netra_build.core.canonical_json import Json
from netra_build.core.collector import collector_paused
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.execute import Execution, Folders
from netra_build.core.graph import Action, Graph, Root
from netra_build.core.loaded_code import note_folder
from netra_build.core.nearest import nearest_hint
from netra_build.core.output_record import OutputRecord
from netra_build.core.recording_disk import Looks, RecordingDisk, absolute
from netra_build.core.run_record import FILE_NAME as RUNS_NAME
from netra_build.core.run_record import RunRecord
from netra_build.core.stamps import Stamp, process_start_ns
from netra_build.core.store import Store, open_store
from netra_build.core.tally import Tally
from netra_build.load.library import Library, open_library
from netra_build.release.layout import CODE_OBJECTS, ENGINE
from netra_build.releasing import ReleaseRequest, plan_release, plan_report
from netra_build.scons.nodes import declare_graph, node_is_done

ENGINE_OPTIONS = {"profile", "golden_root", "locked", "allow_experimental", "debug"}
PRODUCTS = {ENGINE: "engines", CODE_OBJECTS: "recipes"}
"""Kind of what a release packs to the folder below the build folder that it is made in."""
DIST, REPORTS = "dist", "reports"
REPORT_OF = {ENGINE: "report engine", CODE_OBJECTS: "report recipe"}
"""How the request of a report is recorded."""


class Declared:
    """What one environment and its clones have declared already; shared, never copied."""

    def __init__(self) -> None:
        self.action_by_paths: dict[tuple[str, ...], Any] = {}
        self.node_by_path: dict[str, Any] = {}
        self.toolchain: Toolchain | None = None
        self.tool_identity: dict[str, str] = {}
        self.has_path_tools = False
        """Whether the tool chain was found on the path of SCons's environment."""
        self.library_by_root: dict[str, Library] = {}
        self.notes: list[str] = []
        self.executions: list[Execution] = []
        self.tally = Tally()
        self.nodes: list[tuple[Any, Action, Execution]] = []
        """Every action with the first node that it makes, each after what it needs."""
        self.said: list[str] = []
        """What was printed as the result of what was asked for."""
        self.looks = Looks(process_start_ns())
        """What was looked at in the library."""
        self.system_looks = Looks(self.looks.started_ns)
        """What was looked at for the tool chain."""
        self.verify = False
        self._record: OutputRecord | None = None
        self.runs: RunRecord | None = None
        self._store: Store | None = None
        self._is_store_known = False
        self._is_trouble_said = False
        self._lock = threading.Lock()

    def record(self, env: Any) -> OutputRecord:
        """Return the record of what was written, read once; it is saved when the build ends.

        Whoever reads it has the build folder to itself until then.
        """
        if self._record is None:
            build = str(env.Dir(env["NETRA_BUILD"]))
            take_lock(build, " ".join(["scons", *sys.argv[1:]]), _say)
            path = Path(build) / "work" / "outputs.json"
            self._record = OutputRecord(path, RealDisk(), verify=self.verify)
            atexit.register(self.finish)
        return self._record

    def run_record(self, env: Any) -> RunRecord:
        """Return the record of runs; it is saved with that of outputs."""
        if self.runs is None:
            path = Path(str(env.Dir(env["NETRA_BUILD"]))) / "work" / RUNS_NAME
            self.runs = RunRecord(path, RealDisk())
        return self.runs

    def confirmed_outputs(self) -> dict[str, tuple[Stamp, str]] | None:
        """Return stamp and digest of every output that was up to date or made, by absolute path.

        None when one of them is not what was written.
        """
        outputs = {}
        for path, node in self.node_by_path.items():
            if self._record is not None and node_is_done(node):
                confirmed = self._record.confirmed(path)
                if confirmed is None:
                    return None
                outputs[absolute(path)] = confirmed
        return outputs

    def traced_products(self) -> list[tuple[str, str, frozenset[str]]]:
        """Return the folders that hold a whole product alone, each with its seal and all names."""
        found = []
        for execution in self.executions:
            product, seal = execution.product, execution.graph.seal
            if product is not None and seal is not None and product.is_alone:
                path = str(execution.folders.path(seal))
                if node_is_done(self.node_by_path[path]):
                    found.append((absolute(product.folder), seal.name, product.names))
        return found

    def store(self, env: Any) -> Store | None:
        """Return the store that ``NETRA_STORE`` names, opened once; one line says why not."""
        with self._lock:
            if not self._is_store_known:
                self._is_store_known = True
                self._store = _open_store(env["NETRA_STORE"], env["NETRA_STORE_BYTES"])
            return self._store

    def finish(self) -> None:
        """Save the records and say what became of the store; also for a front that ends at once."""
        for record in (self._record, self.runs):
            if record is not None:
                record.save()
        if self._store is not None and self._store.trouble and not self._is_trouble_said:
            self._is_trouble_said = True
            print(f"netra: {self._store.trouble}", file=sys.stderr)


def _open_store(folder: str, max_bytes: int) -> Store | None:
    if not folder:
        return None
    try:
        return open_store(Path(folder).absolute(), max_bytes)
    except BadInput as error:
        print(f"netra: {error.line()}; going on without it\nhint: {error.hint}", file=sys.stderr)
        return None


def _say(line: str) -> None:
    print(f"netra: {line}", file=sys.stderr)


def netra_engine(env: Any, recipe: str, **options: Any) -> list[Any]:
    """Declare an engine; return its nodes, the seal last.

    ``recipe`` is a name, a file of ours, or a published model description (JSON) with ``profile``.
    Options: ``out``, ``profile``, ``golden_root``, ``locked``, ``library_root``, ``debug`` (code
    objects with line tables as well), and for a model description ``allow_experimental``.
    """

    def plan(library: Library, **given: Any) -> Graph:
        return requests.engine_graph(library, requests.EngineRequest(recipe=recipe, **given))

    return _declare(env, plan, "engines", options, ("engine", recipe))


def netra_recipe(env: Any, recipe: str, **options: Any) -> list[Any]:
    """Declare the code objects of ``recipe``: a name, a file of ours, or a published JSON recipe.

    Options: ``out``, ``locked``, ``library_root``, ``debug``, ``allow_unlocked`` (published recipes
    only).
    """
    plan = partial(requests.objects_graph, asked=recipe)
    return _declare(env, plan, "recipes", options, ("recipe", recipe))


def netra_tactic(env: Any, tactic: str, **options: Any) -> list[Any]:
    """Declare build, proof and check of one tactic id. Options: ``out``, ``locked``, ``debug``."""
    plan = partial(requests.tactic_graph, asked=tactic)
    return _declare(env, plan, "tactics", options, ("tactic", tactic))


def netra_release(
    env: Any, recipe: str, version: str = __version__, kind: str = ENGINE, **options: Any
) -> list[Any]:
    """Declare the package of a recipe's product; return its nodes, the archive last.

    ``kind`` is ``engine`` or ``code_objects``. Options: ``out`` (folder of the archive, default
    ``dist``), ``key`` (file of an Ed25519 key to sign with), ``profile``, ``golden_root``,
    ``library_root``, ``oci`` (True: the OCI layout too). The product goes where it always does.
    """
    folders = {Root.DIST: Path(options.pop("out", None) or DIST)}
    if options.get("key"):
        folders[Root.KEY] = Path(options["key"]).parent

    def plan(
        library: Library,
        kind: str = ENGINE,
        version: str = __version__,
        profile: str | None = None,
        golden_root: str | None = None,
        key: str | None = None,
        oci: bool = False,
    ) -> Graph:
        request = ReleaseRequest(recipe, kind, version, profile, golden_root, key, is_oci=oci)
        return plan_release(library, request)

    given = {**options, "kind": kind, "version": version}
    return _declare(env, plan, PRODUCTS[kind], given, ("release", recipe), folders)


def netra_report(env: Any, recipe: str, kind: str = ENGINE, **options: Any) -> list[Any]:
    """Declare the page that shows a recipe's product; return its nodes, the page last.

    ``kind`` is ``engine`` or ``code_objects``. Options: ``out`` (folder of the page, default
    ``reports`` below the build folder), and those of the product.
    """
    folder = options.pop("out", None) or f"{env['NETRA_BUILD']}/{REPORTS}"

    def of_engine(library: Library, **given: Any) -> Graph:
        request = requests.EngineRequest(recipe=recipe, **given)
        return plan_report(library, requests.engine_graph(library, request))

    def of_objects(library: Library, locked: bool = False) -> Graph:
        return plan_report(library, requests.objects_graph(library, recipe, locked=locked))

    plan = of_engine if kind == ENGINE else of_objects
    asked = REPORT_OF[kind], recipe
    return _declare(env, plan, PRODUCTS[kind], options, asked, {Root.DIST: Path(folder)})


def netra_equivalence(env: Any, **options: Any) -> list[Any]:
    """Declare the comparison of every specialization with its golden source."""
    return _declare(env, requests.equivalence_graph, "", options, ("equivalence", None))


def netra_checks(env: Any, **options: Any) -> list[Any]:
    """Declare the static checks of every specialization; reports in ``checks/``."""
    return _declare(env, requests.checks_graph, "", options, ("checks", None))


def netra_numerics(env: Any, seeds: Sequence[int], **options: Any) -> list[Any]:
    """Declare the simulation of every specialization with these seeds."""
    options["seeds"] = list(seeds)
    return _declare(env, requests.numerics_graph, "", options, ("numerics", None))


def library_of(env: Any, root: str | None = None) -> Library:
    """Return the library root of an environment, opened once."""
    path = str(env.Dir(root or env["NETRA_LIBRARY_ROOT"]))
    known: dict[str, Library] = env["NETRA_DECLARED"].library_by_root
    if path not in known:
        disk = RecordingDisk(env["NETRA_DECLARED"].looks)
        try:
            known[path] = open_library(disk, Path(path), ())
        except BadInput as error:
            error.hint = "NETRA_LIBRARY_ROOT or library_root= names the kernel library"
            raise
    return known[path]


def toolchain_of(env: Any) -> Toolchain:
    """Return the tool chain of an environment, looked for once."""
    declared: Declared = env["NETRA_DECLARED"]
    if declared.toolchain is None:
        explicit = env["NETRA_TOOLCHAIN"]
        rocm = env["NETRA_ROCM_PATH"]
        local = Path(env.Dir("#").abspath) / ".toolchain"
        programs = find_toolchain(
            Path(explicit) if explicit else None,
            rocm_path=Path(rocm) if rocm else None,
            local=local,
            path=env["ENV"].get("PATH", ""),
            disk=RecordingDisk(declared.system_looks),
        )
        folders = env["ENV"].get("PATH", "").split(":")
        declared.has_path_tools = str(programs.assembler.path.parent) in folders
        note_folder(declared.system_looks, absolute(local / "native"))
        declared.tool_identity = programs.identity(RecordingDisk(declared.system_looks))
        declared.toolchain = with_native_part(programs, local / "native")
    return declared.toolchain


def _declare(
    env: Any,
    plan: Callable[..., Graph],
    kind: str,
    options: dict[str, Any],
    asked: tuple[str, str | None],
    folders: Mapping[Root, Path] | None = None,
) -> list[Any]:
    """Plan, then declare nodes; an error of ours becomes a ``UserError`` for any SConstruct.

    The product goes to ``out``, else to a folder of its name below the build folder's ``kind``;
    ``folders`` are further roots. ``asked``, the kind of thing and its name, is recorded with the
    options, so that it can be planned again without SCons.
    """
    out, root = options.pop("out", None), options.pop("library_root", None)
    try:
        _refuse_unknown(plan, options)
        library = library_of(env, root)
        with collector_paused():
            graph = plan(library, **options)
        build = env["NETRA_BUILD"]
        folder = out or (f"{build}/{kind}/{graph.name}" if kind else build)
        given = {Root.OUT: Path(folder), **(folders or {})}
        given[Root.DEBUG] = Path(f"{build}/debug/{graph.name}")
        given[Root.EXTERNAL] = Path(options.get("golden_root") or ".")
        execution = _execution(env, graph, library, given, has_own_folder=not out)
        if execution.product is not None and out:
            _refuse_expansion(out)
            execution.product.refuse_foreign()
        declared: Declared = env["NETRA_DECLARED"]
        declared.executions.append(execution)
        request = _request(env, execution, asked, options)
        declared.run_record(env).ask(f"{asked[0]} {folder}", request)
        declared.notes += [f"{graph.name}: {note}" for note in graph.notes]
        return declare_graph(env, execution)
    except NetraError as error:
        raise NetraUserError(error) from error


def _request(
    env: Any, execution: Execution, asked: tuple[str, str | None], options: dict[str, Any]
) -> Json:
    """Return a request in the form in which it is recorded."""
    paths = execution.folders.paths
    return {
        "graph": execution.graph.name,
        "what": asked[0],
        "asked": asked[1],
        "options": {name: _plain(value) for name, value in options.items()},
        "folders": {root.value: str(path) for root, path in paths.items()},
        "build": str(env["NETRA_BUILD"]),
        "toolchain": str(env["NETRA_TOOLCHAIN"]),
    }


def _plain(value: Any) -> Json:
    """Return an option as JSON; a path or a node of SCons by its name."""
    return value if isinstance(value, bool | int | str | list | None) else str(value)


def _refuse_unknown(plan: Callable[..., Graph], options: Mapping[str, Any]) -> None:
    """Refuse an option that the builder does not know, naming the nearest one it does."""
    known = {name for name in signature(plan).parameters if name not in ("library", "given")}
    known |= ENGINE_OPTIONS if "given" in signature(plan).parameters else set()
    for name in options:
        if name not in known:
            hint = nearest_hint(name, {*known, "out", "library_root"})
            raise BadInput(f'unknown option "{name}"', location="SConstruct", hint=hint)


def _refuse_expansion(out: str) -> None:
    """Refuse a folder whose name SCons would read as something else."""
    if out.startswith("#") or "$" in out:
        raise BadInput(f'out= "{out}" holds "#" or "$", which SCons expands', location="scons")


class NetraUserError(SCons.Errors.UserError):  # type: ignore[misc]
    """One line for SCons to print, with the exit code that our own SConstruct uses."""

    def __init__(self, error: NetraError) -> None:
        super().__init__(str(error))
        self.status = error.status


def _execution(
    env: Any, graph: Graph, library: Library, folders: Mapping[Root, Path], has_own_folder: bool
) -> Execution:
    work = Path(f"{env['NETRA_BUILD']}/work")
    paths = {Root.SOURCE: library.root, Root.WORK: work, **folders}
    declared: Declared = env["NETRA_DECLARED"]
    runs, tools = declared.run_record(env), toolchain_of(env)
    disk, tally = RealDisk(), declared.tally
    return Execution(graph, Folders(paths), disk, tools, tally, runs, has_own_folder)
