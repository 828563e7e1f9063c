"""The executor: carry out actions, one way for every front.

``execution``   what the actions of a graph run with, why one runs, and the tally of this build
``executor``    read the inputs, restore or make the outputs, write them whole or not at all
``workers``     processes that carry out actions for this one, each a copy of it
``build_lock``  one build at a time in a build folder

``executor.perform`` is the face: SCons's nodes, ``netra rebuild``, ``netra reproduce`` and ``netra
kernels`` call it; a worker calls ``attempt``, which logs nothing, and its parent logs for it.
``build_lock`` is loaded by the up-to-date check. Start with ``executor.attempt``.
"""
