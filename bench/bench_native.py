"""Kernels per second through programs and through the native part, in one run.

    ./netra python bench/bench_native.py [--rounds N] [--threads N]

Every golden source is assembled, linked and listed. The two ways take turns, round by round, so
that both meet the same load of the machine; each line shows the best round, and the ratio of the
best rounds. Nothing is compared here: the tests hold both ways to the same bytes.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from netra_build.asm.native.build import build_library
from netra_build.asm.native.session import NativeToolchain, with_native_part
from netra_build.asm.tools.toolchain import Toolchain, find_toolchain

ROOT = Path(__file__).resolve().parent.parent
SMALL_UNIT = b'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n\ts_endpgm\n'
Step = tuple[str, Callable[[bytes], object]]


def steps(tools: Toolchain) -> tuple[Step, Step, Step]:
    """Return the three steps of a kernel by name."""
    return (
        ("assemble", tools.assemble),
        ("link", lambda unit: tools.link([unit])),
        ("disassemble", tools.disassemble),
    )


def seconds(call: Callable[[bytes], object], items: Sequence[bytes], threads: int) -> float:
    """Return the seconds that one round takes."""
    start = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(call, items):
            pass
    return time.perf_counter() - start


def compare(
    label: str,
    calls: Sequence[Callable[[bytes], object]],
    items: Sequence[bytes],
    asked: argparse.Namespace,
) -> None:
    """Print one line: kernels per second through programs and in process, and their ratio."""
    best = [float("inf"), float("inf")]
    for _ in range(asked.rounds):
        for index, call in enumerate(calls):
            best[index] = min(best[index], seconds(call, items, asked.threads))
    rates = [len(items) / value for value in best]
    print(f"{label:24} {rates[0]:10.1f} {rates[1]:12.1f} {best[0] / best[1]:8.1f} x")


def start_seconds(programs: Toolchain, folder: Path) -> float:
    """Return the seconds from nothing to the first object of a fresh worker."""
    native = with_native_part(programs, folder)
    native.identity()  # hashes LLVM's libraries, which a build needs in any case
    start = time.perf_counter()
    native.assemble(SMALL_UNIT)
    passed = time.perf_counter() - start
    native.close()
    return passed


def measure(programs: Toolchain, native: NativeToolchain, asked: argparse.Namespace) -> None:
    """Print the table."""
    sources = [path.read_bytes() for path in sorted((ROOT / "golden").rglob("*.s"))]
    units = [native.assemble(source) for source in sources]
    linked = [native.link([unit]) for unit in units]
    lines = sum(source.count(b"\n") for source in sources) // len(sources)
    print(f"{len(sources)} golden sources of {lines} lines on average, {asked.threads} threads")
    print(f"{'kernels per second':24} {'programs':>10} {'in process':>12} {'ratio':>10}")
    for here, there, items in zip(
        steps(programs), steps(native), (sources, units, linked), strict=True
    ):
        compare(here[0], (here[1], there[1]), items, asked)
    whole = [
        lambda data, tools=tools: tools.link([tools.assemble(data)]) for tools in (programs, native)
    ]
    compare("assemble and link", whole, sources, asked)
    compare("the same, one small", whole, [SMALL_UNIT] * len(sources), asked)


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    programs = find_toolchain(local=ROOT / ".toolchain", path=os.environ.get("PATH", ""))
    folder = ROOT / ".toolchain" / "native"
    build_library(programs, folder)
    with_native_part(programs, folder).identity()
    print(f"first object of a fresh worker after {start_seconds(programs, folder) * 1e3:.0f} ms")
    native = with_native_part(programs, folder)
    measure(programs, native, asked)
    native.close()


if __name__ == "__main__":
    main()
