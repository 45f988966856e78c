"""docs/reference/cli.md, from the click commands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from docs.generators.markdown import code, page, table


def render(root: click.Command, name: str) -> str:
    """Return the page about the command `root`, called `name`, and all below it."""
    commands = list(_walk(root, click.Context(root, info_name=name)))
    contents = "\n".join(f"- [{context.command_path}](#{_anchor(context)})" for _, context in commands)
    return page("Commands", contents, *(_section(command, context) for command, context in commands))


def _walk(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    yield command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                yield from _walk(child, click.Context(child, info_name=name, parent=context))


def _section(command: click.Command, context: click.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [
        f"## {context.command_path}",
        inspect.cleandoc(command.help or "").partition("\f")[0],
        f"```text\n{usage}\n```",
        table(("option", "meaning"), [_option(each, context) for each in command.get_params(context) if _shown(each)]),
    ]
    return "\n\n".join(part for part in parts if part)


def _shown(parameter: click.Parameter) -> bool:
    # Every command has --help.
    return isinstance(parameter, click.Option) and not parameter.hidden and "--help" not in parameter.opts


def _option(parameter: click.Parameter, context: click.Context) -> tuple[str, str]:
    record = parameter.get_help_record(context)
    if record is None:
        return "", ""
    names, meaning = record
    return code(names), meaning


def _anchor(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")
