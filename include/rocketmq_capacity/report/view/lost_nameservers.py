"""What a what-if says of lost name servers: who has which route until when, what goes on, what stops, and advice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.plan_file.lost_nameserver import Asking, LostNameserver, PartialLists, RouteSpan
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.report.facts import Fact, facts_of
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.wording import LISTED, counted, listed

HAPPENS: Final = {
    "SILENT": "is lost with its machine or network",
    "KILL": "is killed",
    "CUT_OFF": "is cut off from the brokers",
}
CLIENTS: Final[Mapping[Asking, str]] = {
    "ASK_ANOTHER": "ask another one",
    "ASK_IT": "ask it, and know others",
    "KNOW_IT_ALONE": "know it alone",
    "NEW": "start after the loss",
}
ROUTES: Final = {
    "CURRENT": "current",
    "AS_BEFORE": "as before the loss",
    "SHRINKING": "without expired brokers",
    "LAST": "the last one that they got",
    "NONE": "none",
}


@dataclass(frozen=True, slots=True)
class LostNameserverView:
    """One lost name server."""

    name: str
    happens: str
    left: str
    rows: tuple[tuple[str, str, str, str], ...]
    """Clients, from and until, route, and what that means."""
    partial: str
    """Empty unless it is cut off."""
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    """A heading and its sentences."""
    back: str
    timers: tuple[Fact, ...]


def lost_nameserver_views(scenario: ScenarioResult) -> tuple[LostNameserverView, ...]:
    """The lost name servers in the order of the changes."""
    return tuple(map(_view, () if scenario.lost_nameservers is UNSET else scenario.lost_nameservers))


def _view(lost: LostNameserver) -> LostNameserverView:
    left = listed(lost.nameservers_left)
    return LostNameserverView(
        name=lost.nameserver_addr,
        happens=HAPPENS[lost.loss],
        left=f"Left: {left}." if left else "No other name server is left.",
        rows=tuple(_row(span, is_cut=lost.loss == "CUT_OFF") for span in lost.routes),
        partial="" if lost.partial_lists is None else _partial(lost.partial_lists),
        parts=(("What goes on", lost.goes_on), ("What stops", lost.stops), ("What to do", lost.advice)),
        back=f"When it is back, clients that ask it have all routes after at most {number(lost.back_s)} s.",
        timers=facts_of(lost.timers),
    )


def _row(span: RouteSpan, *, is_cut: bool) -> tuple[str, str, str, str]:
    clients = "ask it" if is_cut and span.clients == "ASK_IT" else CLIENTS[span.clients]
    until = "until it is back" if span.until_s is None else f"to {number(span.until_s)} s"
    return clients, f"{number(span.from_s)} s {until}", ROUTES[span.route], span.meaning


def _partial(lists: PartialLists) -> str:
    """How many queues may be read twice or by nobody, since clients keep different lists."""
    if not lists.topics:
        return "No topic has queues on several brokers, so clients cannot keep different parts of a list."
    groups = (
        f"Groups that read them: {_named(lists.group_names, lists.groups)}." if lists.groups else "No group reads them."
    )
    return (
        f"Clients of one group may keep different lists. Then each of them divides its own list, so that queues are"
        f" read twice or by nobody until this name server is back: any of {counted(lists.queues, 'queue')} of"
        f" {counted(lists.topics, 'topic')} ({_named(lists.topic_names, lists.topics)}). {groups}"
    )


def _named(names: Sequence[str], total: int) -> str:
    """The first names, and how many there are besides."""
    more = total - len(names[:LISTED])
    return ", ".join(names[:LISTED]) + (f" and {more:,} more" if more else "")
