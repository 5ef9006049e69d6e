"""The process that finds groups of a stored plan, and draws one of them over the days, for the page in Airflow."""

from pathlib import Path

import msgspec
from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.own_process import answer_question
from rocketmq_capacity.plan_file.ledger import LedgerEntry
from rocketmq_capacity.report.group_days import DATASETS, MOST_NAMES, DaysAnswer, DaysRequest
from rocketmq_capacity.report.html import render_group_days
from rocketmq_capacity.tables.assess.groups import GroupStatus
from rocketmq_capacity.tables.rows import rows_by, table_in
from rocketmq_capacity.tables.snapshot.groups import GroupDay, GroupHour


class _LedgerEntries(Struct):
    entries: tuple[LedgerEntry, ...] = ()


class _OfPlan(Struct):
    """What is read of a plan: the other members are skipped."""

    ledger: _LedgerEntries | UnsetType = UNSET


def _found(asked: DaysRequest) -> DaysAnswer:
    files = dict(zip(DATASETS, (list(map(Path, own)) for own in asked.files), strict=True))
    every = table_in(files[GroupStatus], GroupStatus, ["consumer_group"])["consumer_group"].to_pylist()
    wanted = asked.text.strip()
    names = sorted(name for name in every if wanted.casefold() in name.casefold())
    fitting = [wanted] if wanted in every else names
    group = fitting[0] if len(fitting) == 1 else None
    answer = DaysAnswer(names[:MOST_NAMES], len(names), group)
    if group is None:
        return answer
    (status,) = rows_by(files[GroupStatus], GroupStatus, "consumer_group", [group])[group]
    hours = rows_by(files[GroupHour], GroupHour, "consumer_group", [group]).get(group, [])
    days = rows_by(files[GroupDay], GroupDay, "consumer_group", [group]).get(group, [])
    ledger = UNSET if asked.plan is None else msgspec.json.decode(Path(asked.plan).read_bytes(), type=_OfPlan).ledger
    done = [] if ledger is UNSET else [one for one in ledger.entries if one.consumer_group == group]
    answer.days = render_group_days(status, hours, days, done, asked.language)
    return answer


if __name__ == "__main__":
    answer_question(DaysRequest, _found)
