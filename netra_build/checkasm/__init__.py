"""checkasm: whether a gfx950 kernel is right, told from its code object alone, without hardware.

Four parts, each of which can be used without the others; none knows of builds, plans or SCons. The
package imports ``core``, ``asm``, ``formats`` and itself.

- ``hazards``: static checks. What the listing says is wrong: loads that are used too early, too few
  wait states, registers that are not allocated, kernargs that nobody owns. Start at ``checker``.
- ``model``: the functional model. It runs a code object on numpy arrays, wave by wave, and reports
  what no correct kernel does on the way: stray accesses, races, values that were never written.
  Start at ``launch``.
- ``numerics``: contracts. What each tactic computes, stated in numpy one rounding at a time, and
  the launches that try it. Start at ``suite``.
- ``mutate``: how good the other three are. Small faults are seeded into a kernel, and each has to
  be caught by one of them or proven harmless. Start at ``judge``.

They meet in a few lines. A kernel is checked like this::

    findings = check_code_object(code, disassembly)              # hazards.checker
    prepared = prepare(hsaco, symbol, toolchain, label)          # model.launch
    for one in launches(tactic, {}, seeds=[1]):                  # numerics.suite
        outcome = prepared.launch(one.grid, one.block, list(one.values.values()), Options())
        outputs = one.by_name(outcome.outputs.values())
        results = one.compare(outputs)                           # numerics.compare

``hazards``, ``model`` and ``numerics`` are neighbours that do not import each other: a statement
that borrowed from the model would agree with its mistakes. ``mutate`` imports all three.

The build runs the first three in ``stages/check_object.py`` and ``stages/check_numerics.py``; the
commands are ``netra check``, ``netra mutate`` and ``scons check-numerics``. docs/checks.md says
what each check means and how it is itself checked, docs/mutation.md what the faults have taught.
"""
