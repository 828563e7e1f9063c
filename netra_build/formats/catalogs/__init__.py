"""Tactic catalogs: the ways to meet a contract that a kernel library offers.

An entry states less than a tactic holds: the rest stands in the text of its template and of what
that includes, and is read from there. The published format decides how that text is scanned, and
the digests that come of it are identities, so the scan is kept exactly. In reading order:

- ``tactic``: the records, with the digest that identifies a tactic.
- ``catalog``: reads every catalog of a library; start here. A bad entry becomes a fault of the
  result, which blocks only what would consider it.
- ``entry``: reads one entry against its closure: constants, metadata, launch block, pins.
- ``closures``: include closures as the published format scans them, and what they state.

May import the other modules of ``formats`` but ``models``, and ``asm.source`` for the scan itself.
Which tactic meets a request is decided in ``plan``.
"""
