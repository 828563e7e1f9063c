"""The tables of ``bench_build``: what was measured, and the goals beside it, met or not."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from measured import Cost
from recipe_bench import RecipeCost

ACTIONS_PER_KERNEL = 6
MARKS = ("<!-- bench: build -->", "<!-- bench: end -->")


@dataclass(frozen=True)
class Case:
    """One case and what each builder took: ``ours``, and where they can, ``xargs``, ``ninja``."""

    name: str
    costs: Mapping[str, Cost]

    def line(self) -> str:
        """Return what is shown while the benchmark runs."""
        parts = [
            f"{key} {cost.wall:.2f} s ({cost.cpu:.2f} cpu, {cost.peak_mb:.0f} MB)"
            for key, cost in self.costs.items()
        ]
        return f"  {self.name}: {', '.join(parts)}"


@dataclass(frozen=True)
class Size:
    """All cases at one number of kernels."""

    kernels: int
    cases: tuple[Case, ...]

    def cost(self, name: str, builder: str = "ours") -> Cost:
        """Return one cost; every case has one of ours."""
        return next(case for case in self.cases if case.name == name).costs[builder]

    def has(self, name: str, builder: str) -> bool:
        """Tell whether a builder was measured in a case."""
        return any(case.name == name and builder in case.costs for case in self.cases)


@dataclass(frozen=True)
class Goal:
    """A goal, what was measured in wall clock and in processor time, and the most allowed."""

    text: str
    most: float
    wall: float | None
    cpu: float | None
    unit: str = "x"

    def row(self) -> str:
        """Return the row of the table; the mark speaks of both figures."""
        known = [value for value in (self.wall, self.cpu) if value is not None]
        met = [value <= self.most for value in known]
        mark = "met" if all(met) else "not met" if not any(met) else "met in one of two"
        shown = " | ".join("" if v is None else f"{v:.2f}" for v in (self.wall, self.cpu))
        return f"| {self.text} | {self.most:g} {self.unit} | {shown} | {mark} |"


def report(sizes: Sequence[Size], recipes: Sequence[RecipeCost] | None) -> str:
    """Return the whole text between the markers."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    head = f"{_machine()}; load while it ended: {load}."
    lines = ["", head, "", *_goal_table(sizes, recipes or ())]
    for size in sizes:
        lines += ["", *_size_table(size)]
    if recipes:
        lines += ["", *_recipe_table(recipes)]
    return "\n".join([*lines, ""])


def write_report(path: Path, text: str) -> None:
    """Replace what stands between the markers of a document."""
    before, start, rest = path.read_text().partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not start or not end:
        raise SystemExit(f"{path}: markers are missing")
    path.write_text(f"{before}{start}\n{text}\n{end}{after}")


def _machine() -> str:
    name = next(
        line.partition("=")[2].strip('"\n')
        for line in Path("/etc/os-release").read_text().splitlines()
        if line.startswith("PRETTY_NAME=")
    )
    return f"{os.cpu_count()} cores, {name}, Python {platform.python_version()}"


def _goal_table(sizes: Sequence[Size], recipes: Sequence[RecipeCost]) -> Iterator[str]:
    yield "| goal | at most | by wall clock | by processor time | |"
    yield "|---|---|---|---|---|"
    for size in sizes:
        yield from (goal.row() for goal in _goals(size))
    for recipe in recipes:
        text = f"real recipe, {recipe.title}: cold / its {recipe.count} commands in turn"
        yield _ratio(text, 0.5, recipe.ours, recipe.commands).row()


def _goals(size: Size) -> Iterator[Goal]:
    count, empty, full = size.kernels, size.cost("empty SConstruct"), size.cost("full evaluation")
    actions = ACTIONS_PER_KERNEL * count
    cold = size.cost("cold")
    for other in ("xargs", "ninja"):
        if size.has("cold", other):
            against = size.cost("cold", other)
            yield _ratio(f"{count} kernels, cold / {other}", 0.4, cold, against)
    few = count <= 1000
    ours = size.cost("nothing to do")
    yield _ratio(f"{count}, nothing to do / empty SConstruct", 2.5 if few else 6, ours, empty)
    bare = size.cost("nothing to do, netra build")
    yield _ratio(f"{count}, `netra build` / empty SConstruct", 1.5 if few else 4, bare, empty)
    per_action = 1000 * full.cpu / actions
    yield Goal(f"{count}, full evaluation an action", 0.35, None, per_action, "ms")
    one = size.cost("one kernel edited")
    more = (one.wall - full.wall, one.cpu - full.cpu)
    yield Goal(f"{count}, one kernel edited beyond the full evaluation", 0.5, *more, "s")
    comment = size.cost("comment in the shared include")
    assemblies = comment.output.count("\nASM ")
    text = f"{count}, comment in the shared include ({assemblies} assemblies) / full evaluation"
    yield _ratio(text, 2, comment, full)
    yield _ratio(f"{count}, warm store / cold", 0.3, size.cost("warm store, new directory"), cold)
    peak = max(case.costs["ours"].peak_mb for case in size.cases)
    most = 120 + 16 * actions / 1024
    yield Goal(f"{count}, peak memory", round(most), peak, None, "MB")


def _ratio(text: str, most: float, ours: Cost, other: Cost) -> Goal:
    return Goal(text, most, ours.wall / other.wall, ours.cpu / other.cpu)


def _size_table(size: Size) -> Iterator[str]:
    builders = [
        key for key in ("ours", "xargs", "ninja") if any(key in c.costs for c in size.cases)
    ]
    yield f"{size.kernels} kernels, {ACTIONS_PER_KERNEL} actions each: seconds (processor seconds)."
    yield ""
    yield f"| case | {' | '.join(builders)} | our peak MB |"
    yield f"|---|{'---|' * len(builders)}---|"
    for case in size.cases:
        shown = [
            f"{case.costs[key].wall:.2f} ({case.costs[key].cpu:.2f})" if key in case.costs else ""
            for key in builders
        ]
        yield f"| {case.name} | {' | '.join(shown)} | {case.costs['ours'].peak_mb:.0f} |"


def _recipe_table(recipes: Sequence[RecipeCost]) -> Iterator[str]:
    yield "The recipe of 18 code objects, cold: seconds (processor seconds)."
    yield ""
    yield "| what | ours | its tool commands in turn |"
    yield "|---|---|---|"
    for recipe in recipes:
        ours, commands = recipe.ours, recipe.commands
        shown = f"{ours.wall:.2f} ({ours.cpu:.2f}) | {commands.wall:.2f} ({commands.cpu:.2f})"
        yield f"| {recipe.title} | {shown} |"
