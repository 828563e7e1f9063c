"""Commands that show what exists and change nothing, except the page that ``report`` writes.

``inspect_engine``
    ``inspect``, ``explain`` and ``list-tactics``: one engine directory, code object or library, as
    tables and trees or as its own JSON.
``diff``, with ``diff_text`` and ``release_notes.md``
    Two engines, releases, code objects or catalogs. ``inspect/diff`` finds every difference and
    returns it as JSON; it is selected and cut for readers here, as text and as release notes.
``recorded``
    The recorded requests of a build folder, planned again from the present files.
    ``graph`` and ``report`` use it, and ``why``, which is defined there: why a file was last made,
    and whether it would be made again.
``graph`` with ``graph.html``
    The actions of what was built, as text, tree, Graphviz, JSON or one page.
``report``
    One page with the content of a product and what is proven of it.

Start with ``inspect_engine`` for the shape of a command, with ``recorded`` for how a past build is
read.
"""
