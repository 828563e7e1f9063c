"""Units: the kernels of one product, each with its places, its contract and its golden source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netra_build.choose.instances import Closing, close_contract, instantiate
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, EvidenceIncomplete, Refused
from netra_build.core.graph import Place, Root
from netra_build.load.golden import golden_sources, match_golden
from netra_build.load.kernel_abi import read_abi
from netra_build.load.library import Library
from netra_build.records.abi import KernelAbi
from netra_build.records.contracts import GoldenContract
from netra_build.records.golden import GoldenSource
from netra_build.records.plan import EnginePlan, KernelInstance
from netra_build.records.tactic import FixedTactic

UNIT_GRID = (1, 1, 1)
"""Grid of a tactic that is built on its own, outside any engine."""


@dataclass(frozen=True)
class Unit:
    """One kernel to make: its instance, the launch and kernargs it must conform to, its golden.

    ``home`` is where the kernel's own files go (an engine directory, or a work folder below
    ``prefix``); ``work`` is the prefix of its intermediate files.
    """

    instance: KernelInstance
    arguments: tuple[Mapping[str, Json], ...]
    abi: tuple[Mapping[str, Json], ...] | None
    golden: GoldenSource | None
    home: Root
    prefix: str
    work: str
    gate: bool

    @property
    def symbol(self) -> str:
        """Kernel symbol, which also names the files."""
        return self.instance.symbol

    @property
    def subject(self) -> str:
        """Tactic id without its target, for build lines."""
        return self.instance.tactic.name.split(".", 1)[1]

    def at_home(self, name: str) -> Place:
        """Return the place of one of the kernel's own files."""
        return Place(self.home, self.prefix + name)

    def intermediate(self, suffix: str) -> Place:
        """Return the place of an intermediate file."""
        return Place(Root.WORK, f"{self.work}{self.symbol}{suffix}")

    @property
    def hsaco(self) -> Place:
        """Place of the sealed code object."""
        return self.at_home(f"hsaco/{self.symbol}.hsaco")

    def metadata(self, suffix: str) -> Place:
        """Place of a file that describes the code object."""
        return self.at_home(f"metadata/{self.symbol}{suffix}")


@dataclass(frozen=True)
class GoldenObject:
    """A code object that a user brings: its file name and what it must be."""

    name: str
    wanted: Mapping[str, Json]


@dataclass(frozen=True)
class EngineParts:
    """What the engine directory holds apart from its kernels.

    ``documents`` by file name, ``golden_objects`` that are to be copied, ``recipe`` as recorded.
    """

    name: str
    documents: Mapping[str, Json]
    golden_objects: tuple[GoldenObject, ...]
    recipe: Json
    not_pinned: tuple[str, ...]
    notes: tuple[str, ...] = ()


def golden_objects(plan: EnginePlan) -> tuple[GoldenObject, ...]:
    """Return the golden code objects that a plan names, by file name."""
    found = {}
    for operation in plan.operations:
        contract = operation.selection.contract
        if isinstance(contract, GoldenContract):
            wanted: dict[str, Json] = {
                "sha256": contract.hsaco_sha256,
                "symbol": contract.symbol,
                "kernarg_size": contract.kernarg_size,
                "lds_bytes": contract.launch.lds_bytes,
                "block": contract.launch.work_items,
            }
            found[contract.hsaco_name] = GoldenObject(contract.hsaco_name, wanted)
    return tuple(found[name] for name in sorted(found))


def engine_units(
    library: Library, plan: EnginePlan, name: str, *, golden_required: bool
) -> list[Unit]:
    """Return the units of one engine, in the order of the plan.

    Raises ``EvidenceIncomplete`` when a kernel has no golden source and one is required.
    """
    arguments = _arguments_by_symbol(plan)
    units = []
    for instance in plan.kernels:
        tactic = tactic_id(instance.tactic)
        sources = golden_sources(library, tactic)
        golden = match_golden(sources, dict(instance.contract.specialization))
        if golden is None and golden_required:
            raise EvidenceIncomplete(
                f'"{tactic}" has no golden source for {dict(instance.contract.specialization)}',
                location=instance.tactic.location,
                hint="write one and run netra golden accept, or set golden: optional",
            )
        units.append(
            Unit(
                instance=instance,
                arguments=arguments[instance.symbol],
                abi=_abi_kernargs(read_abi(library, tactic)),
                golden=golden,
                home=Root.OUT,
                prefix="",
                work=f"engines/{name}/",
                gate=True,
            )
        )
    return units


def tactic_units(library: Library, tactic: FixedTactic, home: Root, *, gate: bool) -> list[Unit]:
    """Return one unit per golden source of a tactic, under the golden source's own symbol.

    Raises ``EvidenceIncomplete`` when the tactic has no golden source or no ABI record.
    """
    name = tactic_id(tactic)
    sources, abi = golden_sources(library, name), read_abi(library, name)
    if not sources or abi is None:
        lack = "no ABI record" if sources else "no golden source"
        raise EvidenceIncomplete(f'"{name}" has {lack}', location=tactic.location)
    return [
        Unit(
            instance=_golden_instance(tactic, golden),
            arguments=_abi_kernargs(abi) or (),
            abi=None,
            golden=golden,
            home=home,
            prefix="" if home is Root.OUT else f"tactics/{golden.label}/",
            work=f"tactics/{golden.label}/{'gated' if gate else 'compared'}/",
            gate=gate,
        )
        for golden in sources
    ]


def tactic_id(tactic: FixedTactic) -> str:
    """Return the catalog id of a tactic: its name without the target."""
    return tactic.name.removeprefix(f"{tactic.target}.")


def refuse_unpinned(tactics: Sequence[FixedTactic]) -> None:
    """Raise ``Refused`` for the first tactic whose pins are not those of its files."""
    for tactic in tactics:
        if not tactic.is_pinned:
            raise Refused(
                f'"{tactic_id(tactic)}" is not pinned to its template and closure',
                location=tactic.location,
                hint="run netra pin, or build without locked=1",
            )


def unpinned(tactics: Sequence[FixedTactic]) -> tuple[str, ...]:
    """Return the ids of the tactics whose pins are not those of their files, sorted."""
    return tuple(sorted({tactic_id(tactic) for tactic in tactics if not tactic.is_pinned}))


def _abi_kernargs(abi: KernelAbi | None) -> tuple[Mapping[str, Json], ...] | None:
    return None if abi is None else tuple(argument.document() for argument in abi.arguments)


def _golden_instance(tactic: FixedTactic, golden: GoldenSource) -> KernelInstance:
    closing = Closing(golden.specialization, UNIT_GRID, tactic.fallback, golden.symbol)
    contract = close_contract(tactic, closing, golden.expect)
    return instantiate(tactic, contract, (), golden.expect)


def _arguments_by_symbol(plan: EnginePlan) -> dict[str, tuple[Mapping[str, Json], ...]]:
    """Return the kernargs of each kernel; operations that share one must agree on the layout."""
    found: dict[str, tuple[Mapping[str, Json], ...]] = {}
    for operation in plan.operations:
        symbol = operation.selection.symbol
        if symbol is None:
            continue
        known = found.setdefault(symbol, operation.arguments)
        if _layout(known) != _layout(operation.arguments):
            raise BadInput(
                f'operations of "{symbol}" disagree on its kernargs',
                location=operation.operation.name,
                expected=_layout(known),
                got=_layout(operation.arguments),
            )
    return found


def _layout(arguments: tuple[Mapping[str, Json], ...]) -> list[tuple[Json, Json]]:
    return [(argument["kind"], argument["offset"]) for argument in arguments]
