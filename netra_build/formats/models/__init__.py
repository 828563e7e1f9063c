"""Model descriptions: what is asked for, as one checked graph of tensors and operations.

A description holds a graph, or the lists of a family that a frontend makes one of. In reading
order:

- ``model``: reads a description, checks it against the library's schema, chooses the frontend.
- ``graph``: the records of a graph, its reader and the rules that every graph has to meet.
- ``dense``: dense operations and the tensors that come with them; the Gemma frontend.
- ``qwen``: the Qwen frontend: operation lists, layer and row templates.
- ``golden_operation``: operations that are code objects, shipped as they are.
"""
