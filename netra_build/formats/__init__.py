"""Records of every format that is read or written, and the strict readers that make them.

A format has one module with both: frozen dataclasses whose fields are what the rest of the
library works with, and the function that makes them of bytes or of a JSON object. What a record
looks like when it is written is its ``document()``. A reader refuses what it does not know, and
says where: ``FILE#/POINTER`` for JSON, ``FILE:LINE`` for YAML. In reading order:

- ``fields``: typed reading of one JSON object. Every other reader is made of it; start here.
- ``vocabulary``: words that formats fix: data types and their sizes, format names, maturities.
- ``library``: the root of a kernel library, whose files are read once and by root-relative name.
- ``launch``: how a kernel is launched, its scratch memory, and the ABI of its kernargs.
- ``catalogs``: tactic catalogs, checked against the text of the templates that they pin.
- ``contracts``: what a kernel computes, with the identity of which its id is the digest.
- ``golden``: the source that a template must equal, and the evidence of what was seen of a kernel.
- ``profiles``: serving shapes. ``models``: model descriptions and the graphs made of them.
- ``plan``: every decision about one engine, with its memory plan, before it is written down.
- ``layout_plan``: how weights come from checkpoint tensors.
- ``yaml_text``, ``build_recipe``: our recipes. ``deployment``: recipes of the published format.
- ``schema_subset``: the part of JSON Schema through which the schemas of a library are read.

May import ``core`` and ``asm.source`` (the text of templates); opens no file but through the
``Disk`` that it is given. Nothing is decided here: what follows from the records is ``plan``.
"""
