"""The one error family; each kind knows the exit status that the command line ends with."""

from typing import ClassVar


class CapacityError(Exception):
    """Anything this package says no to; ``exit_status`` is what the command line returns."""

    exit_status: ClassVar[int] = 1


class BadInput(CapacityError):
    """A file or an argument is not what the contract says (exit status 2).

    Args:
        source: the file or the argument, as the user named it.
        place: where in it, such as ``$.topics[0].queues[1].perm``; empty for the whole of it.
        problem: what is wrong and what was expected, in one line.
    """

    exit_status = 2

    def __init__(self, source: str, place: str, problem: str) -> None:
        self.source, self.place, self.problem = source, place, problem
        where = f"{source}: {place}" if place else source
        super().__init__(" ".join(f"{where}: {problem}".split()))


class ClusterUnreachable(CapacityError):
    """No name server or no broker of the cluster could be read (exit status 3)."""

    exit_status = 3


class JavaMissing(CapacityError):
    """Spark cannot run on this machine."""


class SparkGone(CapacityError):
    """Spark's JVM ended in the middle of the work, most often for want of memory."""


class DatasetMissing(CapacityError):
    """A run holds no such dataset: an earlier step has not finished."""


class RunBusy(CapacityError):
    """Another process still works on the run, such as what a killed task left behind."""


class ContractBroken(CapacityError):
    """A dataset is not what its contract says: a defect of the stage that made it."""
