"""The `modelyard` command: the one place where errors end."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its code; errors are one message, no stack trace.

    `MODELYARD_DEBUG=1` shows the stack trace of any error.
    """
    from modelyard.cli import main as group
    from modelyard.cli.interrupt import installed

    with installed():
        try:
            code = group(prog_name="modelyard", standalone_mode=False)
        except BaseException as error:
            if os.environ.get("MODELYARD_DEBUG"):
                raise
            _leave(_tell(error))
    if isinstance(code, int):  # what a command gave to ctx.exit(): click returns it, and does not raise
        sys.exit(code)


def _leave(code: int) -> NoReturn:
    """End now: an image that a thread still packs is of no use after an error, and the store keeps no half of it."""
    with suppress(OSError):  # nobody reads any more
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _tell(error: BaseException) -> int:
    """Say what went wrong on stderr; return the exit code."""
    import click

    from modelyard.errors import HostError, ModelyardError

    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, ModelyardError):
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        click.echo("stopped: nothing is lost; the same command again goes on where it was", err=True)
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):  # `modelyard render | head`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - else Python complains once more at exit
        return 1
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        full = HostError(
            f"disk of {error.filename}" if error.filename else "a disk",
            f"is full: {error.strerror}",
            "free space (df -h; modelyard local prune), then run the same command again: it goes on where it was",
        )
        click.echo(f"error: {full}", err=True)
        return full.exit_code
    click.echo(f"error: unexpected {type(error).__name__}: {error}", err=True)
    click.echo("  next: MODELYARD_DEBUG=1 with the same command shows where; please report it", err=True)
    return 1


if __name__ == "__main__":
    main()
