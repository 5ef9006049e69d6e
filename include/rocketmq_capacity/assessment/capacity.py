"""CONSUMER_CAPACITY: a group whose clients are too busy, or that has more clients than it needs."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Final

import numpy as np
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from rocketmq_capacity.assessment import remedies
from rocketmq_capacity.assessment.choice_of_clients import RoomClients, clients_of_rooms
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.more_queues import MoreQueues, more_queues, queues_and_clients
from rocketmq_capacity.assessment.provision import Cause, Provision
from rocketmq_capacity.assessment.remedies import CallTime, JoinedRemedies
from rocketmq_capacity.assessment.search import Search, least_number
from rocketmq_capacity.assessment.spare import least_left
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import FALLS, Rule
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import CRITICAL, INFO, OVER, UNDER, WARNING
from rocketmq_capacity.wording import counted, percent, rounded


class NeededQueues(Struct, frozen=True, kw_only=True):
    """More queues of a topic that are enough."""

    topic: Annotated[str, means("the topic")]
    queues_per_broker: Annotated[int, means("on each writable broker", "queue")]
    clients: Annotated[int | None, means("needed with them (null: those of today)", "client")]


class BusyUnder(Struct, frozen=True, kw_only=True):
    """How busy the busiest client would be under a strategy."""

    strategy: Annotated[str, means("the strategy")]
    busy_ratio: Annotated[float, means("busy share of the busiest client at the peak")]


class TooBusyEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of CONSUMER_CAPACITY for a group that is too weak."""

    adds_to: ClassVar = {"utilisation_ratio": "peak_utilisation_ratio"}

    cause: Annotated[Cause | None, means("whether the busiest client is too busy, or lag grows")]
    lower_utilisation_ratio: Annotated[float, means("least busy share that the busiest client may have")]
    utilisation_ratio: Annotated[float, means("its most likely busy share")]
    upper_utilisation_ratio: Annotated[float, means("largest busy share that it may have")]
    peak_factor: Annotated[float | None, means("how many times more messages come at the peak", "")]
    peak_utilisation_ratio: Annotated[float, means("its busy share at the peak")]
    under_utilisation_ratio: Annotated[float, means("busy share that is too much, by the policy")]
    lag_growth: Annotated[int | None, means("by which lag grew over the samples", "message")]
    clients: Annotated[int, means("of the group", "client")]
    needed_clients: Annotated[int | None, means("that are enough", "client")]
    needed_busy_ratio: Annotated[float | None, means("busy share of the busiest of them")]
    needed_rooms: Annotated[Sequence[RoomClients] | UnsetType, means("in which machine rooms they run")] = UNSET
    max_useful_clients: Annotated[int | None, means("that can own a queue at most", "client")]
    consume_threads: Annotated[int | None, means("of the client with fewest", "thread")]
    needed_consume_threads: Annotated[int | None, means("of every client that are enough", "thread")]
    threads_busy_ratio: Annotated[float | None, means("busy share of the busiest client with them")]
    needed_rt_ratio: Annotated[float | None, means("time of a call that is enough, as a share of today's")]
    response_times: Annotated[Sequence[CallTime] | None, means("what that means for each topic of the busiest client")]
    calls_busy_ratio: Annotated[float | None, means("busy share of the busiest client with such calls")]
    needed_queues: Annotated[NeededQueues | None, means("more queues of a topic that are enough")]
    queues_busy_ratio: Annotated[float | None, means("busy share of the busiest client with them")]
    needed_together: Annotated[JoinedRemedies | None, means("measures that are enough only together")]
    strategies: Annotated[Sequence[BusyUnder], means("what other strategies would change")]
    mend_first: Annotated[str | UnsetType, means("the rule whose finding decides how queues are divided")] = UNSET
    doubt: Annotated[str | None, means("which fact must be wrong")]


class TooManyEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of CONSUMER_CAPACITY for a group with clients to spare."""

    adds_to: ClassVar = {"utilisation_ratio": "peak_utilisation_ratio"}

    lower_utilisation_ratio: Annotated[float, means("least busy share that the busiest client may have")]
    utilisation_ratio: Annotated[float, means("its most likely busy share")]
    upper_utilisation_ratio: Annotated[float, means("largest busy share that it may have")]
    peak_factor: Annotated[float | None, means("how many times more messages come at the peak", "")]
    peak_utilisation_ratio: Annotated[float, means("its busy share at the peak")]
    over_utilisation_ratio: Annotated[float, means("busy share below which clients are too many, by the policy")]
    clients: Annotated[int, means("of the group", "client")]
    clients_one_lost_busy_ratio: Annotated[float | None, means("busy share at the peak with one client fewer")]
    needed_clients: Annotated[int, means("that are enough", "client")]
    needed_busy_ratio: Annotated[float | None, means("busy share of the busiest of them at the peak")]
    needed_rooms: Annotated[Sequence[RoomClients] | UnsetType, means("in which machine rooms they run")] = UNSET
    one_lost_busy_ratio: Annotated[float | None, means("the same if one of them is lost")]
    min_clients: Annotated[int, means("that the group keeps in any case", "client")]
    max_useful_clients: Annotated[int | None, means("that can own a queue at most", "client")]
    peak_days: Annotated[float | None, means("days of which the peak is known")]
    doubt: Annotated[str | None, means("which fact must be wrong")]


class TrafficGrowsEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of CONSUMER_CAPACITY for a group whose traffic outgrows its clients."""

    known_days: Annotated[int, means("of which the traffic is known", "day")]
    traffic_msgs_per_s: Annotated[
        float, means("that come in the busy hours of the busiest day of the week by the trend")
    ]
    per_day_msgs_per_s: Annotated[float, means("that come more each day")]
    least_per_day_msgs_per_s: Annotated[float, means("the same at least, with 95 % confidence")]
    most_per_day_msgs_per_s: Annotated[float, means("the same at most")]
    full_msgs_per_s: Annotated[float, means("from which on the busiest client is above the policy's bound")]
    earliest_days: Annotated[float, means("until then at the earliest")]
    likely_days: Annotated[float, means("until then most likely")]
    latest_days: Annotated[float | None, means("until then at the latest; null if perhaps never")]
    peak_utilisation_ratio: Annotated[float, means("busy share of the busiest client at the peak that was seen")]
    clients: Annotated[int, means("of the group", "client")]
    forecast_days: Annotated[float, means("that the policy looks ahead")]
    needed_clients: Annotated[int | None, means("that are enough for the traffic in so many days", "client")]
    needed_busy_ratio: Annotated[float | None, means("busy share of the busiest of them at the peak that was seen")]
    needed_rooms: Annotated[Sequence[RoomClients] | UnsetType, means("in which machine rooms they run")] = UNSET
    max_useful_clients: Annotated[int | None, means("that can own a queue at most", "client")]
    queues_full_msgs_per_s: Annotated[
        float | None,
        means("from which on even these are too few, so the queues are; null if never, or if that is unknown"),
    ]
    queues_likely_days: Annotated[float | None, means("until then most likely")]
    then_busy_ratio: Annotated[float, means("busy share of the busiest of today's clients in `forecast_days`")]
    needed_queues: Annotated[
        NeededQueues | None, means("more queues of a topic that are enough in so many days, if no number of clients is")
    ]
    queues_busy_ratio: Annotated[float | None, means("busy share of the busiest client then, with them")]


CONSUMER_CAPACITY: Final = Rule(
    name="CONSUMER_CAPACITY",
    title="Consumers too busy, or more than needed",
    meaning=(
        "Response times and threads say how many messages a second a consumer can handle. The busiest one limits its"
        " group."
    ),
    place=130,
    goal="CAPACITY_AT_PEAK",
    evidence=(TooBusyEvidence, TooManyEvidence, TrafficGrowsEvidence),
    looks="its clients",
    shows=FALLS,
    is_choice=True,
    needs=("clients", "provision", "spread", "growth"),
    severities={
        "CRITICAL": "clients are measured to fall behind: they are more than fully busy now",
        "WARNING": (
            "the busiest client is busy for more than `PROVISION.under_utilisation`, or lag grows: the next peak hurts;"
            " or it will be within `PROVISION.forecast_days`"
        ),
        "INFO": "some clients are not needed",
    },
    thresholds=(
        "PROVISION.under_utilisation",
        "PROVISION.over_utilisation",
        "PROVISION.over_removed_ratio",
        "PROVISION.spare_below_utilisation",
        "PROVISION.peak_days",
        "PROVISION.forecast_days",
        "PROVISION.trend_days",
        "RAISE_CONSUME_THREADS",
        "LOW_UTILISATION.min_lag",
        "LOW_UTILISATION.min_growth_s",
    ),
    details="""
    The evidence has the utilisation with its bounds, and what would bring it down again. Each remedy is simulated
    alone, over all topics of the group: so many clients, so many threads, calls of the listener that take so many
    milliseconds (`needed_rt_ms`), so many queues, or another strategy. A remedy that is unknown does not suffice
    alone. Of fewer clients those stay that handle fewest messages at once: nobody chooses who goes. Under
    MACHINE_ROOM_NEARBY as many stay in each room, and further clients come to the room whose clients have most to do;
    `needed_rooms` has their numbers. If no remedy suffices alone, `needed_queues` has the fewest queues that are
    enough with more `clients`, or `needed_together` has as many clients as can own a queue, with more threads and, if
    need be, shorter calls. IDLE_CONSUMERS of a group that is too busy belongs to this cause: what ends the overload
    gives idle clients work.

    Outliers are apart: see CLIENT_OUTLIER. A broadcasting group is as busy as its clients say, because its offsets
    on the brokers mean nothing. While SUBSCRIPTION_MISMATCH leaves queues unread (`mend_first`), no remedy is
    named: its answer decides how the queues are divided.

    If some are not needed, the evidence has the busy share of the busiest client now and with fewer clients
    (`needed_busy_ratio`), and both with one more client lost. `doubt` says which fact must be wrong, if the clients
    do not consume what arrives. An OVER_PROVISIONED group whose busiest client is busy for
    `PROVISION.spare_below_utilisation` or more is a line in the table of savings, and no finding.

    Before clients are too busy: the traffic of the stored days, as far back as `PROVISION.trend_days`, has a trend if
    it grows with 95 % confidence, days of the same weekday compared with one another, and if it foretells the last week
    better than the week before does. At least three weeks are needed. It is a finding if it most likely is too much
    within `PROVISION.forecast_days`; until then nobody may go. If no number of clients is enough for the traffic then,
    `needed_queues` has the fewest queues that are, with as many clients as they need. `queues_full_msgs_per_s` is the
    traffic that outgrows the queues: with as many clients as can own one, the busiest is above the bound.
    """,
)


OVERLOADED = 1.0
"""Busy share above which a client falls behind. CRITICAL if it is measured now; a peak of the past is a WARNING."""


def consumer_capacity(group: AssessedGroup) -> Iterator[Finding]:
    """CONSUMER_CAPACITY: the busiest client is too busy, or lag grows; `clients_to_spare` finds that fewer are enough.

    Outliers are apart: CLIENT_OUTLIER finds them, and more clients or threads do not mend a sick one.
    """
    status, group = group.provision.status, group.apart
    verdict, work = group.provision, group.planned_work
    if work is not None and verdict.utilisation is not None and status == UNDER:
        yield from _too_busy(group, verdict, verdict.utilisation, work)


def _too_busy(group: AssessedGroup, verdict: Provision, use: Interval, work: Work) -> Iterator[Finding]:
    bound, peak = group.policy.thresholds.PROVISION.under_utilisation, group.peak.scale
    is_busy, growth, first = verdict.cause == "busy", group.growth.by, group.mends_first
    needed = None if verdict.needed is None else verdict.needed.target
    busiest, limits = verdict.busiest_client or "", group.policy.thresholds.RAISE_CONSUME_THREADS
    # What is wrong with the group decides how its queues are divided; it is mended first.
    threads = remedies.more_threads(work, bound, peak, limits) if first is None else None
    queues = more_queues(group.staff, work, bound, is_harmed=group.is_harmed) if is_busy and first is None else None
    calls = remedies.shorter_calls(group.division, work, bound, peak) if is_busy and first is None else None
    strategies = remedies.strategies(group.staff, group.loads) if first is None else {}
    both = None
    if calls is not None and not (needed or threads or queues) and min(strategies.values(), default=bound + 1) > bound:
        queues = queues_and_clients(group.staff, work, bound)
        both = remedies.together(group.sizes, work, bound) if queues is None else None
    yield finding(
        CONSUMER_CAPACITY,
        CRITICAL if use.lower > OVERLOADED else WARNING,
        consumer_group=group.name,
        subjects=[busiest],
        evidence=TooBusyEvidence(
            cause=verdict.cause,
            **_utilisation(group, use),
            under_utilisation_ratio=bound,
            lag_growth=growth,
            clients=group.facts.connections,
            needed_clients=needed,
            needed_busy_ratio=needed and rounded(group.sizes.share(needed)),
            needed_rooms=rooms_of(group, needed),
            max_useful_clients=group.useful_clients,
            consume_threads=_least_threads(work),
            needed_consume_threads=None if threads is None else threads.consume_threads,
            threads_busy_ratio=None if threads is None else rounded(threads.busy_ratio),
            needed_rt_ratio=None if calls is None else calls.ratio,
            response_times=None if calls is None else calls.times,
            calls_busy_ratio=None if calls is None else rounded(calls.busy_ratio),
            needed_queues=None if queues is None else needed_queues_of(queues),
            queues_busy_ratio=None if queues is None else rounded(queues.busy_ratio),
            needed_together=None if both is None else replace(both, busy_ratio=rounded(both.busy_ratio)),
            strategies=[
                BusyUnder(strategy=name, busy_ratio=rounded(share)) for name, share in sorted(strategies.items())
            ],
            mend_first=UNSET if first is None else first,
            doubt=verdict.doubt,
        ),
        message=(
            f"{busiest}, its only client, "
            if group.facts.connections == 1
            else f"{busiest}, the busiest of {counted(group.facts.connections, 'client')}, "
        )
        + (
            f"{verdict.reason.removeprefix('the busiest client ')}."
            if is_busy
            else f"cannot keep up: {verdict.reason}, although by response times and threads it has time left."
        ),
    )


def rooms_of(group: AssessedGroup, clients: int | None) -> Sequence[RoomClients] | UnsetType:
    """In which machine rooms so many clients run; UNSET where that makes no difference."""
    return (clients_of_rooms(group.staff, clients) if clients else None) or UNSET


def _with_one_lost(group: AssessedGroup, clients: int) -> float | None:
    busiest = group.sizes.busiest_with_one_lost(clients)
    return None if busiest is None else busiest.estimate


def needed_queues_of(queues: MoreQueues) -> NeededQueues:
    """What the evidence says of more queues."""
    return NeededQueues(topic=queues.topic, queues_per_broker=queues.queues_per_broker, clients=queues.clients)


def clients_to_spare(group: AssessedGroup, left: int) -> Iterator[Finding]:
    """CONSUMER_CAPACITY: fewer clients are enough, and those there are have little to do; ``left`` may be left."""
    use, connections, floor = group.provision.utilisation, group.facts.connections, least_left(group.staff)
    least = group.policy.thresholds.PROVISION.spare_below_utilisation
    if use is None or use.times(group.peak.scale).upper >= least:
        return
    after = group.sizes.share(left)
    without_one = _with_one_lost(group, left)
    yield finding(
        CONSUMER_CAPACITY,
        INFO,
        consumer_group=group.name,
        subjects=[group.provision.busiest_client or ""],
        evidence=TooManyEvidence(
            **_utilisation(group, use),
            over_utilisation_ratio=group.policy.thresholds.PROVISION.over_utilisation,
            clients=connections,
            clients_one_lost_busy_ratio=rounded(_with_one_lost(group, connections)),
            needed_clients=left,
            needed_busy_ratio=rounded(after),
            needed_rooms=rooms_of(group, left),
            one_lost_busy_ratio=rounded(without_one),
            min_clients=floor,
            max_useful_clients=group.useful_clients,
            peak_days=group.peak.days,
            doubt=group.provision.doubt,
        ),
        message=f"{connections - left} of its {counted(connections, 'client')} "
        f"{'is' if connections - left == 1 else 'are'} not needed: the busiest of {left} would be busy for "
        f"{percent(after or 0.0)} of its time, and for {percent(without_one or 0.0)} if one more is lost."
        + (f" The policy keeps at least {floor}." if left == floor else ""),
    )


def sizes_asked_for(group: AssessedGroup) -> Iterator[range]:
    """The numbers of clients that the rule asks for in a clustering group, one after the other."""
    verdict = group.provision
    if verdict.status == OVER:
        yield from fewest_clients(group)
        yield range(group.facts.connections - 1, group.facts.connections)


def fewest_clients(group: AssessedGroup) -> Search:
    """The fewest clients that a group with clients to spare may be left with; None where none may go.

    Their busiest one stays within ``over_utilisation``, and with one more lost within ``under_utilisation``; the
    clients of `least_left` stay in any case.
    """
    bounds = group.policy.thresholds.PROVISION
    sizes = group.sizes

    def is_enough(clients: int) -> bool:
        at_work = clients - group.entry.standby  # the policy's standbys are idle on purpose
        if at_work < 1:
            return False
        if _upper(sizes.busiest(at_work)) > bounds.over_utilisation:
            return False
        return at_work == 1 or _upper(sizes.busiest_with_one_lost(at_work)) <= bounds.under_utilisation

    return least_number(is_enough, least_left(group.staff), group.facts.connections - 1, fewer=1)


def _upper(busiest: Interval | None) -> float:
    """The upper limit of the busiest client's share at the peak; infinite if unknown."""
    return float("inf") if busiest is None else rounded(busiest.upper, 9) or 0.0


def _utilisation(group: AssessedGroup, use: Interval) -> dict[str, Any]:
    at_peak = group.provision.at_peak or use  # a verdict has both
    return {
        "lower_utilisation_ratio": rounded(use.lower),
        "utilisation_ratio": rounded(use.estimate),
        "upper_utilisation_ratio": rounded(use.upper),
        "peak_factor": rounded(group.peak.factor),
        "peak_utilisation_ratio": rounded(at_peak.estimate),
    }


def _least_threads(work: Work) -> int | None:
    """The fewest threads of a client that owns queues; None if those of one are unknown."""
    threads = work.threads[work.has_queues]
    return int(threads.min()) if len(threads) and not np.isnan(threads).any() else None


GROUP_RULES: Final[tuple[GroupRule, ...]] = (consumer_capacity,)
