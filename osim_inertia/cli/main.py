"""The `osim-inertia` command: finds the subcommand, and turns errors into sentences and exit codes.

Exit codes: 0 done, 1 something is wrong with a file or a model, 2 wrong usage, 130 interrupted. A user never sees a
traceback for an error we foresee. Each command lives in a file of its own, which is imported when it is asked for, so
that `info` does not wait for what `id` needs.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Any

import click

import osim_inertia
from osim_inertia.errors import OsimInertiaError, WrapWarning

# Name -> "module:attribute" of the click command.
COMMANDS = {
    "info": "osim_inertia.cli.info:info",
    "ik": "osim_inertia.cli.ik:ik_command",
    "id": "osim_inertia.cli.id:id_command",
    "run": "osim_inertia.cli.run:run",
    "muscles": "osim_inertia.cli.muscles:muscles",
    "convert": "osim_inertia.cli.convert:convert",
    "rank": "osim_inertia.cli.rank:rank",
    "view": "osim_inertia.cli.view:view",
    "doctor": "osim_inertia.cli.doctor:doctor",
    "validate": "osim_inertia.cli.validate:validate",
    "demo": "osim_inertia.cli.demo:demo",
    "train-wrap": "osim_inertia.cli.train_wrap:train_wrap",
}


class Failure(click.ClickException):
    """An error in words, without click's own 'Error:' in front of the file name."""

    exit_code = 1

    def show(self, file: Any = None) -> None:
        """Print the words to stderr."""
        click.echo(self.message, file=file, err=file is None)


class Commands(click.Group):
    """A group that imports its commands late and words their errors."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run as a program, and end it at once: taking Numba and LLVM down in order would take longer than most work.

        Every file is closed by then; what a test runner or a script calls is `main`, which returns.
        """
        try:
            super().__call__(*args, **kwargs)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except (OSError, ValueError):  # what was printed is lost
                    code = code or 1
            os._exit(code)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the table above."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what can go wrong with a user's files ends as a sentence."""
        try:
            return super().invoke(ctx)
        except OsimInertiaError as error:
            raise Failure(str(error)) from None
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(130)
        except BrokenPipeError:
            raise  # `osim-inertia info model | head`: click ends without a word
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise Failure(f"{place}{error.strerror or error}.") from None
        except MemoryError:
            raise Failure("There is not enough memory for this.") from None
        except RecursionError:
            raise Failure("The input is nested too deeply to be a model.") from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(osim_inertia.__version__, prog_name="osim-inertia")
def main() -> None:
    """Dynamics of OpenSim models in which the muscles have mass."""
    for stream in (sys.stdout, sys.stderr):  # a terminal without Unicode shows ? instead of failing
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    warnings.showwarning = _as_note


def _as_note(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """What the user should know about the result, like the other notes; warnings of libraries as Python shows them."""
    if issubclass(category, WrapWarning):
        click.echo(f"note: {message}", err=True)
    else:
        click.echo(warnings.formatwarning(message, category, filename, lineno, line), err=True, nl=False)
