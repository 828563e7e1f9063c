"""Bars and meters as SVG in per cent: they take the width they get and need no script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netra_build.inspect.report.markup import Content, Markup, grouped, tag


def stacked_bar(parts: Iterable[tuple[str, int]], class_: str) -> Markup:
    """Return a bar of the parts in order; each part's colour is the class ``f-NAME``."""
    shown = [(name, count) for name, count in parts if count]
    whole = sum(count for _, count in shown)
    rects, at = [], 0
    for name, count in shown:
        title = tag("title", f"{name}: {grouped(count)}")
        rects.append(
            tag(
                "rect",
                title,
                x=_percent(at, whole),
                width=_percent(count, whole),
                height="100%",
                class_=f"f-{name}",
            )
        )
        at += count
    return tag("svg", rects, class_=f"bar {class_}".rstrip(), role="img", aria_hidden="true")


def meter(name: str, value: Content, part: int, whole: int) -> Markup:
    """Return a named value over a bar that shows its share of what there is."""
    rest = max(0, whole - part)
    head = tag("span", tag("span", name), tag("b", value))
    bar = stacked_bar([("fill", min(part, whole)), ("none", rest)], "")
    return tag("div", head, bar, class_="meter")


def legend(counts: Mapping[str, int]) -> Markup:
    """Return the names, colours and counts of a stacked bar's parts."""
    items = [
        tag("li", _swatch(name), f"{name} ", tag("b", grouped(count)))
        for name, count in counts.items()
        if count
    ]
    return tag("ul", items, class_="legend")


def _swatch(name: str) -> Markup:
    square = tag("rect", width="11", height="11", rx="2", class_=f"f-{name}")
    return tag("svg", square, viewBox="0 0 11 11", aria_hidden="true")


def _percent(part: int, whole: int) -> str:
    """Return a share with two decimals, by whole numbers alone."""
    hundredths = (part * 10000 + whole // 2) // whole
    return f"{hundredths // 100}.{hundredths % 100:02}%"
