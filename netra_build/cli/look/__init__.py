"""Commands that show what is there and change nothing, but for the page that ``report`` writes.

``inspect_engine``
    ``inspect``, ``explain`` and ``list-tactics``: one engine directory, code object or library, as
    tables and trees or as its own JSON.
``diff``, with ``diff_text`` and ``release_notes``
    Two engines, releases, code objects or catalogs. ``inspect/diff`` finds every difference and
    returns it as JSON; the two others choose and cut what people read, as text and as Markdown.
``recorded``
    What was built in a build folder, as its record of runs knows it, planned again as it is now.
    ``graph`` and ``report`` ask it, and ``why``, which stands there: why a file was last made, and
    whether it would be made again.
``graph`` with ``graph.html``
    The actions of what was built, as text, tree, Graphviz, JSON or one page.
``report``
    One page that shows what a product is and what is proven of it.

Start with ``inspect_engine`` for the shape of a command, with ``recorded`` for how a past build is
looked at.
"""
