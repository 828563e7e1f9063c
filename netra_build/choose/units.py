"""Units: the kernels of one product, each with its places, its contract and its golden source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json
from netra_build.core.graph import Place, Root
from netra_build.records.golden import GoldenSource
from netra_build.records.plan import KernelInstance


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
class EngineParts:
    """What the engine directory holds apart from its kernels.

    ``documents`` by file name, ``golden_objects`` (file name in the engine to object name
    below the external root), ``recipe`` as recorded.
    """

    name: str
    documents: Mapping[str, Json]
    golden_objects: Mapping[str, str]
    recipe: Json
    not_pinned: tuple[str, ...]
    notes: tuple[str, ...] = ()
