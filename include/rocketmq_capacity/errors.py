"""The one error family; each kind knows the exit status that the command line ends with."""

import difflib
import reprlib
from collections.abc import Iterable
from datetime import date
from typing import Any, ClassVar, Final

LONGEST_VALUE: Final = 300
"""Characters of a value that an error shows. A client id or a pattern has at most 255 and is shown whole."""
LONGEST_PLACE: Final = 400
LONGEST_PROBLEM: Final = 1_000
"""Characters of one line of an error, whatever it is about."""


class _Shown(reprlib.Repr):
    """Writes the beginning of a value without writing all of it first."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 2
        self.maxstring = self.maxlong = self.maxother = LONGEST_VALUE

    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to write a number of more than 4,300 digits, and is slow just below that.
        return super().repr_int(x, level) if x.bit_length() <= LONGEST_VALUE else f"a number of {x.bit_length()} bits"

    def repr_bytes(self, x: bytes, level: int) -> str:
        return self.repr_instance(x[: self.maxother], level)

    def repr_date(self, x: date, _level: int) -> str:
        return x.isoformat()

    repr_datetime = repr_date


_SHOWN: Final = _Shown()


def shown(value: Any) -> str:
    """A value from outside as an error shows it: its ``repr``, shortened before it is made."""
    return cut(_SHOWN.repr(value), LONGEST_VALUE)


def cut(text: str, longest: int) -> str:
    """The text, with dots for what is beyond ``longest`` characters."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def most_like(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like another one, whose letters may be large or small; None if none is known."""
    folded = {one.casefold(): one for one in sorted(known, reverse=True)}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.0)
    return folded[near[0]] if near else None


HALF_A_CHARACTER: Final = "has half a character (\\uD800 to \\uDFFF); expected whole characters"
"""What is wrong with a text that cannot be written. JSON, YAML and file names can all have such a half."""


def printable(text: str) -> str:
    """The text, with escapes for control and format characters, such as those that a terminal obeys, and halves."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def one_line(error: Exception) -> str:
    """The error's text in one line that no terminal obeys: it may have words of a cluster."""
    return printable(" ".join(str(error).split()))


def is_writable(text: str) -> bool:
    """Whether the text can be written as UTF-8: it has no half of a UTF-16 pair."""
    return text.isascii() or writable(text) == text


def writable(text: str) -> str:
    """The text, with escapes for what cannot be written as UTF-8."""
    return text.encode(errors="backslashreplace").decode()


class CapacityError(Exception):
    """Every error that this package raises; ``exit_status`` is what the command line returns."""

    exit_status: ClassVar[int] = 1


class BadInput(CapacityError):
    """A file or an argument is not what was expected (exit status 2).

    Args:
        source: the file or the argument, as the user named it.
        place: where in it, such as ``$.topics[0].queues[1].perm``; empty for all of it.
        problem: what is wrong and what was expected, in one line.
    """

    exit_status = 2

    def __init__(self, source: str, place: str, problem: str) -> None:
        self.source, self.place, self.problem = source, cut(place, LONGEST_PLACE), cut(problem, LONGEST_PROBLEM)
        where = f"{source}: {self.place}" if place else source
        super().__init__(printable(" ".join(f"{where}: {self.problem}".split())))


class ClusterUnreachable(CapacityError):
    """No name server or no broker of the cluster could be read (exit status 3)."""

    exit_status = 3


class ConnectionMissing(CapacityError):
    """Airflow gives no connection of this name: there is none, or what keeps them does not answer now."""


class StoreUnreachable(CapacityError):
    """The lake's object store cannot be used: something is missing, or it loses what it accepts (exit status 3)."""

    exit_status = 3


class ExecutorsUnfit(CapacityError):
    """Spark's executors cannot do a run's work: they see another lake, or lack a package (exit status 3)."""

    exit_status = 3


class JavaMissing(CapacityError):
    """Spark cannot run on this machine."""


class SparkGone(CapacityError):
    """Spark's JVM or a Python worker ended in the middle of the work, most often because memory ran out."""


class DiskFull(CapacityError):
    """No space is left where the tables are written, or where Spark keeps its temporary files."""


class NotWritten(CapacityError):
    """The output cannot be written, such as on a disk that is full."""


class DatasetMissing(CapacityError):
    """A run lacks this dataset: an earlier step has not finished."""


class TableDamaged(CapacityError):
    """The files of a committed table are not those that its step has written."""


class RunBusy(CapacityError):
    """Another process still works on the run, such as one that a killed task left."""


class ContractBroken(CapacityError):
    """A table is not as its dataset says: a defect of the stage that made it."""
