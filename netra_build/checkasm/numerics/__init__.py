"""Numeric contracts: the tools with which a library states what each tactic computes, in numpy.

The statements are files of a kernel library, ``statements/gfx950/*.py``. One follows the rounding
points of a contract one by one, without looking at the assembly, and uses nothing of the functional
model; the launches that test it come from it. In reading order, what a statement may import:

- ``formats``: E4M3 and BF16 numbers, and the shuffled order in which weights are stored.
- ``arithmetic``: operations rounded once, results of instructions that may be one unit off, sums
  over lanes.
- ``inputs``: how a case (``zeros``, ``subnormals``, ``largest``, ...) fills arrays.
- ``scenario``: one launch with its expected outputs, compared bit by bit or within a bound;
  ``Entry``, what a statement declares.
- ``online_softmax``: what the attention families share.

How a statement is found and run:

- ``statement_source``: the text of one file: what it declares, imports and may not use.
- ``statements``: which file of a library states which tactic, with all files that it imports.
- ``loader``: modules made from the bytes of those files, and mistakes in them as one line.
- ``suite``: the launches that a tactic has to pass. It is the interface of this folder.

A file ends with ``TACTICS = {"TACTIC": Entry(...), ...}``, or, when it is called like the one
tactic it states, with ``ENTRY = Entry(...)``; a file with neither is there for its neighbours
(``from .name import ...``). The simulation of a tactic has exactly those files as inputs.

``statement_source`` and ``statements`` are for plans, which do not load numpy. The folder may
import ``core``, ``formats`` (the library) and itself.

Inputs come from a label of tactic, case and seed, ``TACTIC/CASE/SEED``; the same label always
gives the same bytes. To see one launch::

    from netra_build.checkasm.numerics.statements import read_statement
    from netra_build.checkasm.numerics.suite import load_suite
    suite = load_suite(read_statement(library, "moe_gate_up_decode_m1"))
    launch = suite.scenario(case="largest", seed=7)
"""
