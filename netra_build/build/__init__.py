"""The build engine: actions, what they make, and whether it has to be made.

A build is a graph of actions. An action is one application of a stage, a pure function from named
bytes and parameters to named bytes. Its *action digest* covers all that can change its outputs.
The same digest decides whether it has to run, names its result in the store and says why it ran.

In reading order:

``graph/``      what an action and a graph are, and a product folder that is whole or has no seal
``digests/``    the action digest, and the digest of the code behind a stage
``freshness/``  whether files are what was recorded: one file, one action, a whole request
``run/``        the one executor: decide, restore or make, write, log; the workers beside it
``cache/``      the store: outputs by action digest, and traces of whole requests
``record/``     what was run last, why and for how long

Nothing here knows of GPUs, of SCons or of the command line: the fronts declare graphs and call
``run/executor.py``. It imports ``core`` alone. Start with ``graph/actions.py``, then read
``perform`` in ``run/executor.py`` from the bottom up.
"""
