"""Tactic catalogs: the ways to meet a contract that a kernel library offers.

An entry states less than a tactic holds: the rest stands in the text of its template and of what
that includes, and is read from there. In reading order:

- ``tactic``: the records, with the digests that identify a tactic.
- ``catalog``: reads every catalog of a library; start here. A bad entry becomes a fault of the
  result, which blocks only what would consider it.
- ``entry``: reads one entry against its closure.
- ``closures``: include closures as the published format scans them, and what they state.
"""
