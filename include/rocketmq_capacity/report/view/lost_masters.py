"""What a what-if says of a lost master: who is served when, what waits, what may be lost, and how clients come back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.plan_file.lost_master import LostWith, MessagesAtRisk, ServedClients, Use, WaitingMessages
from rocketmq_capacity.plan_file.troubled_broker import LostMasterOutlook
from rocketmq_capacity.report.facts import Fact, facts_of
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.report.limits import TABLE_ROWS
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.wording import counted, listed

UNDECIDED: Final = "UNDECIDED"
NEVER: Final = "not before it is back"
CLIENTS: Final[Mapping[Use, str]] = {
    "WRITE": "send messages",
    "PULL": "pull, and consume in any order",
    "PULL_IN_ORDER": "pull, and consume in order",
    "POP": "pop",
}
READS: Final[Mapping[Use, str]] = {"WRITE": "", "PULL": "pull", "PULL_IN_ORDER": "pull in order", "POP": "pop"}
CASES: Final[Mapping[LostWith, str]] = {
    "PROCESS": "Its process ends, its machine runs on",
    "POWER": "Its machine fails, its disk survives",
    "DISK": "Its disk is lost for good",
}


@dataclass(frozen=True, slots=True)
class LostMasterView:
    """One lost master."""

    name: str
    summary: str
    clients: tuple[tuple[str, ...], ...]
    """Who, until when without it (killed, machine gone), once it is back, and what that means."""
    waiting: First[tuple[str, ...]]
    """Group, how it reads, queues, messages, and when it reads them (killed, machine gone)."""
    at_risk: tuple[tuple[str, ...], ...]
    """What happens, messages, bytes, and why."""
    back: tuple[str, ...]
    timers: tuple[Fact, ...]


def lost_master_view(outlook: LostMasterOutlook) -> LostMasterView | None:
    """The lost master; None if an earlier version of this program made the plan."""
    if not outlook.clients:
        return None
    return LostMasterView(
        name=outlook.broker_name,
        summary=_summary(outlook),
        clients=tuple(map(_clients, outlook.clients)),
        waiting=First(map(_waiting, outlook.waiting[:TABLE_ROWS]), len(outlook.waiting)),
        at_risk=tuple(map(_at_risk, outlook.at_risk)),
        back=outlook.back,
        timers=facts_of(outlook.timers or {}),
    )


def _summary(outlook: LostMasterOutlook) -> str:
    """Who is served in the end, and what waits until then."""
    known = [row.messages for row in outlook.waiting if row.messages is not None]
    unknown = {row.consumer_group for row in outlook.waiting if row.messages is None}
    doubt = f" For {counted(len(unknown), 'group')} that is UNDECIDED." if unknown else ""
    stuck = sum(row.messages or 0 for row in outlook.waiting if row.is_served is False)
    never = f" {stuck:,} of them {'waits' if stuck == 1 else 'wait'} until the master is back." if stuck else ""
    waits = "waits" if sum(known) == 1 else "wait"
    return f"On its queues {counted(sum(known), 'message')} {waits} to be read, summed over the groups.{never}{doubt}"


def _clients(row: ServedClients) -> tuple[str, ...]:
    return (
        CLIENTS[row.use],
        _until(row.killed_s, row.is_served),
        _until(row.silent_s, row.is_served),
        f"{number(row.back_s)} s",
        row.meaning,
    )


def _waiting(row: WaitingMessages) -> tuple[str, ...]:
    lacks = f": the slave has not copied {listed(row.missing_topics)}" if row.missing_topics else ""
    return (
        row.consumer_group,
        READS[row.use],
        number(row.queues),
        UNDECIDED if row.messages is None else number(row.messages),
        _until(row.killed_s, row.is_served) + lacks,
        _until(row.silent_s, row.is_served) + lacks,
    )


def _until(seconds: float | None, is_served: bool | None) -> str:
    if seconds is not None:
        return f"{number(seconds)} s"
    return UNDECIDED if is_served is None else NEVER


def _at_risk(row: MessagesAtRisk) -> tuple[str, ...]:
    messages, size = (UNDECIDED if one is None else number(one) for one in (row.lost_messages, row.lost_bytes))
    return CASES[row.lost_with], messages, size, row.why
