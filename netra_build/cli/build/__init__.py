"""Commands that build: engine directories, code objects, repacked weights.

``build``         ``netra build``: reports that there is nothing to do, or calls ``rebuild``
``rebuild``       builds in full: ``netra rebuild`` runs every stage of a product once, without a
                  record of earlier runs, ``netra recipe`` makes the code objects of a published
                  deployment recipe, and ``netra build`` an engine directory in place or a product
``compile``       ``netra compile``: a model description and a profile become an engine directory
``validate``      ``netra validate``, with ``--build`` the build in place: its graph and its run
``repack``        ``netra repack``: weights in the layout that the kernels read
"""
