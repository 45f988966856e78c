"""Printers for events: moving lines on a terminal, one plain line a step elsewhere; always on stderr."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.events import Emit, Event, Note, StepDone, StepFailed, StepProgress, StepStarted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Off a terminal, what a step last saw is told at most this often.
PLAIN_PROGRESS_SECONDS = 10.0


@contextmanager
def printing() -> Iterator[Emit]:
    """Give a listener that suits where stderr goes.

    With `MODELYARD_EVENTS=FILE` each event is also added to FILE, as one line of JSON.
    """
    with _shown() as emit, recorded(emit, os.environ.get("MODELYARD_EVENTS")) as both:
        yield both


@contextmanager
def recorded(emit: Emit, file: str | None) -> Iterator[Emit]:
    """Give a listener that passes on to `emit` and adds a line to `file`, if there is one."""
    if not file:
        yield emit
        return
    lock = threading.Lock()
    with Path(file).open("a", encoding="utf-8") as out:

        def both(event: Event) -> None:
            line = json.dumps({"t": time.time(), "event": type(event).__name__, **asdict(event)})
            with lock:
                out.write(f"{line}\n")
                out.flush()
            emit(event)

        yield both


@contextmanager
def _shown() -> Iterator[Emit]:
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _moving() as emit:
            yield emit
    else:
        yield PlainPrinter()


def span(seconds: float) -> str:
    """Return seconds for people."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


class PlainPrinter:
    """One line for each step that ends, with its time; a slow step says, each thing once, what it waits for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._titles: dict[str, str] = {}
        self._told: dict[str, float] = {}
        self._said: dict[str, set[str]] = {}

    def __call__(self, event: Event) -> None:
        """Print `event`, or pass it over."""
        with self._lock:
            line = self._line(event)
            if line:
                click.echo(line, err=True)

    def _line(self, event: Event) -> str:
        match event:
            case StepStarted(key, title):
                self._titles[key] = title
                self._told[key] = time.monotonic()
                return ""
            case StepProgress(key, detail):
                said = self._said.setdefault(key, set())
                if detail in said or time.monotonic() - self._told.get(key, 0.0) < PLAIN_PROGRESS_SECONDS:
                    return ""
                said.add(detail)
                self._told[key] = time.monotonic()
                return f"  ... {self._titles.get(key, key)}: {detail}"
            case StepDone(key, seconds, detail):
                return f"ok    {self._titles.get(key, key)} ({span(seconds)})" + (f": {detail}" if detail else "")
            case StepFailed(key, seconds, reason):
                return f"FAIL  {self._titles.get(key, key)} ({span(seconds)}): {reason}"
            case Note(text):
                return f"note  {text}"


class _MovingPrinter:
    """The same on a terminal: running steps move at the bottom, ended ones stay above."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._tasks: dict[str, TaskID] = {}
        self._titles: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        """Show `event`."""
        from rich.markup import escape

        console = self._progress.console
        with self._lock:
            match event:
                case StepStarted(key, title):
                    self._titles[key] = title
                    self._tasks[key] = self._progress.add_task(escape(title), total=None, detail="")
                case StepProgress(key, detail):
                    if key in self._tasks:
                        self._progress.update(self._tasks[key], detail=escape(detail))
                case StepDone(key, seconds, detail):
                    self._end(key)
                    more = f" [dim]{escape(detail)}[/dim]" if detail else ""
                    console.print(f"[green]✓[/green] {escape(self._titles.get(key, key))} {span(seconds)}{more}")
                case StepFailed(key, seconds, reason):
                    self._end(key)
                    title = escape(self._titles.get(key, key))
                    console.print(f"[red]✗[/red] {title} {span(seconds)}: {escape(reason)}")
                case Note(text):
                    console.print(f"[yellow]note[/yellow] {escape(text)}")

    def _end(self, key: str) -> None:
        task = self._tasks.pop(key, None)
        if task is not None:
            self._progress.remove_task(task)


@contextmanager
def _moving() -> Iterator[Emit]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False)  # rich heeds NO_COLOR
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[detail]}[/dim]"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield _MovingPrinter(progress)
