"""Numeric contracts: what each tactic computes, stated in numpy, and the launches that test it.

A statement follows the rounding points of a contract one by one, without looking at the assembly,
and uses nothing of the functional model. It may import ``core`` and itself. In reading
order:

- ``formats``: E4M3 and BF16 numbers, and the shuffled order in which weights are stored.
- ``arithmetic``: operations rounded once, results of instructions that may be one unit off, sums
  over lanes.
- ``inputs``: how a case (``zeros``, ``subnormals``, ``largest``, ...) fills arrays.
- ``scenario``: one launch with its expected outputs, compared bit by bit or within a bound;
  ``Entry``, what a statement declares.
- ``online_softmax``: what the attention families share.
- ``tactics``: the statements, a module for each family. Being declared there registers a tactic.
- ``suite``: the launches that a tactic has to pass. It is the interface of this folder, and the
  only module that can be imported without numpy.

Inputs come from a label of tactic, case and seed, ``TACTIC/CASE/SEED``; the same label always
gives the same bytes. To see one launch::

    from netra_build.checkasm.numerics.suite import scenario
    launch = scenario("moe_gate_up_decode_m1", case="largest", seed=7)
"""
