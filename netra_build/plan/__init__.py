"""Planning: every decision about a product, made before a graph of actions exists.

A plan is a value. Nothing here writes a file, starts a program or depends on how actions are run;
the same library, model, profile and options always give the same plan. In reading order:

``plan``           the entry: ``plan_engine`` makes an ``EnginePlan`` of library, model, profile and
                   options; ``plan_each`` does so for several options
``fixed``          the tactic of a fixed kernel operation, and why the others were refused
``dense``          dense operations, their contracts and the layout of their weights
``golden``         code objects that a user supplies: which a plan names, and reading them
``dataflow``       operations of a graph: locations for messages, order of launches, buffers,
                   kernargs of selected kernels with absolute offsets
``memory``         the placement of buffers in one workspace
``strict``         what is refused beyond the published compiler, from ABI records
``instances``      tactics by id; closing one gives symbols, contract, instance and unit text
``documents``      the files of an engine directory
``units``          units of a product and the paths of all their files; kernels that are one code
                   under several names
``library_units``  the units of engines, tactics and recipes, with their golden sources
``deployment``     the units of a published deployment recipe, and its planned result

A unit is one code object to make; a member is one kernel of it. The published compiler's layout
and ours differ in the paths of files and in the sections of a code object: see ``PublishedUnit``.

May import ``core``, ``build`` (paths of files), ``asm``, ``formats``, ``checkasm`` (the
files that state a tactic) and ``stages``. ``pipeline`` turns units and documents into a
graph; ``requests`` asks for plans.
"""
