"""Counts, seconds and bytes as people read them."""

from rocketmq_capacity.progress.progress import Phase, Step


def seconds(value: float) -> str:
    """``1.2 s``, and from a minute on ``75 s``."""
    return f"{value:.1f} s" if value < 60 else f"{value:,.0f} s"


def size(value: int) -> str:
    """``812 MiB``."""
    return f"{value / 1024**2:,.0f} MiB"


def how_far(phase: Phase) -> str:
    """``12 of 30``, or nothing if the phase has no units."""
    return "" if phase.total is None else f"{phase.looked_at():,} of {phase.total:,}"


def outcome(step: Step) -> str:
    """The outcome of a step, and the most memory that was used during it."""
    parts = list(step.outcome)
    if step.peak_bytes is not None:
        parts.append(f"peak memory {size(step.peak_bytes)}")
    return "; ".join(parts)
