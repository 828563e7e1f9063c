"""Compare our build with the bare tools and with ninja: ``./netra python bench/bench_build.py``.

One run measures, for each number of synthetic kernels, everything in the same conditions: the
assembler and the linker through ``xargs -P2``, ninja on the same two commands, and our build with
``-j2``. Ours starts with an empty store, checks nothing by time stamp, and makes the source units,
the records of every closure and of every code object besides. Wall clock, processor time of the
whole tree of processes and memory of the largest process are taken of every case.

``--write`` puts the tables between the markers of docs/performance.md. ninja is a package of
Debian (``ninja-build``) and of PyPI; without it its columns are empty. The bare tools are clang
and ld.lld of LLVM 20 or newer.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_report import Case, Size, report, write_report
from measured import Cost, measure
from recipe_bench import measure_recipe
from synthetic_kernels import COMMON, kernel_symbol, template_name, write_library

ROOT = Path(__file__).resolve().parent.parent
LINKED = ("SConstruct", "site_scons", "netra_build", ".toolchain")
COPIED = ("kernels", "manifests", "recipes", "schemas")
EMPTY = "from SCons.Script import DefaultEnvironment\nDefaultEnvironment(tools=[])\n"
NINJA_RULES = """\
rule assemble
  command = {clang} -x assembler -target amdgcn-amd-amdhsa -mcpu=gfx950 -I. -c $in -o $out
rule link
  command = {lld} -shared -o $out $in
"""


class Bench:
    """The folders of one number of kernels, and how each builder is run in them."""

    def __init__(self, folder: Path, count: int, tools: Path) -> None:
        self.folder = folder
        self.count = count
        self.clang, self.lld = str(tools / "clang"), str(tools / "ld.lld")
        self.library = folder / "library"
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        write_library(self.library, count)

    def project(self, name: str) -> Path:
        """Return a new checkout: our SConstruct and package, the synthetic library as its own."""
        made = self.folder / name
        made.mkdir()
        for part in COPIED:
            shutil.copytree(self.library / part, made / part)
        for part in LINKED:
            if (ROOT / part).exists():
                (made / part).symlink_to((ROOT / part).resolve())
        return made

    def scons(self, folder: Path, *words: str) -> Cost:
        """Run our build of the recipe."""
        command = [sys.executable, "-P", "-m", "SCons", "-j2", "recipe=bench", *words]
        return measure(command, folder, {**self.environment, "PYTHONPATH": str(ROOT)})

    def netra(self, folder: Path) -> Cost:
        """Run ``netra build`` of the recipe, which loads no SCons when nothing is to do."""
        command = [sys.executable, "-P", "-m", "netra_build.cli.main", "build", "bench"]
        return measure(command, folder, {**self.environment, "PYTHONPATH": str(ROOT)})

    def empty(self) -> Cost:
        """Run SCons on a SConstruct that asks for nothing."""
        folder = self.folder / "empty"
        folder.mkdir(exist_ok=True)
        (folder / "SConstruct").write_text(EMPTY)
        return measure([sys.executable, "-P", "-m", "SCons"], folder, self.environment)

    def bare(self, units: Path) -> Path:
        """Return a folder with what the bare tools need: templates and the same units."""
        made = self.folder / "bare"
        shutil.copytree(self.library / "kernels", made / "kernels")
        shutil.copytree(units, made / "units")
        (made / "out").mkdir()
        names = [kernel_symbol(index) for index in range(self.count)]
        (made / "names").write_text("".join(f"{name}\n" for name in names))
        (made / "build.ninja").write_text("".join(self._ninja(names)))
        return made

    def _ninja(self, names: list[str]) -> Iterator[str]:
        yield NINJA_RULES.format(clang=self.clang, lld=self.lld)
        for index, name in enumerate(names):
            template = template_name(index)
            needed = f"{template} {template.rpartition('/')[0]}/family.inc {COMMON}"
            yield f"build ninja/{name}.o: assemble units/{name}.s | {needed}\n"
            yield f"build ninja/{name}.hsaco: link ninja/{name}.o\n"

    def xargs(self, folder: Path) -> Cost:
        """Assemble all units, then link all objects."""
        flags = ["-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx950", "-I.", "-c"]
        each = ["xargs", "-a", "names", "-P2", "-I{}"]
        made = [self.clang, *flags, "units/{}.s", "-o", "out/{}.o"]
        linked = [self.lld, "-shared", "-o", "out/{}.hsaco", "out/{}.o"]
        first = measure([*each, *made], folder, self.environment)
        return first + measure([*each, *linked], folder, self.environment)

    def ninja(self, folder: Path) -> Cost | None:
        """Run ninja on the same commands; None without ninja."""
        program = shutil.which("ninja")
        return measure([program, "-j2"], folder, self.environment) if program else None


def edit_kernel(folder: Path) -> None:
    """Change one instruction of the first kernel."""
    _edit(folder / template_name(0), "v_mov_b32 v10, 0\n", "v_mov_b32 v10, 33\n")


def edit_comment(folder: Path) -> None:
    """Add a comment to the file that all kernels include."""
    path = folder / COMMON
    path.write_text(path.read_text() + "// a remark\n")


def edit_primitive(folder: Path) -> None:
    """Add an instruction to what all kernels begin with."""
    old = "\tv_lshlrev_b32 v1, 2, v0\n"
    _edit(folder / COMMON, old, f"\ts_nop 0\n{old}")


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new))


EDITS: tuple[tuple[str, Callable[[Path], None]], ...] = (
    ("one kernel edited", edit_kernel),
    ("comment in the shared include", edit_comment),
    ("instruction of the shared include", edit_primitive),
)


def measure_size(
    folder: Path, count: int, tools: Path, say: Callable[[str], None], *, brief: bool
) -> Size:
    """Measure every case at one number of kernels; see ``--brief``."""
    bench = Bench(folder, count, tools)
    cases: list[Case] = []

    def case(name: str, **costs: Cost | None) -> None:
        cases.append(Case(name, {key: cost for key, cost in costs.items() if cost is not None}))
        say(cases[-1].line())

    project = bench.project("project")
    cold = bench.scons(project)
    bare = bench.bare(project / "build/recipes/bench/generated")
    case("cold", ours=cold, xargs=bench.xargs(bare), ninja=bench.ninja(bare))
    warm = bench.scons(bench.project("elsewhere"))
    case("warm store, new directory", ours=warm)
    case("empty SConstruct", ours=bench.empty())
    case("nothing to do", ours=bench.scons(project), ninja=bench.ninja(bare))
    # The up-to-date check takes no option that it does not know, so SCons evaluates everything.
    case("full evaluation", ours=bench.scons(project, "--max-drift=-1"))
    for name, edit in EDITS:
        edit(project)
        edit(bare)
        ours = bench.scons(project)
        is_shared = edit is not edit_kernel
        case(name, ours=ours, ninja=None if brief and is_shared else bench.ninja(bare))
    bench.netra(project)
    case("nothing to do, netra build", ours=bench.netra(project))
    return Size(count, tuple(cases))


@contextmanager
def scratch(kept: Path | None) -> Iterator[Path]:
    """Yield a folder for all trees, and remove it unless it was named."""
    if kept is not None:
        kept.mkdir(parents=True)
        yield kept
        return
    folder = Path(tempfile.mkdtemp(prefix="netra-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Measure, print and perhaps write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernels", type=int, nargs="+", default=[100, 1000], metavar="N")
    parser.add_argument("--tools", type=Path, default=Path("/usr/lib/llvm-22/bin"))
    parser.add_argument("--folder", type=Path, help="keep all trees in this new folder")
    parser.add_argument(
        "--brief",
        action="store_true",
        help="leave out the simulations of the real recipe, and ninja where it makes all again",
    )
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    options = parser.parse_args()
    if shutil.which("ninja") is None:
        print("ninja is missing (Debian: ninja-build); its columns stay empty")
    with scratch(options.folder) as folder:
        sizes = []
        for count in options.kernels:
            print(f"{count} kernels", flush=True)
            trees = folder / str(count)
            trees.mkdir()
            size = measure_size(
                trees, count, options.tools, lambda s: print(s, flush=True), brief=options.brief
            )
            sizes.append(size)
        recipe = measure_recipe(ROOT, folder / "recipe", brief=options.brief)
    text = report(sizes, recipe)
    print(text)
    if options.write:
        write_report(ROOT / "docs/performance.md", text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
