"""The units of a product, with their members.

A unit is one code object to make, with the paths of its files; a member is one kernel of it.
Kernels of a plan that have the same code under several names are found here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from netra_build.asm.source.closure import Closure, flat_unit, include_closure
from netra_build.asm.source.lexer import shared_text
from netra_build.build.graph.actions import Place, Root
from netra_build.core.canonical_json import Json
from netra_build.formats.contracts import FixedContract
from netra_build.formats.golden import GoldenSource
from netra_build.formats.launch import KernelAbi
from netra_build.formats.plan import EnginePlan, KernelInstance, OperationPlan
from netra_build.plan.instances import Constants, tactic_id, unit_source

PUBLISHED_SUFFIXES = {".dis": ".dis", ".text": ".text", ".metadata.txt": ".metadata"}
"""Suffix of a published file by the suffix that engine directories give it."""


class Member(NamedTuple):
    """One kernel of a code object: its instance, the kernargs it must have, its golden source.

    ``arguments`` are what the caller will pass, None when unknown; ``abi`` is the
    tactic's record, if it has one; ``statement`` names the files of its numeric contract.
    """

    instance: KernelInstance
    arguments: tuple[Mapping[str, Json], ...] | None
    abi: KernelAbi | None
    golden: GoldenSource | None
    statement: tuple[str, ...] = ()

    @property
    def symbol(self) -> str:
        """Kernel symbol."""
        return self.instance.symbol

    @property
    def threads(self) -> int:
        """Work-items of a work-group."""
        return self.instance.contract.launch.work_items

    @property
    def subject(self) -> str:
        """Tactic id, for build lines."""
        return tactic_id(self.instance.tactic)

    @property
    def has_contract(self) -> bool:
        """Tell whether there is a numeric contract for the kernel."""
        return bool(self.statement)


@dataclass(frozen=True, slots=True)
class Unit:
    """One code object to make, of one kernel or of several, and the paths of its files.

    ``name`` is the code object's; ``home`` and ``prefix`` give the paths of its own files (an
    engine directory, or a work folder); ``work`` is the prefix of its intermediate files. With
    ``gate`` a difference from the golden source fails the build, otherwise it is only reported;
    ``refuses_findings`` is the same for the static checks, and for facts of the code object that no
    published format states. ``leader`` is the unit with the same
    code under another name, whose object this one reuses.
    """

    name: str
    members: tuple[Member, ...]
    work: str
    gate: bool = True
    home: Root = Root.OUT
    prefix: str = ""
    locked_text_sha256: str | None = None
    lock_location: str = ""
    refuses_findings: bool = True
    leader: Unit | None = None
    is_stripped: bool = True
    """Without its symbol table and comment."""

    @property
    def subject(self) -> str:
        """Tactic ids of the members, for build lines."""
        return " + ".join(member.subject for member in self.members)

    @property
    def hsaco_name(self) -> str:
        """Name of the code object inside the product."""
        return f"hsaco/{self.name}.hsaco"

    @property
    def hsaco(self) -> Place:
        """Place of the code object."""
        return self.at_home(self.hsaco_name)

    @property
    def goldens(self) -> tuple[GoldenSource, ...] | None:
        """The golden source of every member, or None when one of them has none."""
        found = tuple(member.golden for member in self.members if member.golden is not None)
        return found if len(found) == len(self.members) else None

    @property
    def otherwise(self) -> dict[str, list[str]]:
        """Symbols that a kernel may have instead of its own."""
        return {}

    @property
    def label(self) -> str:
        """Golden labels of the members, as tables name this code object."""
        return " + ".join(golden.label for golden in self.goldens or ())

    def at_home(self, name: str) -> Place:
        """Return the place of one of the code object's own files."""
        return Place(self.home, self.prefix + name)

    def metadata(self, suffix: str) -> Place:
        """Return the place of a file that describes the code object."""
        return self.at_home(f"metadata/{self.name}{suffix}")

    def numerics(self, index: int) -> Place:
        """Return the place of one member's numeric report."""
        return self.at_home(f"metadata/{self.stem(index)}.numerics.json")

    def intermediate(self, suffix: str) -> Place:
        """Return the place of an intermediate file of the whole code object."""
        return Place(Root.WORK, f"{self.work}{self.name}{suffix}")

    def stem(self, index: int) -> str:
        """Return the name, without suffix, of the files of one member."""
        return self.name if len(self.members) == 1 else f"{self.name}.{index}"

    def source(self, index: int) -> Place:
        """Return the place of one member's instance."""
        return self.at_home(f"generated/{self.stem(index)}.s")

    def member_records(self) -> list[dict[str, Json]]:
        """Return the planned part of a build result about every member."""
        return [
            {
                "tactic": member.instance.tactic.name,
                "tactic_id": member.instance.tactic.stable_id,
                "contract_id": member.instance.contract.id,
                "symbol": member.symbol,
                "source": f"generated/{self.stem(index)}.s",
            }
            for index, member in enumerate(self.members)
        ]

    def described(self) -> dict[str, Json]:
        """Return the planned part of the description of the code object."""
        pairs = zip(self.member_records(), self.members, strict=True)
        members = [
            {**record, "name": self.stem(index), "maturity": member.instance.tactic.maturity}
            for index, (record, member) in enumerate(pairs)
        ]
        locked = self.locked_text_sha256
        return {"name": self.name, "members": members, "locked_text_sha256": locked}

    def of_member(self, index: int, suffix: str) -> Place:
        """Return the place of an intermediate file of one member."""
        return Place(Root.WORK, f"{self.work}{self.stem(index)}{suffix}")


@dataclass(frozen=True)
class PublishedUnit(Unit):
    """A code object in the layout of the published recipe build."""

    is_stripped: bool = False

    @property
    def otherwise(self) -> dict[str, list[str]]:
        """A template may use the first symbol of its macro, which a recipe need not advertise."""
        pairs = [(member.symbol, member.instance.macro_symbols[0]) for member in self.members]
        return {symbol: [first] for symbol, first in pairs if first != symbol}

    @property
    def hsaco_name(self) -> str:
        """Name of the code object inside the product."""
        return f"{self.name}.hsaco"

    def metadata(self, suffix: str) -> Place:
        """Return the place of a description; one that is not published is an intermediate file."""
        if suffix not in PUBLISHED_SUFFIXES:
            return self.intermediate(suffix)
        return self.at_home(self.name + PUBLISHED_SUFFIXES[suffix])

    def of_member(self, index: int, suffix: str) -> Place:
        """Return the place of a file of one member; its object is published."""
        place = super().of_member(index, suffix)
        return self.at_home(f"{self.stem(index)}.o") if suffix == ".o" else place


def code_leaders(kernels: Sequence[KernelInstance], sources: Mapping[str, bytes]) -> list[int]:
    """Return, for each kernel, the number of the first one with the same code.

    ``sources`` holds the library files of all closures. Only kernels of one tactic are compared
    whose contracts agree on the code object: kernargs, work-group and LDS.
    """
    by_form: dict[tuple[object, ...], list[int]] = {}
    for number, kernel in enumerate(kernels):
        by_form.setdefault(_form(kernel), []).append(number)
    leaders = [0] * len(kernels)
    for numbers in by_form.values():
        texts = _texts([kernels[number] for number in numbers], sources)
        leader_by_text: dict[bytes, int] = {}
        for number in numbers:
            text = texts[kernels[number].constants]
            leaders[number] = leader_by_text.setdefault(text, number)
    return leaders


def _form(kernel: KernelInstance) -> tuple[object, ...]:
    contract = kernel.contract
    launch = contract.launch
    names = tuple(name for name, _ in kernel.constants)
    sizes = (contract.kernarg_size, launch.block, launch.lds_bytes, launch.dynamic_lds_bytes)
    return (kernel.tactic.name, names, len(kernel.macro_symbols), *sizes)


def _texts(
    members: Sequence[KernelInstance], sources: Mapping[str, bytes]
) -> dict[Constants, bytes]:
    """Return the texts of the members by their constants; equal texts give equal code."""
    first = {kernel.constants: kernel for kernel in reversed(members)}
    if len(first) == 1:
        return dict.fromkeys(first, b"")
    tactic = members[0].tactic
    closure = include_closure(tactic.template, sources.__getitem__, tactic.location)
    return {constants: _text(item, closure) for constants, item in first.items()}


def _text(kernel: KernelInstance, closure: Closure) -> bytes:
    location = kernel.source_name
    flat = flat_unit(unit_source(kernel), closure, location)
    return shared_text(flat, kernel.macro_symbols, [name for name, _ in kernel.constants])


def share_code(plan: EnginePlan) -> EnginePlan:
    """Return the plan with one code object for all operations whose code is the same.

    Each operation keeps its own contract and launch; symbol and code object are the leader's.
    """
    kernels, numbers = plan.kernels, code_leaders(plan.kernels, plan.include_by_name)
    pairs = zip(kernels, numbers, strict=True)
    leaders = {kernel.symbol: kernels[number].symbol for kernel, number in pairs}
    operations = tuple(_led(operation, leaders) for operation in plan.operations)
    kept = tuple(kernel for kernel in plan.kernels if leaders[kernel.symbol] == kernel.symbol)
    return replace(plan, operations=operations, kernels=kept)


def _led(plan: OperationPlan, leaders: Mapping[str, str]) -> OperationPlan:
    contract = plan.selection.contract
    if not isinstance(contract, FixedContract):
        return plan
    led = replace(contract, symbol=leaders[contract.symbol])
    return replace(plan, selection=plan.selection._replace(contract=led))
