"""Validation, differences and reports of finished products.

Nothing here builds anything: the files of a product are read, and what they state is derived again
or compared. Three folders and two modules:

``validate/``  derive again every document and report of an engine directory, of code objects or of
               a package with the code that made them, and name the first that differs
``diff/``      how two code objects, engine directories, catalogs or packages differ
``report/``    one HTML page about a product: what was built, from what, and what is proven of it
``why``        the chain of reasons that leads from a file back to the edit that it was made for
``upcoming``   what a build would run now, without running anything: a verdict on every action, and
               the graph as ``netra graph`` shows it, with states, durations and the critical path

It imports ``plan`` and everything that ``plan`` may import, never the graph (``pipeline.py``) or a
front end. The commands ``netra validate``, ``verify``, ``diff``, ``report`` and ``why`` use it.

Where to start: ``validate/engine.py``, the validation of an engine directory.
"""
