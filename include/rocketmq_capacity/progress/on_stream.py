"""Which display fits a stream."""

import os
from typing import Final, TextIO

from rocketmq_capacity.progress.lines import Lines
from rocketmq_capacity.progress.progress import Progress

CANNOT_MOVE: Final = ("", "dumb", "unknown")
"""Values of TERM of terminals that cannot redraw."""


def progress_on(stream: TextIO, *, quiet: bool = False) -> Progress:
    """Live rows on a terminal, else lines; nothing if nothing is wanted."""
    if quiet:
        return Progress()
    if stream.isatty() and os.environ.get("TERM", "") not in CANNOT_MOVE:
        from rocketmq_capacity.progress.terminal import Terminal

        return Progress(Terminal(stream))
    return Progress(Lines(stream))
