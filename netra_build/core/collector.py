"""Pause Python's cyclic garbage collector while much data without cycles is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Run a block without the collector, which would walk all living objects again and again.

    Those walks alone make the compilation of a large model grow faster than the model. What no
    cycle holds is freed as ever. A collector that was off before stays off.
    """
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()
