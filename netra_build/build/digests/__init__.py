"""Digests that name what an action makes and the code that makes it.

``action_digest``  the name of a result; the code behind a stage: our modules that it reaches by
                   import, Python, and the libraries it uses
``distributions``  which distributions our code imports, and where on Python's path each lies

``distributions`` is loaded by the up-to-date check at every start and imports nothing of ours.
Start with ``action_digest.action_digest``.
"""
