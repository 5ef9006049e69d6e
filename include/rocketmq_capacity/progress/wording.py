"""Counts, seconds and bytes as people read them."""

from typing import Final

from rocketmq_capacity.progress.progress import Phase, ProgressStep


class English:
    """How the texts are said; in another language by other methods of the same names."""

    def phrase(self, text: str, /, **values: object) -> str:
        """A text of the displays with its values."""
        return text.format(**values)

    def words(self, text: str) -> str:
        """What a step tells."""
        return text


IN_ENGLISH: Final = English()


def seconds(value: float) -> str:
    """``1.2 s``, and from a minute on ``75 s``."""
    return f"{value:.1f} s" if value < 60 else f"{value:,.0f} s"


def size(value: int) -> str:
    """``812 MiB``."""
    return f"{value / 1024**2:,.0f} MiB"


def how_far(phase: Phase, said: English) -> str:
    """``12 of 30``, or nothing if the phase has no units."""
    if phase.total is None:
        return ""
    return said.phrase("{done} of {total}", done=f"{phase.looked_at():,}", total=f"{phase.total:,}")


def outcome(step: ProgressStep, said: English) -> str:
    """The outcome of a step, and the most memory that was used during it."""
    parts = list(map(said.words, step.outcome))
    if step.peak_bytes is not None:
        parts.append(said.phrase("peak memory {size}", size=size(step.peak_bytes)))
    return said.phrase("; ").join(parts)
