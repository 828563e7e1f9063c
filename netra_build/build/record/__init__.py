"""How every action was run last, and why.

The record of runs is what reasons are made of: it says from which inputs, parameters, code and
tools an action was run last, why, and for how long. It lies beside the work files of a build
folder and is no part of any product; a build that has lost it makes nothing again that stands.

In reading order:

- ``run_record``: **the face**: ``RunRecord``, which is asked what is known of a file and told what
  was run. It is read when it is first needed and written at the end of a build.
- ``run_file``: an ``Entry``, and the record on disk. A build that runs one action of thousands
  reads the heads of all entries and the rest of one.
- ``reasons``: what an action is made from, as texts; why it ran: a closed set of causes, each with
  its words, and the differences between two sets of ingredients; how it ended.

Imports: actions (``build/graph``), what they depend on (``build/digests``) and ``core``. Who
carries out actions (``build/run``, ``scons``) and who explains them (``inspect/why``) import this
folder.
"""
