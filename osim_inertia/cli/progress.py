"""A progress bar on stderr for work that takes longer than two seconds, and the seconds each phase took."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

DELAY = 2.0  # s


class Phases:
    """Names, times and shows the phases of a command: `with phases("solve") as advance: advance(done, total)`."""

    def __init__(self, quiet: bool = False) -> None:
        self.seconds: dict[str, float] = {}
        self._quiet = quiet
        self._start = time.perf_counter()

    @contextmanager
    def __call__(self, name: str, label: str = "") -> Iterator[Any]:
        began = time.perf_counter()
        shown = not self._quiet and sys.stderr.isatty()
        bar = _Bar(label or name, max(0.0, DELAY - (began - self._start))) if shown else None
        try:
            yield bar.advance if bar else lambda done, total: None
        finally:
            if bar:
                bar.stop()
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


class _Bar:
    """Appears only if the phase is still under way after the delay, and only on a terminal."""

    def __init__(self, label: str, delay: float) -> None:
        self._label, self._done, self._total = label, 0, 0
        self._progress: Any = None
        self._lock = threading.Lock()
        self._stopped = False
        self._timer = threading.Timer(delay, self._show)
        self._timer.daemon = True
        self._timer.start()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        with self._lock:
            if self._stopped or not console.is_terminal:
                return
            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
                       TimeRemainingColumn())  # fmt: skip
            self._progress = Progress(*columns, console=console, transient=True)
            self._progress.add_task(self._label, total=self._total or None, completed=self._done)
            self._progress.start()

    def advance(self, done: int, total: int) -> None:
        """Say how far the work is."""
        with self._lock:
            self._done, self._total = done, total
            if self._progress is not None:
                self._progress.update(0, completed=done, total=total)

    def stop(self) -> None:
        """Take the bar away."""
        self._timer.cancel()
        with self._lock:
            self._stopped = True
            if self._progress is not None:
                self._progress.stop()
