"""The chains of one code object: the actions for a kernel, its golden source and its checks.

Each function returns the actions of one part in order; ``pipeline`` puts parts together.
Stages that only some products need, and that load many modules, are imported where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netra_build.build.graph.actions import Action, Place, Root
from netra_build.core.canonical_json import Json
from netra_build.formats.golden import GoldenSource
from netra_build.formats.plan import KernelInstance
from netra_build.plan.units import Member, Unit
from netra_build.stages import instantiate
from netra_build.stages.assemble import ASSEMBLE, DISASSEMBLE, LINK
from netra_build.stages.close_includes import CLOSE, FLATTEN
from netra_build.stages.engine_documents import COPY
from netra_build.stages.golden import PROVE, TAKE
from netra_build.stages.read_object import LAY_OUT, READ, STRIP

VIEWS = {"text": ".text", "notes": ".metadata.txt", "record": ".json"}
"""Suffixes of what the stage ``read`` makes of a code object, by role."""


def bare_actions(unit: Unit) -> list[Action]:
    """Make one code object from its members and read it, without listing and checks."""
    made = [one for i, member in enumerate(unit.members) for one in member_actions(unit, i, member)]
    return [*made, *object_actions(unit)]


def made_actions(unit: Unit) -> list[Action]:
    """Make one code object, read and list it, and compare it with its contract."""
    return [*bare_actions(unit), *_contract_actions(unit)]


def proven_actions(unit: Unit) -> list[Action]:
    """Make the golden counterpart of a code object and compare; none without golden sources."""
    if unit.goldens is None:
        return []
    actions = [action for golden in unit.goldens for action in golden_actions(golden)]
    actions += golden_side_actions(unit, unit.goldens)
    return [*actions, _equivalence(unit, unit.goldens)]


def checked_action(unit: Unit, report: Place) -> Action:
    """Check a code object statically."""
    from netra_build.stages.check_object import CHECK

    listed = {"hsaco": unit.hsaco, "dis": unit.metadata(".dis")}
    named: dict[str, Json] = {"hsaco": unit.hsaco_name, "gate": unit.refuses_findings}
    return CHECK.apply(unit.subject, listed, {"report": report}, named)


def numerics_action(unit: Unit, member: Member, seeds: Sequence[int], report: Place) -> Action:
    """Run one kernel in the functional model against its numeric contract."""
    from netra_build.stages import check_numerics

    check_numerics.require_numpy()
    inputs = {name: Place(Root.SOURCE, name) for name in member.statement}
    inputs |= {"hsaco": unit.hsaco, "dis": unit.metadata(".dis")}
    wanted: dict[str, Json] = {
        "hsaco": unit.hsaco_name,
        "symbol": member.symbol,
        "tactic": member.subject,
        "variant": member.golden.variant if member.golden else "",
        "specialization": dict(member.instance.contract.specialization),
        "seeds": list(seeds),
    }
    return check_numerics.STAGE.apply(member.subject, inputs, {"report": report}, wanted)


def debug_action(unit: Unit) -> Action:
    """Make a code object again with line tables, equal to it in ``.text``, outside the product."""
    from netra_build.stages import debug_object

    sources = [unit.source(index) for index in range(len(unit.members))]
    included = {name for member in unit.members for name in member.instance.closure_names}
    inputs = {
        "hsaco": unit.hsaco,
        **{name: Place(Root.SOURCE, name) for name in included},
        **{source.name: source for source in sources},
    }
    named: dict[str, Json] = {"hsaco": unit.hsaco_name, "units": [s.name for s in sources]}
    made = {"debug": Place(Root.DEBUG, f"{unit.name}.hsaco")}
    return debug_object.STAGE.apply(unit.subject, inputs, made, named)


def member_actions(unit: Unit, index: int, member: Member) -> list[Action]:
    """Instantiate, close and assemble one kernel, or take the leader's object."""
    instance, subject = member.instance, member.subject
    source = unit.source(index)
    includes = {name: Place(Root.SOURCE, name) for name in instance.closure_names}
    closed = {
        "closure": unit.of_member(index, ".closure.json"),
        "flat": unit.of_member(index, ".flat.s"),
    }
    place: dict[str, Json] = {"location": source.name, "template": instance.tactic.template}
    return [
        instantiate.STAGE.apply(subject, {}, {"unit": source}, _instance(instance)),
        CLOSE.apply(subject, {"unit": source, **includes}, closed, place),
        _object_action(unit, index, {f"main:{source.name}": source, **includes}),
    ]


def _object_action(unit: Unit, index: int, hints: Mapping[str, Place]) -> Action:
    member, flat = unit.members[index], unit.of_member(index, ".flat.s")
    made = {"object": unit.of_member(index, ".o")}
    if unit.leader is None:
        return ASSEMBLE.apply(member.subject, {"flat": flat}, made, hints=hints)
    from netra_build.stages import share_object

    first = {"object": ".o", "flat": ".flat.s"}
    inputs = {role: unit.leader.of_member(index, suffix) for role, suffix in first.items()}
    inputs["own"] = flat
    leader, own = unit.leader.members[index].instance, member.instance
    names: dict[str, Json] = {
        "symbols": list(leader.macro_symbols),
        "own_symbols": list(own.macro_symbols),
        "constants": [name for name, _ in own.constants],
        "values": dict({*own.constants} - {*leader.constants}),
    }
    return share_object.STAGE.apply(member.subject, inputs, made, names)


def object_actions(unit: Unit) -> list[Action]:
    """Link the members of a code object, strip it (or lay it out) and read it."""
    objects = {f"object {i:03}": unit.of_member(i, ".o") for i in range(len(unit.members))}
    linked = {"linked": unit.intermediate(".linked.hsaco")}
    views = {role: unit.metadata(suffix) for role, suffix in VIEWS.items()}
    kernels = [(member.symbol, member.threads) for member in unit.members]
    sources = [f"generated/{unit.stem(i)}.s" for i in range(len(unit.members))]
    record = read_parameters(unit.hsaco_name, kernels, sources)
    record |= {"locked_text_sha256": unit.locked_text_sha256, "otherwise": {**unit.otherwise}}
    finish = STRIP if unit.is_stripped else LAY_OUT
    return [
        LINK.apply(unit.subject, objects, linked),
        finish.apply(unit.subject, linked, {"hsaco": unit.hsaco}),
        READ.apply(unit.subject, {"hsaco": unit.hsaco}, views, record),
    ]


def read_parameters(
    hsaco: str, kernels: Sequence[tuple[str, Json]], sources: Sequence[str]
) -> dict[str, Json]:
    """Return the parameters of the stage ``read``; kernels are symbols with work-group sizes."""
    return {
        "hsaco": hsaco,
        "kernels": [{"symbol": symbol, "threads": threads} for symbol, threads in kernels],
        "sources": list(sources),
        "locked_text_sha256": None,
    }


def _contract_actions(unit: Unit) -> list[Action]:
    """List a code object and compare it with the contracts of its members."""
    from netra_build.stages.check_object import CONFORM

    contracts = {member.symbol: _contract(member) for member in unit.members}
    for symbol, names in unit.otherwise.items():
        contracts[symbol]["otherwise"] = names
    wanted: dict[str, Json] = {"hsaco": unit.hsaco_name, "contracts": contracts}
    wanted["gate"] = unit.refuses_findings
    report = {"report": unit.intermediate(".conform.json")}
    return [
        listing_action(unit.subject, unit.hsaco, unit.metadata(".dis"), unit.hsaco_name),
        CONFORM.apply(unit.subject, {"hsaco": unit.hsaco}, report, wanted),
    ]


def listing_action(subject: str, hsaco: Place, listing: Place, label: str) -> Action:
    """List a code object, called ``label`` in its listing."""
    return DISASSEMBLE.apply(subject, {"hsaco": hsaco}, {"dis": listing}, {"label": label})


def golden_actions(golden: GoldenSource) -> list[Action]:
    """Return the chain of one golden source, which ends with the check of its recorded digests."""
    subject = f"{golden.label} (golden)"
    source = Place(Root.SOURCE, golden.source)
    names = ("flat.s", "o", "linked", "hsaco")
    flat, made, linked, hsaco = (golden_place(golden, name) for name in names)
    place: dict[str, Json] = {"location": golden.source}
    proof: dict[str, Json] = {"symbol": golden.symbol, "tactic": golden.tactic}
    proof["expect"] = golden.expect
    proven = {"hsaco": hsaco, "expect": Place(Root.SOURCE, golden.expect)}
    digests = {"digests": golden_place(golden, "digests.json")}
    return [
        FLATTEN.apply(subject, {"unit": source}, {"flat": flat}, place),
        ASSEMBLE.apply(
            subject, {"flat": flat}, {"object": made}, hints={f"main:{source.name}": source}
        ),
        LINK.apply(subject, {"object 000": made}, {"linked": linked}),
        STRIP.apply(subject, {"linked": linked}, {"hsaco": hsaco}),
        PROVE.apply(subject, proven, digests, proof),
    ]


def golden_place(golden: GoldenSource, name: str) -> Place:
    """Return the place of an intermediate file of a golden source."""
    return Place(Root.WORK, f"golden/{golden.label}/kernel.{name}")


def golden_side_actions(unit: Unit, goldens: Sequence[GoldenSource]) -> list[Action]:
    """Link the golden objects as the unit's are, list and read them, keep their sources."""
    subject = f"{unit.label} (golden)"
    objects = {f"object {i:03}": golden_place(golden, "o") for i, golden in enumerate(goldens)}
    linked = {"linked": unit.intermediate(".golden.linked.hsaco")}
    hsaco = unit.intermediate(".golden.hsaco")
    name = f"hsaco/{unit.name}.golden.hsaco"
    kernels = [(g.symbol, m.threads) for g, m in zip(goldens, unit.members, strict=True)]
    views = {
        "text": unit.metadata(".golden.text"),
        "notes": unit.metadata(".golden.metadata.txt"),
        "record": unit.intermediate(".golden.json"),
    }
    sources = {golden.label: Place(Root.SOURCE, golden.source) for golden in goldens}
    copies = {
        golden.label: unit.at_home(f"generated/golden/{unit.stem(i)}.s")
        for i, golden in enumerate(goldens)
    }
    record = read_parameters(name, kernels, [golden.source for golden in goldens])
    return [
        LINK.apply(subject, objects, linked),
        STRIP.apply(subject, linked, {"hsaco": hsaco}),
        listing_action(subject, hsaco, unit.metadata(".golden.dis"), name),
        READ.apply(subject, {"hsaco": hsaco}, views, record),
        COPY.apply(subject, sources, copies),
    ]


def golden_object_actions(objects: Mapping[str, Mapping[str, Json]]) -> list[Action]:
    """Return the actions that take, list and read each object that a user brings."""
    actions = []
    for file, facts in objects.items():
        name, stem = f"hsaco/{file}", f"metadata/{file.removesuffix('.hsaco')}"
        hsaco = Place(Root.OUT, name)
        views = {role: Place(Root.OUT, stem + suffix) for role, suffix in VIEWS.items()}
        given = {"object": Place(Root.EXTERNAL, file)}
        wanted: dict[str, Json] = {"wanted": dict(facts), "location": file}
        record = read_parameters(name, [(facts["symbol"], facts["block"])], [])
        actions += [
            TAKE.apply(file, given, {"hsaco": hsaco}, wanted),
            listing_action(file, hsaco, Place(Root.OUT, f"{stem}.dis"), name),
            READ.apply(file, {"hsaco": hsaco}, views, record),
        ]
    return actions


def _equivalence(unit: Unit, goldens: Sequence[GoldenSource]) -> Action:
    from netra_build.stages import equivalence

    inputs = {
        "hsaco": unit.hsaco,
        "dis": unit.metadata(".dis"),
        "golden_hsaco": unit.intermediate(".golden.hsaco"),
        "golden_dis": unit.metadata(".golden.dis"),
    }
    pairs = [
        {"symbol": member.symbol, "golden": golden.symbol, "threads": member.threads}
        for member, golden in zip(unit.members, goldens, strict=True)
    ]
    parameters: dict[str, Json] = {
        "hsaco": unit.hsaco_name,
        "kernels": pairs,
        "tactic": unit.subject,
        "maturity": unit.members[0].instance.tactic.maturity,
        "gate": unit.gate,
    }
    output = {"report": unit.metadata(".equivalence.json")}
    return equivalence.STAGE.apply(unit.subject, inputs, output, parameters)


def _instance(instance: KernelInstance) -> dict[str, Json]:
    return {
        "tactic": instance.tactic.name,
        "contract_id": instance.contract.id,
        "constants": [[name, value] for name, value in instance.constants],
        "template": instance.tactic.template,
        "macro": instance.tactic.instantiation_macro,
        "macro_symbols": list(instance.macro_symbols),
    }


def _contract(member: Member) -> dict[str, Json]:
    contract = member.instance.contract
    wanted: dict[str, Json] = {
        "kernarg_size": contract.kernarg_size,
        "launch": contract.launch.document(),
    }
    if member.arguments is not None:
        keys = ("name", "kind", "offset")
        wanted["arguments"] = [{key: item[key] for key in keys} for item in member.arguments]
    if member.abi is not None:
        from netra_build.checkasm.hazards.conformity import abi_facts

        wanted |= abi_facts(member.abi, member.instance.tactic.max_threads)
    return wanted
