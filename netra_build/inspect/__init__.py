"""What a product is, how two of them differ, and whether one is what it claims to be.

Nothing here builds anything: products are read from disk, and what they say is derived again or
compared. Three folders and one module:

``validate/``  derive again every document and report of an engine directory or a package, with the
               planner and the checks that made them, and name the first that says otherwise
``diff/``      how two code objects, engine directories, recipes or packages differ, and since when
``report/``    one HTML page about a product: what was built, from what, and what is proven of it
``why``        the chain of reasons that leads from a file back to the edit it was made for

It imports ``plan`` and everything that ``plan`` may import, never the graph (``pipeline.py``) or a
front. The commands ``netra validate``, ``verify``, ``diff``, ``report`` and ``why`` are its users.

Where to start: ``validate/engine.py``, which reads an engine directory from its seal inwards.
"""
