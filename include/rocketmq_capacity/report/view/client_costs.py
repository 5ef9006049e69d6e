"""What clients cost brokers, on the page: today, and what a what-if changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.plan_file.broker import BrokerPlan
from rocketmq_capacity.plan_file.client_cost import ClientCostChange, ClientRequests, PoolUse
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.report.figures import UNKNOWN, number
from rocketmq_capacity.report.limits import TABLE_ROWS
from rocketmq_capacity.report.view.first import First

SHOWN: Final = (
    ("connections", "connections"),
    ("heartbeats_per_s", "heartbeats/s"),
    ("member_lookups_per_s", "look-ups of members/s"),
    ("assignment_queries_per_s", "queries for assignments/s"),
    ("offset_commits_per_s", "offset commits/s"),
    ("waiting_pulls", "pulls that wait"),
    ("waiting_pops", "pops that wait"),
    ("acks_per_s", "acknowledgements/s"),
)
"""Figures with one value, and what a reader sees for them; pulls and pops have two."""


@dataclass(frozen=True, slots=True)
class ClientCostLine:
    """What clients ask of a broker."""

    name: str
    connections: str
    heartbeats: str
    consumers: str
    waiting: str
    pulls: str
    pops: str
    pool: str


def client_costs_view(brokers: Sequence[BrokerPlan]) -> First[ClientCostLine] | None:
    """The brokers with most connections; None for a plan of an earlier version, which does not know."""
    known = [(one, one.clients) for one in brokers if one.clients is not None]
    if not known:
        return None
    known.sort(key=lambda pair: (-(pair[1].connections or 0), pair[0].broker_name))
    return First((_line(broker, clients) for broker, clients in known[:TABLE_ROWS]), len(known))


def cost_changes_view(scenario: ScenarioResult) -> First[tuple[str, str]]:
    """The brokers of which clients ask something else after a what-if, and what that is."""
    changes = () if scenario.client_costs is UNSET else scenario.client_costs
    return First(cost_changes_lines(changes[:TABLE_ROWS]), len(changes))


def cost_changes_lines(changes: Sequence[ClientCostChange]) -> tuple[tuple[str, str], ...]:
    """The name of each broker, and what changes."""
    return tuple((one.broker_name, "; ".join(_changed(one))) for one in changes)


def _line(broker: BrokerPlan, clients: ClientRequests) -> ClientCostLine:
    return ClientCostLine(
        name=broker.broker_name,
        connections=number(clients.connections),
        heartbeats=number(clients.heartbeats_per_s),
        consumers=number(sum_of((clients.member_lookups_per_s, clients.offset_commits_per_s))),
        waiting=number(sum_of((clients.waiting_pulls, clients.waiting_pops))),
        pulls=_span(clients.pulls_per_s_lower, clients.pulls_per_s_upper),
        pops=_span(clients.pops_per_s_lower, clients.pops_per_s_upper),
        pool=_scarcest(broker.pools),
    )


def _scarcest(pools: Sequence[PoolUse]) -> str:
    """The pool with the least time for a request."""
    timed = [(one.thread_ms, one) for one in pools if one.thread_ms is not None]
    if not timed:
        return UNKNOWN
    time_ms, pool = min(timed, key=lambda pair: (pair[0], pair[1].pool))
    return f"{number(time_ms)} ms: {pool.pool} {number(pool.threads)}"


def _changed(change: ClientCostChange) -> Iterator[str]:
    before, after = change.before, change.after
    if before is None or after is None:
        yield "gone" if after is None else f"new: {number(after.connections)} connections"
        return
    for name, shown in SHOWN:
        figure_before, figure_after = getattr(before, name), getattr(after, name)
        if figure_before != figure_after:
            yield f"{shown} {number(figure_before)} \u2192 {number(figure_after)}"
    for name in ("pulls", "pops"):
        span_before, span_after = _rates(before, name), _rates(after, name)
        if span_before != span_after:
            yield f"{name}/s {span_before} \u2192 {span_after}"


def _rates(requests: ClientRequests, name: str) -> str:
    return _span(getattr(requests, f"{name}_per_s_lower"), getattr(requests, f"{name}_per_s_upper"))


def _span(lower: float | None, upper: float | None) -> str:
    if lower is None and upper is None:
        return UNKNOWN
    if upper is None:
        return f"{number(lower)} or more"
    return number(upper) if lower == upper else f"{number(lower)} to {number(upper)}"
