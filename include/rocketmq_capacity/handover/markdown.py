"""Text and commands as Markdown: whatever a name is, it is shown and is no mark-up."""

import re
from collections.abc import Iterator
from typing import Final

from rocketmq_capacity.handover.runbook import pastes
from rocketmq_capacity.language.current import phrase
from rocketmq_capacity.plan_file.steps import StepCheck
from rocketmq_capacity.plan_file.visible import visible

SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|!&~])")
"""What Markdown or HTML in it would take for more than text."""


def text_of(text: str) -> str:
    """Text of the plan as Markdown shows it: every character is visible, and none is mark-up."""
    return SPECIAL.sub(r"\\\1", visible(text))


def check_of(check: StepCheck) -> Iterator[str]:
    """The lines of a check: what it must show, and its command if that may be pasted."""
    yield phrase("Check, it must show: {shows}", shows=text_of(check.shows))
    yield ""
    if pastes(check.command):
        yield from fenced(check.command)
    else:
        yield phrase("By hand: {command}", command=text_of(check.command))


def fenced(command: str) -> Iterator[str]:
    """A block of code; its fence is longer than any run of backticks in the command."""
    longest = max((len(run) for run in re.findall(r"`+", command)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}sh"
    yield command
    yield fence
