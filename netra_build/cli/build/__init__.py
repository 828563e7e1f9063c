"""Commands that build: engine directories, code objects, repacked weights.

``build``         ``netra build``: says that there is nothing to do, or goes on to ``build_fully``
``build_fully``   builds an engine directory in place, or the product of a recipe
``rebuild``       ``netra rebuild``: every stage once, without a record of former runs; runs graphs
                  for the other commands too
``recipe``        ``netra recipe``: the code objects of a published deployment recipe
``compile``       ``netra compile``: a model description and a profile become an engine directory
``validate``      ``netra validate``, with ``--build`` the build in place
``published``     the graph of that build, and its execution
``repack``        ``netra repack``: weights in the layout that the kernels read
"""
