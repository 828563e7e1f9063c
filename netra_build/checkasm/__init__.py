"""checkasm: whether a gfx950 kernel is correct, from its code object alone, without hardware.

The parts ``hazards``, ``model`` and ``numerics`` can be used separately; none depends on builds,
plans or SCons. The package imports ``core``, ``asm``, ``formats`` and itself.

- ``hazards``: static checks of the listing: loads that are used too early, too few wait states,
  registers that are not allocated, reads of bytes that are no kernarg. Start at ``checker``.
- ``model``: the functional model. It runs a code object on numpy arrays, wave by wave, and reports
  what no correct kernel does: stray accesses, races, reads of values that were never written.
  Start at ``launch``.
- ``numerics``: contracts. How a library states in numpy, one rounding at a time, what its tactics
  compute, and the launches that test it. Start at ``suite``.
- ``mutate``: a test of the other three. Small faults are seeded into a kernel, and each has to be
  caught by one of them or proven harmless. Start at ``judge``.

A kernel is checked like this::

    findings = check_code_object(code, disassembly)              # hazards.checker
    prepared = prepare(hsaco, symbol, toolchain, label)          # model.launch
    for one in load_suite(statement).launches({}, seeds=[1]):    # numerics.suite
        outcome = prepared.launch(one.grid, one.block, list(one.values.values()), Options())
        outputs = one.by_name(outcome.outputs.values())
        results = one.compare(outputs)                           # numerics.scenario

``hazards``, ``model`` and ``numerics`` do not import each other: a statement that shared code with
the model would share its mistakes. ``mutate`` imports all three.

The build runs the first three in ``stages/check_object.py`` and ``stages/check_numerics.py``; the
commands are ``netra check``, ``netra mutate`` and ``scons check-numerics``. docs/checks.md says
what each check means and how it is tested, docs/mutation.md gives the results of the mutations.
"""
