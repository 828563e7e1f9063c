"""The text of one statement file: the tactics it declares, what it imports, what it may not use.

Nothing is executed here, and numpy is not loaded.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType

from netra_build.core.errors import BadInput
from netra_build.formats.vocabulary import TARGET

FOLDER = f"statements/{TARGET}"
"""Folder of a library's statements."""

TOOL_BOX = "netra_build.checkasm.numerics"
TOOLS = ("arithmetic", "formats", "inputs", "online_softmax", "scenario")
WHOLE = frozenset(("numpy", "numpy.typing", "math", "itertools", "zlib"))
"""Modules that a statement may import, and whose public names it may import."""

NAMES = {
    "__future__": "annotations",
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "collections.abc": "Callable Collection Container Generator Hashable Iterable Iterator Mapping "
    "MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized",
    "dataclasses": "InitVar KW_ONLY asdict astuple dataclass field fields replace",
    "enum": "Enum Flag IntEnum IntFlag StrEnum auto unique",
    "fractions": "Fraction",
    "functools": "cache cached_property lru_cache partial reduce total_ordering wraps",
    "typing": "Annotated Any Callable ClassVar Concatenate Final Generic Iterable Iterator Literal "
    "Mapping NamedTuple Never NewType NoReturn Optional ParamSpec Protocol Self Sequence "
    "SupportsFloat SupportsIndex SupportsInt TYPE_CHECKING Tuple TypeAlias TypeGuard TypeVar "
    "TypedDict Union Unpack cast final overload runtime_checkable",
}
"""What a statement may import from other modules, which lead to further ones."""

REFUSED = frozenset(
    (
        *("open", "exec", "eval", "compile", "input", "breakpoint", "exit", "quit"),
        *("globals", "locals", "vars", "getattr", "setattr", "delattr"),
    )
)
"""Built-in functions that no statement needs: they lead to files, other code or other modules."""

HIDDEN = frozenset(("builtins", "ctypes", "importlib", "os", "subprocess", "sys"))
"""Modules that allowed ones import, and that are refused as attributes of theirs too."""

HINT = (
    f"a statement imports {TOOL_BOX} ({', '.join(TOOLS)}), numpy, modules such as math and "
    'dataclasses, and its neighbours ("from .name import ...")'
)
MAX_BYTES = 1 << 20
_NEIGHBOUR = re.compile(r"^from \.([a-z][a-z0-9_]*) import\b", re.MULTILINE)
_DECLARES = re.compile(r"^(TACTICS|ENTRY)\b", re.MULTILINE)


@dataclass(frozen=True)
class Statement:
    """What states one tactic: its file by library-relative name, and the neighbours it imports."""

    tactic: str
    files: Mapping[str, bytes]

    @property
    def name(self) -> str:
        """The file that declares the tactic; ``BadInput`` when none does any more."""
        for name, data in self.files.items():
            if self.tactic in dict(declared(data, name)):
                return name
        raise BadInput(f'no numeric contract for "{self.tactic}"', location=", ".join(self.files))


def parsed(data: bytes, name: str) -> ast.Module:
    """Return the tree of a whole file; ``BadInput`` with the line where it is no Python."""
    text = source_text(data, name)
    with _python(name):
        return ast.parse(text, filename=name)


def compiled(data: bytes, name: str) -> CodeType:
    """Return the code of a file; ``BadInput`` for anything in it that is not allowed."""
    tree = parsed(data, name)
    _refuse_imports(tree, name, [line for _, line in neighbours(data, name)])
    _refuse_names(tree, name)
    with _python(name):
        return compile(tree, name, "exec", dont_inherit=True)


@contextmanager
def _python(name: str) -> Iterator[None]:
    try:
        yield
    except SyntaxError as error:
        raise BadInput(
            f"statement is no Python: {error.msg}", location=f"{name}:{error.lineno or 1}"
        ) from None
    except (RecursionError, MemoryError):
        raise BadInput("statement is nested too deeply", location=name) from None


def source_text(data: bytes, name: str) -> str:
    """Return the text of a file; ``BadInput`` for one that is too large or no plain text."""
    if len(data) > MAX_BYTES:
        expected, got = f"at most {MAX_BYTES} bytes", len(data)
        raise BadInput("statement is too large", location=name, expected=expected, got=got)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput("statement is not UTF-8 text", location=name) from None
    if "\0" in text:
        raise BadInput("statement holds a zero byte", location=name)
    if "\r" in text.replace("\r\n", ""):
        raise BadInput("statement ends a line with a bare carriage return", location=name)
    return text


def declared(data: bytes, name: str) -> tuple[tuple[str, int], ...]:
    """Return the tactics that a file states, each with the line of its key.

    ``BadInput`` when the declaration is not the file's last statement, or no plain dictionary.
    Only the declaration is parsed: a plan asks every file of a library.
    """
    text = source_text(data, name)
    places = [match.start() for match in _DECLARES.finditer(text)]
    if not places:
        return ()
    first = text.count("\n", 0, places[-1]) + 1
    place = f"{name}:{first}"
    if len(places) > 1:
        raise BadInput("statement file declares its tactics twice", location=place)
    if text.startswith("ENTRY = ", places[0]):
        return ((stem(name), first),)
    keys = _keys(text[places[0] :])
    if keys is None:
        parsed(data, name)
        expected = 'TACTICS = {"TACTIC": ...} or ENTRY = ... as its last statement'
        got = f'"{text[places[0] :].splitlines()[0]}"'
        raise BadInput("tactics are not declared", location=place, expected=expected, got=got)
    return tuple((tactic, first + line - 1) for tactic, line in keys)


def _keys(text: str) -> list[tuple[str, int]] | None:
    """Return the keys of a literal dictionary, the only statement of the text, with their lines."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, RecursionError, MemoryError):
        return None
    if len(body) > 1 or not isinstance(body[0], ast.Assign) or len(body[0].targets) > 1:
        return None
    table = body[0].value
    if not isinstance(table, ast.Dict):
        return None
    keys = [key for key in table.keys if isinstance(key, ast.Constant)]
    if len(keys) < len(table.keys) or not all(isinstance(key.value, str) for key in keys):
        return None
    return [(str(key.value), key.lineno) for key in keys]


def neighbours(data: bytes, name: str) -> tuple[tuple[str, int], ...]:
    """Return the file of every neighbour that a file imports, each with its line.

    Such an import begins a line, ``from .MODULE import``, so that a plan need not parse the file.
    """
    text = source_text(data, name)
    return tuple(
        (neighbour_file(name, match[1]), text.count("\n", 0, match.start()) + 1)
        for match in _NEIGHBOUR.finditer(text)
    )


def is_import(data: bytes, name: str, line: int) -> bool:
    """Tell whether what looks like an import of a neighbour is one, and no text."""
    nodes = ast.walk(parsed(data, name))
    return any(isinstance(node, ast.ImportFrom) and node.lineno == line for node in nodes)


def neighbour_file(name: str, module: str) -> str:
    """Return the name of the file that ``from .MODULE import`` in another file stands for."""
    return f"{name.rpartition('/')[0]}/{module}.py"


def _refuse_imports(tree: ast.AST, name: str, lines: Collection[int]) -> None:
    """Raise ``BadInput`` for an import of something else; ``lines`` are those of neighbours."""
    for node in ast.walk(tree):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.level != 1 or node.lineno not in lines):
            modules = ["." * node.level + (node.module or "")]
        for module in modules:
            if not _is_allowed(module, node):
                place = f"{name}:{getattr(node, 'lineno', 1)}"
                raise BadInput(f'statement imports "{module}"', location=place, hint=HINT)


def _is_allowed(module: str, node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return module in WHOLE
    is_tool = module.startswith(f"{TOOL_BOX}.") and module.rpartition(".")[2] in TOOLS
    return is_tool or module in WHOLE or module in NAMES


def _refuse_names(tree: ast.AST, name: str) -> None:
    """Raise ``BadInput`` for a built-in function that is refused, or a name like ``__class__``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            known = NAMES.get(node.module or "", "").split()
            for alias in node.names:
                if (known and alias.name not in known) or alias.name.startswith("_"):
                    place = f"{name}:{node.lineno}"
                    raise BadInput(f'statement uses "{node.module}.{alias.name}"', location=place)
        for word in _words(node):
            if word in REFUSED or word in HIDDEN or word.startswith("__"):
                place = f"{name}:{getattr(node, 'lineno', 1)}"
                raise BadInput(f'statement uses "{word}"', location=place)


def _words(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node uses by itself."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield "" if node.attr in REFUSED else node.attr
    elif isinstance(node, ast.alias):
        yield node.name
    elif isinstance(node, ast.MatchClass):
        yield from node.kwd_attrs


def stem(name: str) -> str:
    """Return the name of a file without folder and suffix."""
    return name.rpartition("/")[2].removesuffix(".py")
