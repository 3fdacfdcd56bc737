"""Writes docs/cli.md: every command with its help text. A test holds the page to it.

    python docs/make_cli_page.py
"""

from __future__ import annotations

from pathlib import Path

import click

from osim_inertia.cli.main import COMMANDS, main

WIDTH = 100
PAGE = Path(__file__).with_name("cli.md")
HEAD = """# Commands

This page is made by `python docs/make_cli_page.py` from the commands themselves.

Exit codes: 0 done, 1 something is wrong with a file or a model (one sentence says what and where), 2 wrong usage,
130 interrupted. Results go to files; notes go to the error stream.
"""


def help_text(name: str) -> str:
    """What `osim-inertia NAME --help` prints."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    settings = {**main.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    parent = click.Context(main, info_name="osim-inertia", **settings)
    return click.Context(command, info_name=name, parent=parent, **settings).get_help()


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name in COMMANDS:
        parts.append(f"\n## {name}\n\n```text\n{help_text(name)}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
