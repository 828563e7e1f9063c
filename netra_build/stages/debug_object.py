"""Debug: the code object once more, from its raw units, with line tables of the author's files."""

from __future__ import annotations

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.source.line_table import with_line_table
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import Refused

SHIPPED = "hsaco"


def run(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return the code object with line tables under the role ``debug``.

    The input ``hsaco`` is the code object of the product; every other input is a file by the
    name that the line tables show. Parameters: ``units``, the names of the units in the order in
    which they are linked, and the ``hsaco``'s name.
    Raises ``Refused`` when its ``.text`` is not that of the code object.
    """
    files = {name: data for name, data in inputs.items() if name != SHIPPED}
    units = parameters["units"]
    objects = []
    for unit in units:
        own = {name: data for name, data in files.items() if name == unit or name not in units}
        objects.append(tools.assemble_tree(with_line_table(own, unit), unit))
    made, location = tools.link(objects), parameters["hsaco"]
    text = read_code_object(made, location).text
    shipped = read_code_object(inputs[SHIPPED], location).text
    if text != shipped:
        raise Refused(
            "debug object has another .text than the code object",
            location=location,
            expected=sha256_hex(shipped),
            got=sha256_hex(text),
        )
    return {"debug": made}


STAGE = Stage("debug", "DEBUG", __name__, run, uses_tools=True)
