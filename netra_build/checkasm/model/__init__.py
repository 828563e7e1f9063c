"""Functional model of the gfx950 wave64 machine: run a linked code object on numpy arrays.

Agreement with silicon is unproven: the model idealises transcendentals (correctly rounded) and
MFMA (exact dot product, one rounding), and does not model timing. docs/model.md has its limits and
what its checks find. This folder may import ``core``, ``asm``, ``formats`` and itself. In reading
order, from a launch to one instruction:

- ``launch``: a kernel, its arguments and its grid become outputs and a report. Start here.
- ``arguments``: arguments as text, as Python values, and as bytes of the kernarg segment.
- ``entry``: the registers that wavefronts start with.
- ``machine``: instructions by address; runs groups, joins those that meet, stops them at barriers.
- ``batch``: what all wavefronts that run together share: memory, LDS, budget, findings.
- ``group``: wavefronts in lock step: registers, EXEC, written lanes, outstanding operations.
- ``scoreboard``: outstanding memory operations, for s_waitcnt.
- ``findings``: the dynamic checks, what they found and what was executed.
- ``memory``, ``lds``: global memory as buffers far apart; work-group memory and its races.
- ``operands``, ``sources``: an instruction as printed; what reads and writes its operands.
- ``isa/``: what each instruction does. ``arith/``: the arithmetic below, without a machine.
- ``arrays``: lanes, masks and scratch memory as numpy arrays.

Checks are made where state is accessed: a reader or writer of ``sources`` checks that the register
holds a value, a memory access checks that its bytes exist and, in LDS, who accessed them last.
Instructions themselves contain no checks.
"""
