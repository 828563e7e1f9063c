"""Model descriptions: what is asked for, as one checked graph of tensors and operations.

A description holds a graph, or the lists of a family that a frontend makes one of. Tensors and
operations keep the order that the published format gives them, since it is written to the engine.
In reading order:

- ``model``: reads a description, checks it against the library's schema, chooses the frontend;
  start here.
- ``graph``: the records of a graph, its reader and the rules that every graph has to meet.
- ``dense``: dense operations and the tensors that come with them; the Gemma frontend.
- ``qwen``: the Qwen frontend: operation lists, layer and row templates.
- ``golden_operation``: operations that are code objects, shipped as they are.

May import the other modules of ``formats`` but ``catalogs``: a model does not know its kernels.
Code objects that are built without an engine load none of this.
"""
