"""Mutation: seed one small fault at a time into a kernel, and see which check catches it.

It may import ``core``, ``asm``, ``formats`` and the rest of ``checkasm``. In reading order:

- ``mutant``: a unit as statements, one fault of it, the kinds of faults, the verdict on a fault.
- ``statements``: faults of whole statements: waits, wait states, barriers, descriptor, metadata.
- ``value``: faults of the parts of an instruction: registers, constants,
  conditions, lanes, deletions.
- ``judge``: every check run on one mutant, the cheapest first. Start here.
- ``intervals``, ``proofs``: why a mutant that no check catches changes nothing.
- ``campaign``: one run on one kernel, in one process or several; guards of a template.
- ``report``: the result as text, JSON or Markdown.
- ``document``: scores and survivors of all kernels, as data and as tables of docs/mutation.md.

Proofs track outstanding operations by an analysis of their own, so that a fault in the wait
analysis of the static checks shows as a survivor instead of hiding one.
"""

SCORES = "evidence/gfx950/mutation.json"
"""Library name of the record of scores."""
