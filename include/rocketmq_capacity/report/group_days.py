"""The groups of a stored plan, and one of them over the days, for the page in Airflow."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from rocketmq_capacity.errors import TableDamaged
from rocketmq_capacity.own_process import answer_of
from rocketmq_capacity.store.copies import copy_of
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.tables.assess.groups import GroupStatus
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.snapshot.groups import GroupDay, GroupHour
from rocketmq_capacity.vocabulary import Language

PROCESS: Final = "rocketmq_capacity.steps.group_days"
"""The module that answers; it reads tables, and the server does not."""
MOST_NAMES: Final = 100
"""Names of groups on one page."""
DATASETS: Final[tuple[type[Dataset], ...]] = (GroupStatus, GroupHour, GroupDay)


class DaysRequest(Struct):
    """What the process is asked.

    Attributes:
        text: a part of the names to look for, in any case.
        language: of the pictures.
        files: of each of the datasets, on this machine.
        plan: the run's plan.json; None if it has none.
    """

    text: str
    language: Language
    files: list[list[str]]
    plan: str | None


class DaysAnswer(Struct):
    """What it found.

    Attributes:
        names: the first groups whose names have the text, sorted.
        total: how many there are.
        group: the one that has this name, or the only one; None if there are several or none.
        days: mark-up with the pictures and tables of this group; None without stored days.
    """

    names: list[str]
    total: int
    group: str | None = None
    days: str | None = None

    @property
    def shown(self) -> Markup:
        """The mark-up of the pictures; empty without any."""
        return Markup(self.days or "")  # noqa: S704  # what main has just written


def find_group(run: Run, plan: Path | None, text: str, language: Language) -> DaysAnswer:
    """The groups of a run whose names have this text; of a single one its days.

    Errors: OwnProcessFailed; StoreUnreachable if the store does not answer.
    """
    files = [list(map(str, _files(run, dataset))) for dataset in DATASETS]
    asked = DaysRequest(text, language, files, None if plan is None else str(plan))
    answer: DaysAnswer = answer_of(PROCESS, asked, DaysAnswer)
    return answer


def _files(run: Run, dataset: type[Dataset]) -> Sequence[Path]:
    """The files of a dataset on this machine; none if they are damaged, or were deleted in the meantime."""
    with suppress(TableDamaged, FileNotFoundError):
        return [copy_of(file) for file in run.files(dataset.dataset_name())]
    return ()
