"""The command line: click commands, printers for the events, exit codes; no logic.

A command's module is imported when it is used: `modelyard --help` must not pay for the Kubernetes client.
"""

from __future__ import annotations

import importlib

import click

# Name -> (module, its command, what `--help` says: importing the module for it would be slow).
COMMANDS = {
    "install": ("modelyard.cli.install", "install", "Install the platform, or bring it up to date."),
    "status": ("modelyard.cli.status", "status", "Show what is installed and whether it is ready."),
    "uninstall": ("modelyard.cli.uninstall", "uninstall", "Remove what was installed, and nothing else."),
    "render": ("modelyard.cli.render", "render", "Print the manifests of a target."),
    "images": ("modelyard.cli.images", "images", "List the images of a target, hidden ones too."),
    "lock": ("modelyard.cli.lock", "lock", "Prove that what is used is what is locked, or move a pin."),
    "new": ("modelyard.cli.new", "new", "Begin a component, a target or an overlay of your own."),
    "conformance": ("modelyard.cli.conformance", "conformance", "Prove the platform by its conformance suite."),
    "local": ("modelyard.cli.local", "local", "Run a real Kubernetes on this machine."),
    "doctor": ("modelyard.cli.doctor", "doctor", "Check this machine; say how to fix what is missing."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported only when they run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a user meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        module, name, _ = COMMANDS[cmd_name]
        command = getattr(importlib.import_module(module), name)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, _, summary) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="modelyard")
def main() -> None:
    """A GitOps distribution of an AI platform on Kubernetes."""
