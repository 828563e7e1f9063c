"""Run a kernel of a linked code object on numpy arrays, with every dynamic check on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Protocol

import numpy as np

from netra_build.asm.objects.code_object import CodeObject, Kernel, read_code_object
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.asm.objects.metadata import KernelMetadata
from netra_build.checkasm.model.arguments import Arguments, Geometry, Kernargs, build_kernargs
from netra_build.checkasm.model.arith.transcendental import APPROXIMATE
from netra_build.checkasm.model.arrays import LANES, Array, Scratch
from netra_build.checkasm.model.batch import Batch
from netra_build.checkasm.model.entry import (
    PRELOAD_ENTRY_BYTES,
    Entry,
    dispatch_packet,
    refuse_unsupported,
    start_group,
)
from netra_build.checkasm.model.findings import LDS_OVER_BUDGET, Checks, Collector, Finding, Report
from netra_build.checkasm.model.isa.catalogue import build_step
from netra_build.checkasm.model.lds import LDS_BUDGET, LocalStore
from netra_build.checkasm.model.machine import Machine, Program
from netra_build.checkasm.model.memory import CODE_BASE, AddressSpace
from netra_build.checkasm.model.sources import Context
from netra_build.core.errors import BadInput

JUNK_BYTES = 256
"""Random bytes behind the kernarg segment, so that reading too far gives no plausible values."""

MAX_WAVES = 1 << 22
MAX_WORK_ITEMS = 1024
MAX_SEGMENT_BYTES = 1 << 26
BATCH_WAVES = 256
"""Wavefronts that run in lock step: enough to hide the interpreter, few enough for the cache."""

BATCH_LDS_BYTES = 1 << 26
BATCH_REGISTER_BYTES = 1 << 27
DEFAULT_BUDGET = 20_000_000
DEFAULT_FINDINGS = 64


class Disassembler(Protocol):
    """What the model needs of a tool chain."""

    def disassemble(self, hsaco: bytes, *, label: str = ...) -> str:
        """Return the disassembly of a linked code object."""


@dataclass(frozen=True)
class Options:
    """How to run. ``budget`` bounds the lock-step instructions of one batch of work-groups;
    expensive ones, such as matrix products, count many times.
    """

    dynamic_lds_bytes: int = 0
    checks: Checks = field(default_factory=Checks)
    budget: int = DEFAULT_BUDGET
    seed: int = 1
    max_findings: int = DEFAULT_FINDINGS


@dataclass(frozen=True)
class Outcome:
    """The buffers after the run, by argument name and shaped like the inputs, and the report."""

    outputs: Mapping[str, Array]
    report: Report


def launch(
    hsaco: bytes,
    symbol: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    args: Arguments,
    *,
    toolchain: Disassembler,
    options: Options | None = None,
    location: str = "code object",
) -> Outcome:
    """Execute ``symbol`` on ``grid`` work-groups of ``block`` work-items.

    ``args`` are arrays for pointers and numbers for values, by name or in order, or the bytes of
    the kernarg segment. Inputs are not modified. ``BadInput`` for code objects, launches and
    instructions that the model cannot execute; what a program does wrong is a finding.
    """
    prepared = prepare(hsaco, symbol, toolchain, location)
    return prepared.launch(grid, block, args, options or Options())


def prepare(
    hsaco: bytes, symbol: str, toolchain: Disassembler, location: str = "code object"
) -> Prepared:
    """Read and disassemble a code object once, to launch its kernel several times."""
    code = read_code_object(hsaco, location)
    kernel = code.kernel(symbol, location)
    refuse_unsupported(kernel.descriptor, location)
    metadata = kernel.metadata
    if metadata is None:
        raise BadInput(f'metadata does not list kernel "{symbol}"', location=location)
    disassembly = parse_disassembly(toolchain.disassemble(hsaco, label=location), location)
    context = Context(kernel.descriptor.allocated_vgprs, kernel.descriptor.accum_offset)
    instructions = {i.address: i for i in disassembly.instructions}
    program = Program(instructions, lambda i: build_step(i, context), location)
    return Prepared(code, kernel, metadata, program, location)


@dataclass(frozen=True)
class Prepared:
    """A kernel that is ready to be launched."""

    code: CodeObject
    kernel: Kernel
    metadata: KernelMetadata
    program: Program
    location: str

    @property
    def has_approximate_results(self) -> bool:
        """Tell whether an instruction of the code may be one unit in the last place off."""
        return not self.program.mnemonics().isdisjoint(APPROXIMATE)

    def approximating(self, approximation: str) -> Prepared:
        """Return the kernel on a machine whose approximate results are of this kind.

        See ``arith.transcendental``; ``Prepared`` itself gives the nearest numbers.
        """
        d = self.kernel.descriptor
        context = Context(d.allocated_vgprs, d.accum_offset, approximation)
        return replace(self, program=self.program.rebuilt(lambda i: build_step(i, context)))

    def launch(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        args: Arguments,
        options: Options,
    ) -> Outcome:
        """Run one launch; see ``launch``."""
        geometry = Geometry(grid, block)
        _check_geometry(geometry, self.metadata, self.location)
        with np.errstate(all="ignore"):
            return _Launch(self, geometry, args, options).run()


def _check_geometry(geometry: Geometry, metadata: KernelMetadata, location: str) -> None:
    sizes = (*geometry.grid, *geometry.block)
    if len(geometry.grid) != 3 or len(geometry.block) != 3 or min(sizes) < 1:
        raise BadInput("grid and block need three sizes of at least one", location=location)
    limit = min(metadata.max_flat_workgroup_size, MAX_WORK_ITEMS)
    if geometry.work_items > limit:
        expected, got = f"at most {limit}", geometry.work_items
        raise BadInput("block is too large", location=location, expected=expected, got=got)
    groups = prod(geometry.grid)
    if groups * geometry.waves > MAX_WAVES:
        expected = f"at most {MAX_WAVES} waves"
        raise BadInput("grid is too large", location=location, expected=expected, got=groups)


class _Launch:
    """One launch in progress."""

    def __init__(
        self, prepared: Prepared, geometry: Geometry, args: Arguments, options: Options
    ) -> None:
        self.prepared = prepared
        self.geometry = geometry
        self.options = options
        self.memory = AddressSpace()
        self.collector = Collector(options.max_findings)
        self.scratch = Scratch()
        self.args = args
        self._map_code()
        self.kernargs, kernarg_address = self._map_kernargs()
        self.entry = self._entry(kernarg_address)
        self.lds_bytes = self._lds_bytes()

    def _map_code(self) -> None:
        """Map the loaded sections, so that constants in the code object can be read."""
        sections = [s for s in self.prepared.code.sections if s.flags & 2 and s.data]
        end = max((s.address + len(s.data) for s in sections), default=0)
        if end > MAX_SEGMENT_BYTES:
            raise BadInput("code object spreads too far", location=self.prepared.location)
        image = np.zeros(end, np.uint8)
        for section in sections:
            loaded = np.frombuffer(section.data, np.uint8)
            image[section.address : section.address + loaded.size] = loaded
        self.memory.place_at("the code object", CODE_BASE, image)

    def _map_kernargs(self) -> tuple[Kernargs, int]:
        size = self.prepared.kernel.descriptor.kernarg_size
        size = size or self.prepared.metadata.kernarg_segment_size
        if size > MAX_SEGMENT_BYTES:
            expected, where = f"at most {MAX_SEGMENT_BYTES}", self.prepared.location
            what = "kernarg segment is too large"
            raise BadInput(what, location=where, expected=expected, got=size)
        metadata, dynamic = self.prepared.metadata, self.options.dynamic_lds_bytes
        kernargs = build_kernargs(metadata, size, self.args, self.geometry, self.memory, dynamic)
        random = np.random.default_rng(self.options.seed)
        junk = random.integers(0, 256, size=JUNK_BYTES, dtype=np.uint8)
        data = np.concatenate([np.frombuffer(kernargs.data, np.uint8), junk])
        region = self.memory.place("the kernarg segment", data, readable=size, writable=False)
        return kernargs, region.base

    def _entry(self, kernarg_address: int) -> Entry:
        kernel = self.prepared.kernel
        packet, what = dispatch_packet(self.geometry), "the dispatch packet"
        dispatch = self.memory.place(what, packet, readable=packet.size, writable=False)
        padded = self.kernargs.data + bytes(-len(self.kernargs.data) % 4)
        preloads = kernel.descriptor.kernarg_preload_length > 0
        return Entry(
            kernel.descriptor,
            self.geometry,
            kernarg_address,
            dispatch.base,
            np.frombuffer(padded, np.uint32),
            kernel.entry_address + (PRELOAD_ENTRY_BYTES if preloads else 0),
            self.options.seed,
        )

    def _lds_bytes(self) -> int:
        """Fixed plus dynamic LDS; more than the hardware has is a finding."""
        fixed = self.prepared.kernel.descriptor.group_segment_fixed_size
        wanted = fixed + self.options.dynamic_lds_bytes
        if wanted > LDS_BUDGET:
            pc, detail = self.entry.pc, f"{wanted} bytes of LDS wanted, {LDS_BUDGET} exist"
            self.collector.add(Finding(LDS_OVER_BUDGET, pc, "", (0, 0, 0), 0, None, detail))
        return min(wanted, LDS_BUDGET)

    # Running

    def run(self) -> Outcome:
        """Run all work-groups, batch after batch, and collect the outputs."""
        program, found = self.prepared.program, self.collector
        before = program.counts()
        if not found.counts:
            for ids in self._batches():
                batch = self._batch(ids)
                machine = Machine(program, batch, self.prepared.location)
                machine.run(start_group(batch, self.entry, ids))
                if batch.budget <= 0:
                    break
        executed = program.counts_since(before)
        total = sum(executed.values())
        report = Report(tuple(found.kept), dict(found.counts), total, executed)
        return Outcome(self._outputs(), report)

    def _batches(self) -> list[Array]:
        """Split the work-groups, x fastest, into batches that fit the cache."""
        width, height, depth = self.geometry.grid
        number = np.arange(width * height * depth, dtype=np.int64)
        ids = np.stack([number % width, number // width % height, number // (width * height)], 1)
        registers = self.prepared.kernel.descriptor.allocated_vgprs * LANES * 5
        by_memory = BATCH_REGISTER_BYTES // registers // self.geometry.waves
        by_lds = BATCH_LDS_BYTES // max(self.lds_bytes, 1)
        size = max(1, min(BATCH_WAVES // self.geometry.waves, by_memory, by_lds))
        return [ids[at : at + size] for at in range(0, len(ids), size)]

    def _batch(self, ids: Array) -> Batch:
        checks = self.options.checks
        waves, unset = self.geometry.waves, checks.uninitialised
        lds = LocalStore(len(ids), self.lds_bytes, waves, races=checks.races, unset=unset)
        return Batch(
            self.memory,
            lds,
            checks,
            self.collector,
            ids,
            waves,
            self.prepared.kernel.descriptor.accum_offset,
            self.options.budget,
            self.scratch,
        )

    def _outputs(self) -> dict[str, Array]:
        result = {}
        for name, region in self.kernargs.regions.items():
            flat, original = region.data, region.origin
            assert original is not None
            if not region.is_private:
                # Nothing was stored: the caller gets its own array back, without a copy.
                flat = flat.view()
                flat.flags.writeable = False
            result[name] = flat.view(original.dtype).reshape(original.shape)
        return result
