"""All semantics, and which mnemonics of the processor they cover."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.model.group import Group, Outcome, Run
from netra_build.checkasm.model.isa import (  # noqa: F401 - importing fills the table
    control,
    convert,
    floating,
    integer,
    lane_moves,
    lds_access,
    matrix,
    memory_access,
    packed,
    scalar,
)
from netra_build.checkasm.model.isa.table import TABLE
from netra_build.checkasm.model.machine import Step
from netra_build.checkasm.model.operands import Unsupported, decode
from netra_build.checkasm.model.sources import Context, Form

FROM_NOTES = ("v_mfma_scale_f32_16x16x128_f8f6f4", "v_mfma_scale_f32_32x32x64_f8f6f4")
"""Forms whose lane maps come from programming notes, not from a run of reference kernels."""


WEIGHTS = {"mfma": 100, "atomic": 100, "_f64": 300, "rtn": 100}
"""Parts of mnemonics whose semantics take much longer than an addition."""


WEIGHTS_PER_WAVE = {"v_fma_f64": 30, "v_fmac_f64": 30, "v_div_fmas_f64": 30, "v_rsq_f64": 60}
"""Additional cost of each wavefront, for semantics that go lane by lane."""


@dataclass(frozen=True)
class Coverage:
    """Which base mnemonics the model executes."""

    implemented: tuple[str, ...]
    missing: tuple[str, ...]
    """Known to the assembler for this processor, refused by the model."""
    from_notes: tuple[str, ...]

    def line(self) -> str:
        """Return one line for people."""
        total = len(self.implemented) + len(self.missing)
        return f"{len(self.implemented)} of {total} base mnemonics implemented"


def coverage(known: Iterable[str], used: Iterable[str] | None = None) -> Coverage:
    """Compare the table with all base mnemonics of the processor, or with those ``used``."""
    wanted = set(known) | TABLE.keys() if used is None else set(used)
    missing, implemented = wanted - TABLE.keys(), wanted & TABLE.keys()
    notes = tuple(name for name in FROM_NOTES if name in wanted)
    return Coverage(tuple(sorted(implemented)), tuple(sorted(missing)), notes)


def build_step(instruction: Instruction, context: Context) -> Step:
    """Return the executable form of one instruction; ``Unsupported`` says what is not modelled."""
    form = Form(**vars(decode(instruction)), context=context)
    builder = TABLE.get(form.base)
    if builder is None:
        raise Unsupported(f'instruction "{form.base}"')
    run = builder(form)
    if per_wave := WEIGHTS_PER_WAVE.get(form.base):
        run = _charged(run, per_wave)
    weight = next((weight for part, weight in WEIGHTS.items() if part in form.base), 1)
    return Step(run, form.next_pc, form, weight)


def _charged(run: Run, per_wave: int) -> Run:
    def charged(g: Group) -> Outcome:
        g.batch.charge(per_wave * g.n)
        return run(g)

    return charged
