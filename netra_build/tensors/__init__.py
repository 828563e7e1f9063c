"""Large tensors: files of them, ranges of their bytes, and the layouts that kernels read.

A checkpoint may be larger than memory, so nothing here holds a whole tensor. What gives bytes is
a source, which is read at any offset, and what is made of it is an iterator of pieces. In reading
order:

- ``byte_source``: sources of bytes: a span of an open file, several sources joined.
- ``tensor_file``: the safetensors container, read lazily and written in pieces.
- ``relayout``: transforms of one matrix (shuffle into tiles, transpose, widen), each with its
  inverse, by the names that layout plans and ``netra repack`` give them.
- ``relayout_plan``: a whole layout plan applied to checkpoint tensors; the place to start.

May import ``core`` and ``formats``, where the reader of layout plans and the table of data types
are. Nothing here knows of kernels, builds or the command line.
"""
