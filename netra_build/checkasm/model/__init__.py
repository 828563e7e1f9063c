"""Functional model of the gfx950 wave64 machine: run a linked code object on numpy arrays.

Agreement with silicon is unproven: the model idealises transcendentals (correctly rounded) and
MFMA (exact dot product, one rounding), and knows no timing. docs/model.md has its limits and what
its checks find. This folder may import ``core``, ``asm``, ``formats`` and itself. In reading order,
from a launch to one instruction:

- ``launch``: a kernel, its arguments and its grid become outputs and a report. Start here.
- ``arguments``: arguments as text, as Python values, and as bytes of the kernarg segment.
- ``entry``: the registers that wavefronts start with.
- ``machine``: instructions by address; runs groups, joins those that meet, holds at barriers.
- ``batch``: what all wavefronts that run together share: memory, LDS, budget, findings.
- ``group``: wavefronts in lock step: registers, EXEC, what was written, what is under way.
- ``scoreboard``: memory operations that nobody waited for yet, behind s_waitcnt.
- ``findings``: the dynamic checks, what they found and what was executed.
- ``memory``, ``lds``: global memory as buffers far apart; work-group memory and its races.
- ``operands``, ``sources``: an instruction as printed; how its operands are read and written.
- ``isa/``: what each instruction does. ``arith/``: the arithmetic below, without a machine.
- ``arrays``: lanes, masks and scratch memory as numpy arrays.

Every check is a look at state that instructions pass on their way: a reader or writer of
``sources`` asks the group whether its register holds a value, an access asks memory whether its
bytes exist and LDS who touched them last. Nothing else has to know of the checks.
"""
