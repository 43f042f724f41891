"""Help without boxes, which takes half the time; commands are listed with all of what they are for."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

PLAIN: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None}
"""What every group of commands is made with."""
LONGEST = 1000
"""Characters of what a command is for; a formatter breaks it into lines."""


class Commands(TyperGroup):
    """A group of commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each is for, as many lines as it takes."""
        listed = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        lines = [(name, command.get_short_help_str(LONGEST)) for name, command in listed.items() if command]
        with formatter.section("Commands"):
            formatter.write_dl(lines)
