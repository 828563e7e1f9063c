"""The SCons front: builders for any SConstruct, and what our own SConstruct does around a build.

In reading order:

``netra``         the tool: adds the builders to an environment
``methods``       the builders: plan what is asked for, refuse what cannot be, declare it
``nodes``         the actions of a graph as SCons nodes, carried out here or in workers
``steps``         one action as SCons sees it: an executor and file nodes that ask our freshness
``context``       what one environment has declared: records, store, tool chain, steps
``up_to_date``    our SConstruct's first look: the lock, and whether there is nothing to do
``request``       a whole request restored from the store, and noted for the next run
``command_line``  variables and targets of our SConstruct, and what they ask for
``front``         our SConstruct's side before, while and after a build; the live progress line

It may import everything but ``cli``. ``up_to_date`` is loaded before the rest and imports next to
nothing. SCons decides the order and asks; whether an action runs and how is decided in ``build``.
Start with ``nodes.declare_graph``.
"""
