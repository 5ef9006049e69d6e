"""Which display fits a stream."""

import os
from typing import Final, TextIO

from rocketmq_capacity.progress.lines import LogLines
from rocketmq_capacity.progress.progress import Progress
from rocketmq_capacity.progress.wording import IN_ENGLISH, English

CANNOT_MOVE: Final = ("", "dumb", "unknown")
"""Values of TERM of terminals that cannot redraw."""


def progress_on(stream: TextIO, *, quiet: bool = False, said: English = IN_ENGLISH) -> Progress:
    """Live rows on a terminal, else lines; nothing if nothing is wanted. ``said`` is how the texts are said."""
    if quiet:
        return Progress()
    if stream.isatty() and os.environ.get("TERM", "") not in CANNOT_MOVE:
        from rocketmq_capacity.progress.terminal import Terminal

        return Progress(Terminal(stream, said))
    return Progress(LogLines(stream, said=said))
