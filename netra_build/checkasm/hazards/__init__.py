"""Static checks of a code object: faults that its listing shows, without running it.

Instructions become effects (registers read and written), effects become a control flow graph, and
each check is one data flow analysis of that graph. This folder may import ``core``, ``asm``,
``formats`` and itself. In reading order:

- ``instruction_table``: every gfx950 mnemonic by class, as data.
- ``operand_traits``: traits of an instruction that its operands decide.
- ``effects``: sets of registers as bits of one integer, and what one instruction reads and writes.
- ``findings``: the rules with their severities; findings, and reports as text, JSON and SARIF.
- ``flow``: basic blocks and edges of a kernel; data flow to a fixed point, within a budget.
- ``hazard_table``: wait states between dependent instructions, and what they depend on, as data.
- ``waits``: loads that may be outstanding where their registers are used; missing wait states.
- ``kernarg_layout``: the argument list of the metadata, and reads of what no argument owns.
- ``kernargs``: the argument list compared with the bytes that the code reads.
- ``checker``: all checks of a code object, and those that need no data flow. Start here.

Two modules make no findings: ``conformity`` compares the facts of a contract with those of the code
object, ``kernel_statistics`` counts instructions, widths and waves.

docs/checks.md has the rules and their limits. A new rule is a row in ``findings``, a seeded fault
in ``tests/asm/test_check_rules.py``, and a few lines in one of the analyses.
"""
