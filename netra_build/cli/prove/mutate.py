"""``netra mutate``: seed small faults into a kernel and report which check catches each."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netra_build.asm.source.closure import include_closure
from netra_build.build.digests.action_digest import TOOLCHAINS
from netra_build.checkasm.mutate import SCORES
from netra_build.checkasm.mutate.mutant import KINDS, ORDERING, VALUE
from netra_build.checkasm.numerics.statements import read_statement
from netra_build.cli.options import JSON, LIBRARY, TOOLCHAIN, command, either, flag, option
from netra_build.cli.places import library_of
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.disk import RealDisk
from netra_build.core.errors import EXIT_DONE, BadInput, ToolchainFailed, nearest_hint
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.golden import ROOT, GoldenSource, golden_sources
from netra_build.formats.library import Library
from netra_build.formats.plan import MACHINE_LINES
from netra_build.formats.vocabulary import TARGET
from netra_build.plan.instances import default_macro_symbols
from netra_build.stages.instantiate import instance_source

if TYPE_CHECKING:
    from netra_build.checkasm.mutate.campaign import Plan, Template, ToolPlace
    from netra_build.checkasm.mutate.judge import Subject
    from netra_build.checkasm.mutate.report import Result
    from netra_build.formats.catalogs.tactic import FixedTactic

SAMPLE = 200
MOST_JOBS = 64
GROUPS = {"ordering": ORDERING, "value": VALUE}


@command(
    "seed small faults into a kernel and report which check catches each",
    option(
        "subject",
        metavar="TACTIC|FILE.s",
        nargs="?",
        help="a tactic with golden sources, or one flat unit; none shows the record again",
    ),
    option("--kinds", metavar="K,K", help=f"ordering, value, or some of: {', '.join(KINDS)}"),
    option("--seed", type=int, default=1, help="of the sample"),
    option("--sample", type=int, default=SAMPLE, metavar="N", help="value mutants of one kernel"),
    flag("--full", "every value mutant, no sample"),
    option("--tactic", default="", metavar="T", help="contract that FILE.s has to meet"),
    option("--variant", default="", metavar="V", help="one specialization of the tactic"),
    option("--jobs", type=int, default=2, metavar="N", help="processes"),
    either(
        JSON,
        flag("--markdown", "print as Markdown"),
        option(
            "--document", metavar="FILE", help="put score and survivors into the tables of FILE"
        ),
    ),
    option("--record", metavar="FILE", help="what the tables show; the library's own unless given"),
    option("--native", metavar="DIR", help="folder of the native part"),
    LIBRARY,
    TOOLCHAIN,
)
def mutate_command(options: argparse.Namespace) -> int:
    """Print the report; survivors do not make the command fail."""
    from netra_build.checkasm.mutate.report import json_report, markdown_report, text_report

    results = _results(options)
    if options.json:
        print(pretty_bytes(json_report(results)).decode(), end="")
    elif options.document:
        _put_into_document(options, results)
        print(f"{options.document}: {len(results)} kernels")
    else:
        show = markdown_report if options.markdown else text_report
        print("\n".join(show(result) for result in results))
    return EXIT_DONE


def _results(options: argparse.Namespace) -> list[Result]:
    if not options.subject:
        if not options.document:
            raise BadInput("no kernel is named", expected="TACTIC or FILE.s", got="nothing")
        return []
    try:
        from netra_build.checkasm.mutate.campaign import golden_subject, run_campaign
    except ModuleNotFoundError as error:
        raise ToolchainFailed(
            f'mutation needs "{error.name}"', hint="install netra-build[simulate]"
        ) from None
    plan = _plan(options)
    if options.subject.endswith(".s"):
        return [run_campaign(_file_subject(options), _tool_place(options), plan)]
    library = library_of(options)
    place = _tool_place(options)
    goldens = _goldens(library, options.subject, options.variant)
    tactics = load_catalog(library, derive_pins=True).tactics
    results = []
    for golden in goldens:
        tactic = next((one for one in tactics if one.name == f"{TARGET}.{golden.tactic}"), None)
        subject = golden_subject(library, golden, tactic)
        template = None if tactic is None else _template(library, golden, tactic)
        results.append(run_campaign(subject, place, plan, template))
    return results


def _put_into_document(options: argparse.Namespace, results: Sequence[Result]) -> None:
    """Write the results into the record, and the tables of the record into the document."""
    from netra_build.checkasm.mutate.document import read_record, rendered

    path, disk = Path(options.document), RealDisk()
    place = Path(options.record) if options.record else library_of(options).root / SCORES
    record = read_record(disk.read_bytes(place), str(place)).with_results(results)
    text = rendered(disk.read_bytes(path).decode(errors="surrogateescape"), record)
    disk.write_bytes(place, record.data())
    disk.write_bytes(path, text.encode(errors="surrogateescape"))


def _plan(options: argparse.Namespace) -> Plan:
    from netra_build.checkasm.mutate.campaign import Plan

    for name, least, most in (("sample", 1, 10**9), ("jobs", 1, MOST_JOBS), ("seed", 0, 2**32)):
        value = getattr(options, name)
        if not least <= value <= most:
            raise BadInput(
                "number is out of range",
                location=f"--{name}",
                expected=f"{least} to {most}",
                got=value,
            )
    sample = None if options.full else options.sample
    return Plan(_kinds(options.kinds), options.seed, sample, None, options.jobs)


def _kinds(words: str | None) -> tuple[str, ...]:
    if words is None:
        return KINDS
    chosen: set[str] = set()
    for word in words.split(","):
        if word not in GROUPS and word not in KINDS:
            hint = nearest_hint(word, [*GROUPS, *KINDS])
            raise BadInput(f'unknown kind "{word}"', location="--kinds", hint=hint)
        chosen.update(GROUPS.get(word, (word,)))
    return tuple(kind for kind in KINDS if kind in chosen)


def _tool_place(options: argparse.Namespace) -> ToolPlace:
    from netra_build.asm.tools.bounds import tool_bounds
    from netra_build.checkasm.mutate.campaign import ToolPlace

    rocm = os.environ.get("ROCM_PATH", "")
    return ToolPlace(
        explicit=Path(options.toolchain) if options.toolchain else None,
        rocm=Path(rocm) if rocm else None,
        local=TOOLCHAINS,
        native=Path(options.native) if options.native else None,
        bounds=tool_bounds(os.environ),
    )


def _file_subject(options: argparse.Namespace) -> Subject:
    """Return the unit of a file; without ``--tactic`` it is judged without being executed."""
    from netra_build.checkasm.mutate.judge import Subject

    data = RealDisk().read_bytes(Path(options.subject))
    statement, specialization = None, {}
    if options.tactic:
        from netra_build.checkasm.numerics.suite import load_suite

        statement = read_statement(library_of(options), options.tactic)
        known = load_suite(statement).entry.specializations
        if options.variant not in known:
            hint = nearest_hint(options.variant, known)
            raise BadInput(f'unknown variant "{options.variant}"', location="--variant", hint=hint)
        specialization = dict(known[options.variant])
    return Subject(options.subject, data, statement, specialization)


def _goldens(library: Library, tactic: str, variant: str) -> list[GoldenSource]:
    found = golden_sources(library, tactic)
    if not found:
        top = library.root / ROOT
        paths = library.disk.files_under(top, "expect.json")
        known = sorted({path.relative_to(top).parts[0] for path in paths})
        hint = nearest_hint(tactic, known)
        raise BadInput(f'no golden source of "{tactic}"', location=ROOT, hint=hint)
    chosen = [one for one in found if not variant or one.variant == variant]
    if not chosen:
        names = [one.variant for one in found if one.variant]
        hint = nearest_hint(variant, names) if names else ""
        raise BadInput(f'no variant "{variant}" of "{tactic}"', location=ROOT, hint=hint)
    return chosen


def _template(library: Library, golden: GoldenSource, tactic: FixedTactic) -> Template:
    """Return the instance of the tactic's template whose guards are mutated."""
    from netra_build.checkasm.mutate.campaign import Template

    contract = [(name, values[0]) for name, values in tactic.contract_constants]
    constants = [*MACHINE_LINES, *contract, *golden.specialization.items()]
    instance = instance_source(
        tactic=tactic.name,
        contract_id="mutation",
        constants=constants,
        template=tactic.template,
        macro=tactic.instantiation_macro,
        macro_symbols=default_macro_symbols(tactic, golden.symbol),
    )
    closure = include_closure(tactic.template, library.read, tactic.template)
    return Template(instance, dict(constants), closure)
