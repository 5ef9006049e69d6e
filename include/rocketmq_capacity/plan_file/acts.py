"""What is done with each command of a recommendation: run it, run it after a question, or leave it to a person.

The scripts and the runbook are both made from it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.vocabulary import changes_cluster

PLACEHOLDER: Final = re.compile(r"<[^<>]+>")
"""A value in a command that a person must fill in."""
WORD: Final = r"""(?:[A-Za-z0-9_@%+=:,./-]|'[^']*'|"'")+"""
"""A word as ``shlex.quote`` writes it."""
COMMAND: Final = re.compile(rf"mqadmin (?P<subcommand>\w+) -n (?P<nameserver>{WORD})(?P<options>(?: {WORD})*)")
"""A command as recommendation/commands.py writes it."""

Kind = Literal["LOOK", "CHANGE", "BY_HAND", "NOTE"]


@dataclass(frozen=True, slots=True)
class Act:
    """A command, and what is done with it.

    Attributes:
        kind: LOOK: it only looks. CHANGE: it changes the cluster. BY_HAND: a person decides, or fills in what is
            missing. NOTE: it is a comment.
        command: the command line.
    """

    kind: Kind
    command: str


def acts_of(commands: Iterable[str], *, is_manual: bool) -> Iterator[Act]:
    """The acts of a recommendation's commands or of a step's, in their order."""
    for command in commands:
        yield Act(_kind(command, is_manual=is_manual), command)


def is_complete(command: str) -> bool:
    """Whether a command can be run as it is: it is one of mqadmin, and nothing is left to fill in."""
    parts = COMMAND.fullmatch(command)
    return parts is not None and PLACEHOLDER.search(parts["options"]) is None


def is_plain(command: str) -> bool:
    """Whether a terminal shows the command as it is."""
    return visible(command) == command


def _kind(command: str, *, is_manual: bool) -> Kind:
    if command.startswith("#"):
        return "NOTE"
    if (is_manual and changes_cluster(command)) or not is_complete(command):
        return "BY_HAND"
    return "CHANGE" if changes_cluster(command) else "LOOK"
