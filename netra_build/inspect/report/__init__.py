"""What a product is and what is proven of it, as one HTML page.

In reading order:

``facts``
    The records that everything here speaks of: claims (proven, open, refuted), kernels, code
    objects, operations, files, the seal; and how numbers are written.
``read_product``, ``read_kernels``
    Read those records from the files of a product, an engine directory or the code objects of a
    recipe. Nothing is taken at its word that the bytes at hand can say, and a report counts only
    for the ``.text`` that it names.
``verdict``
    What is and is not proven of the whole, in the words of the head of the page.
``artifact_graph``
    Where the boxes and lines of the drawing stand, from sources to the sealed product.
``page`` with ``page.html`` and ``page.css``
    The page: the template, its style sheet, and what they need beside the records. The page needs
    no network, no script and no other file; equal products give equal bytes. The two texts count
    as code of ``page`` in every digest.
``make_report``
    The stage that makes a page in a build, and the reader of the table of mutation scores.

Start with ``page.report_page`` and ``page.html`` side by side. Template and code are kept apart:
what is counted, chosen or ordered is decided in Python, what stands where in the template.

May import ``asm`` (code objects, listings), ``checkasm`` (statistics of a listing), ``formats``,
``release`` (names of files) and ``stages`` (the digest of a seal). Jinja is loaded by
``page.page_texts`` alone: who writes no page does not wait for it.
"""
