"""Why actions ran, and what would run now.

A reason is one cause of a closed set, with what it is about. It is made where it is decided that an
action runs (``build/run/decide``), is kept in the record of runs, and is put into words here alone.

In reading order:

- ``reasons``: every cause with its words, and the differences between two sets of ingredients.
- ``upcoming``: what a build would run now, without running anything: a verdict on every action.
- ``why``: **the face**: ``answer`` is the chain of reasons behind one file, from its last change
  back to the edit that started it; ``upcoming_lines`` is what a build would do.
- ``graph_view``: all actions with states, digests, durations and the critical path, as
  ``netra graph`` shows them.

``reasons`` needs ``build/digests`` alone and is imported by the record of runs. The others need
that record, ``build/freshness`` and the plans of ``build/run``; only who is asked loads them.
Which files a name in a question stands for is not known here: see ``inspect/why``.
"""
