"""Measure the structure of the product code: ``./netra python bench/structure.py [--root DIR]``.

Prints lines, files, functions and places that stand twice, of the package below ``--root`` (this
tree by default), as a table; with ``--before DIR`` those of another checkout in a column beside it.
``--write`` puts the table between the markers of docs/layout.md.

Two places are near-duplicates when six or more lines in a row are the same but for names, numbers
and strings. Comments, docstrings, imports, blank lines and lone brackets do not count, nor does a
run of which fewer than half of the lines have six words or more, such as a record's fields. Runs
of the same two files count once.
"""

from __future__ import annotations

import argparse
import ast
import io
import keyword
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "netra_build"
BUILD = ("build", "scons")
BUILD_BEFORE = ("core", "scons")
"""Where the build engine lay while `core/` held it."""
RUN_LINES = 6
LONG_LINE_WORDS = 6
MOST_PLACES = 8
MARKERS = ("<!-- structure: begin -->", "<!-- structure: end -->")
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def sources(package: Path) -> dict[str, str]:
    """Return the text of every source file of the package, Python and C++."""
    paths = [path for suffix in ("py", "cpp", "h") for path in package.rglob(f"*.{suffix}")]
    return {path.relative_to(package).as_posix(): path.read_text() for path in sorted(paths)}


def functions(tree: ast.Module) -> Iterator[int]:
    """Yield the length of every function in lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def passed_over(tree: ast.Module) -> set[int]:
    """Return the lines of docstrings and imports."""
    found: set[int] = set()
    for node in ast.walk(tree):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text or isinstance(node, ast.Import | ast.ImportFrom):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def shapes(text: str) -> list[tuple[str, int]]:
    """Return each line of code as words, names, numbers and strings left out, and its length."""
    skipped = passed_over(ast.parse(text))
    lines: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in SKIPPED or token.start[0] in skipped or not token.string.strip():
            continue
        plain = token.type == tokenize.OP or keyword.iskeyword(token.string)
        lines[token.start[0]].append(token.string if plain else "_")
    rows = [(" ".join(words), len(words)) for _, words in sorted(lines.items())]
    return [row for row in rows if any(word not in "()[]{},:" for word in row[0].split())]


def duplicate_pairs(texts: dict[str, str]) -> int:
    """Return how many pairs of files, a file with itself among them, share such a run."""
    places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for name, text in texts.items():
        rows = shapes(text)
        for start in range(len(rows) - RUN_LINES + 1):
            run = rows[start : start + RUN_LINES]
            if sum(length >= LONG_LINE_WORDS for _, length in run) * 2 >= RUN_LINES:
                places[tuple(row for row, _ in run)].append((name, start))
    pairs = set()
    for found in places.values():
        if len(found) <= MOST_PLACES:
            for index, (name, start) in enumerate(found):
                others = found[index + 1 :]
                apart = [o for o, at in others if o != name or at >= start + RUN_LINES]
                pairs.update((name, other) for other in apart)
    return len(pairs)


def figures(root: Path) -> dict[str, int]:
    """Return the figures of one checkout by their names in the table."""
    texts = sources(root / PACKAGE)
    python = {name: text for name, text in texts.items() if name.endswith(".py")}
    lines = {name: text.count("\n") for name, text in texts.items()}
    folders = Counter(name.rpartition("/")[0] for name in python)
    sizes = sorted(size for text in python.values() for size in functions(ast.parse(text)))
    parts = BUILD if (root / PACKAGE / BUILD[0]).is_dir() else BUILD_BEFORE
    engine = [n for name, n in lines.items() if name.split("/")[0] in parts]
    return {
        "lines of product code": sum(lines.values()),
        "of these the build engine (`build/`, `scons/`)": sum(engine),
        "modules": len(python) - sum(name.endswith("__init__.py") for name in python),
        "files in the fullest folder": max(folders.values()),
        "lines of the longest module": max(lines[name] for name in python),
        "lines of a function, nine of ten": sizes[-(-len(sizes) * 9 // 10) - 1],
        "lines of the longest function": sizes[-1],
        "pairs of near-duplicates": duplicate_pairs(python),
    }


def table(now: dict[str, int], before: dict[str, int] | None) -> str:
    """Return the figures as a table in Markdown."""
    head = "| figure | before | now |\n|---|---|---|" if before else "| figure | now |\n|---|---|"
    rows = [head]
    for name, value in now.items():
        other = f" {before[name]:,} |" if before else ""
        rows.append(f"| {name} |{other} {value:,} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--before", type=Path, help="a checkout to compare with")
    parser.add_argument("--write", action="store_true", help="put the table into docs/layout.md")
    options = parser.parse_args()
    text = table(figures(options.root), figures(options.before) if options.before else None)
    print(text, end="")
    if options.write:
        page = ROOT / "docs" / "layout.md"
        head, rest = page.read_text().split(MARKERS[0])
        tail = rest.split(MARKERS[1])[1]
        page.write_text(f"{head}{MARKERS[0]}\n{text}{MARKERS[1]}{tail}")


if __name__ == "__main__":
    main()
