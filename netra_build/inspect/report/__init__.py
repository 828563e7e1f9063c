"""The content of a product and what is proven of it, as one HTML page.

In reading order:

``facts``
    The records that all modules here use: claims (proven, open, refuted), kernels, code
    objects, operations, files, the seal; what is and is not proven of the whole, in the words of
    the head of the page; and how numbers are written.
``read_product``, ``read_kernels``
    Read those records from the files of a product, an engine directory or the code objects of a
    recipe. Whatever can be derived from the bytes is derived, and a report counts only for the
    ``.text`` that it names.
``artifact_graph``
    Positions of the boxes and lines of the drawing, from sources to the sealed product.
``page`` with ``page.html`` and ``page.css``
    The page: the template, its style sheet, and what they need beside the records. The page needs
    no network, no script and no other file; equal products give equal bytes. The two texts count
    as code of ``page`` in every digest. ``page`` is also the stage that makes one in a build.

Start with ``page.report_page`` and ``page.html`` side by side. Python counts, selects and
orders; the template decides the layout.

May import ``asm`` (code objects, listings), ``checkasm`` (statistics of a listing, mutation
scores), ``formats``, ``release`` (names of files) and ``stages`` (the digest of a seal). Jinja is
loaded by ``page.page_texts`` alone: who writes no page does not wait for it.
"""
