"""Groups of commands; the program's own imports a command when it is needed, so that `--version` answers at once."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


def command_app(*, add_completion: bool = False, **options: Any) -> typer.Typer:
    """An application with the look that the whole program has: the program itself, or one of its commands."""
    return typer.Typer(
        add_completion=add_completion,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        **options,
    )


class Group(TyperGroup):
    """Group of commands that suggests one of a similar name for a misspelt one, as not all releases of typer do."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name."""
        known = self.list_commands(ctx)
        similar = get_close_matches(args[0], known, 1)
        if similar and args[0] not in known:
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{similar[0]}'?")
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """Group whose commands are modules of ``package``, each with its own ``app``.

    The list of commands shows their ``summaries``; a module is imported when its command runs or is completed.
    """

    package: ClassVar[str]
    summaries: ClassVar[Mapping[str, str]]

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        return list(self.summaries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command or, before it is loaded, one that has only a name and a line of help."""
        if cmd_name in self.commands or cmd_name not in self.summaries:
            return self.commands.get(cmd_name)
        return TyperCommand(cmd_name, help=self.summaries[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load the command that the arguments name."""
        if args[0] in self.summaries:
            self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> None:
        """Import the module of a command."""
        if name not in self.commands:
            command = typer.main.get_command(import_module(f"{self.package}.{name}").app)
            command.name = name
            self.add_command(command, name)
