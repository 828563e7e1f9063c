"""What each instruction does: rows of a table, and builders for what does not fit a row.

A row names mnemonics, the kinds of their results and sources, and a pure function between typed
values; registers, inactive lanes, modifiers and checks are handled outside. In reading order:

- ``table``: the form of a row, and the table from mnemonic to semantics.
- ``scalar``: scalar arithmetic, logic, comparison, EXEC; rows, and how their operands are read.
- ``vector``: the operands and modifiers of element-wise vector instructions, DPP and SDWA included.
- ``integer``, ``floating``: rows of element-wise vector instructions; comparisons in the latter.
- ``packed``: the same meanings twice, on halves or register pairs.
- ``convert``: conversions, to and from floats of at most eight bits.
- ``lane_moves``: DPP, SDWA, masks of lanes, instructions that move values between lanes.
- ``control``: branches, waits, barriers, hardware registers.
- ``addresses``, ``memory_access``: where memory is accessed; scalar and vector loads and stores.
- ``atomics``, ``lds_access``: read-modify-write operations; instructions of LDS.
- ``matrix``, ``matrix_tiles``: MFMA; layouts of its operands and products rounded once.
- ``catalogue``: all of it together, what is covered, what an instruction costs.

To add an instruction that computes element by element, write its row; its tests are a row of
``tests/sim/every_*.py``. To add any other, decorate a builder with its mnemonics: it takes a
``Form`` of ``sources``, decodes once and returns a function of a group of wavefronts.
"""
