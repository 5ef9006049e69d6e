"""Groups as the page shows them: one line each, and a section for those that :func:`detailed_groups` names."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.plan_file.group import GroupPlan, PlanSkew, StrategyPlan
from rocketmq_capacity.plan_file.in_use import in_use
from rocketmq_capacity.report.figures import UNKNOWN, factor, number, per_cent
from rocketmq_capacity.report.limits import CAUSES_A_GROUP, ITEMS, REASONS
from rocketmq_capacity.report.loads import MEASURES, Measure
from rocketmq_capacity.report.needed import ClientsOfGroup
from rocketmq_capacity.report.view.answers import Answers
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.group_facts import clients_in_words, facts_of_group, reads_in_words, useful_in_words
from rocketmq_capacity.report.view.score import score_cell
from rocketmq_capacity.report.wording import READING_WORDS, STATUS_WORDS, Wording
from rocketmq_capacity.tables.assess.failures import GroupFailure
from rocketmq_capacity.tables.assess.groups import GroupSize, GroupStatus
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import DIALECT_WORDS, POP, RIGHT, SEVERITIES, TWICE, UNREAD, Severity, is_broadcasting

UNKNOWN_CELL: Final = "\u2013"
CHANGE: Final = "CHANGE_STRATEGY"
TO_POP: Final = "SWITCH_TO_POP"


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group in the table of all groups."""

    anchor: str
    section: str | None
    """Id of its section, where it has one."""
    name: str
    status: str
    status_words: str
    but_words: str
    """What the status does not say: what is wrong with who reads what, or a client that is apart from the others."""
    score: str
    """Today, and after all recommendations."""
    clients: str
    needed: str
    """As many clients as it needs; a dash if that is unknown."""
    spare: str
    """How many it can give back."""
    useful: str
    reads: str
    strategy: str
    evenness: str
    """PEAK and FLOOR of queues."""
    busy: str
    """Utilisation of its busiest client."""
    busy_share: float | None
    """The same as a number, 1 is without pause."""
    bound: float | None
    """The share above which it is too busy."""
    headroom: str
    """So many times the traffic at the peak until something breaks."""
    severities: tuple[tuple[str, int], ...]
    """Of its causes, each with their number, worst first."""
    owner_number: int


@dataclass(frozen=True, slots=True)
class StrategyLine:
    """A strategy in a group's matrix."""

    strategy: str
    is_current: bool
    is_alternative: bool
    is_recommended: bool
    is_known: bool
    reason: str
    """Why it is not applicable, or for which topics it throws; empty where it allocates all."""
    idle: int
    orphans: int
    doubly_owned: int
    moved: tuple[str, str, str]
    """Queues that move if a client leaves, if one comes, and if the broker is lost whose loss moves most."""
    metrics: tuple[tuple[str, ...], ...]
    """For each of the section's measures: PEAK, FLOOR, EXCESS; empty where the load is not known."""


@dataclass(frozen=True, slots=True)
class GroupCause:
    """A cause in a group's section, with a link to its own place."""

    severity: str
    title: str
    message: str
    anchor: str | None


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Why some strategies cannot be run, and how many groups that is so for."""

    strategies: tuple[str, ...]
    reason: str
    groups: int


@dataclass(frozen=True, slots=True)
class NamedList:
    """What is wrong under the strategy in use: idle clients, orphan queues, doubly owned queues."""

    title: str
    names: First[str]


@dataclass(frozen=True, slots=True)
class GroupSection:
    """A group in detail; its chart is drawn elsewhere."""

    line: GroupLine
    status: str
    status_meaning: str
    status_reason: str
    facts: tuple[tuple[str, str], ...]
    causes: First[GroupCause]
    telling: tuple[StrategyLine, ...]
    """The strategy in use, the best other and the recommended one."""
    strategies: tuple[StrategyLine, ...]
    """All that can be run."""
    not_applicable: tuple[str, ...]
    """The others; :func:`not_applicable` says why."""
    measures: tuple[str, ...]
    """Loads that are known under any strategy: what the matrix has columns for."""
    unknown: str
    """The others."""
    lists: tuple[NamedList, ...]
    no_strategies: str
    """Why there is no matrix; empty where there is one."""


def anchors_of(groups: Sequence[GroupPlan], detailed: Collection[str]) -> dict[str, str]:
    """Where a link to a group leads: to its section, or to its line in the table."""
    return {
        group.consumer_group: f"group-{place + 1}" if group.consumer_group in detailed else f"line-{place + 1}"
        for place, group in enumerate(groups)
    }


def line_of(
    group: GroupPlan,
    staff: ClientsOfGroup,
    place: int,
    section: str | None,
    severities: Iterable[Severity],
    owner_number: int,
    bound: float | None,
) -> GroupLine:
    """The group's line; ``severities`` are those of its causes."""
    now, of_severity = in_use(group), Counter(severities)
    count = None if now is None else now.count
    return GroupLine(
        anchor=f"line-{place + 1}",
        section=section,
        name=group.consumer_group,
        status=group.provision_status,
        status_words=STATUS_WORDS.get(group.provision_status, Wording(group.provision_status, "")).title,
        but_words=_but(group, bound),
        score=score_cell(group.score),
        clients=clients_in_words(group),
        needed=UNKNOWN_CELL if staff.needed is None else number(staff.needed),
        spare=UNKNOWN_CELL if staff.spare is None else number(staff.spare),
        useful=useful_in_words(group),
        reads=reads_in_words(group),
        strategy=(now.strategy if now else group.current_strategy) or "\u2013",
        evenness=UNKNOWN_CELL if count is None else f"{metric(count.peak)} / {metric(count.floor)}",
        busy="\u2013" if group.utilisation is None else per_cent(group.utilisation.estimate),
        busy_share=None if group.utilisation is None else group.utilisation.estimate,
        bound=bound,
        headroom="\u2013" if group.headroom is None else factor(group.headroom.factor),
        severities=tuple((severity, of_severity[severity]) for severity in SEVERITIES if of_severity[severity]),
        owner_number=owner_number,
    )


def _but(group: GroupPlan, bound: float | None) -> str:
    if group.reading_status in (UNREAD, TWICE):
        return READING_WORDS[group.reading_status].title
    use = group.utilisation
    # An unhealthy client is no reason for more clients, so that the verdict leaves it out.
    is_apart = group.provision_status == RIGHT and bound is not None and use is not None and use.lower > bound
    return "but for its busiest client" if is_apart else ""


def section_of(
    group: GroupPlan,
    line: GroupLine,
    staff: ClientsOfGroup,
    status: GroupStatus,
    answers: Answers,
    alternative: str | None,
) -> GroupSection:
    """The group's section; ``status`` is its row of group_status, which knows reasons that the plan does not hold."""
    causes = answers.of_group(group.consumer_group)
    wording = STATUS_WORDS.get(group.provision_status, Wording(group.provision_status, ""))
    now, wished = in_use(group), _recommended(group, answers)
    known = [measure for measure in MEASURES if any(measure.of(strategy) for strategy in group.strategies)]
    comparable = MEASURES if group.distinct_client_ids > 1 else ()  # of one client, nothing is compared
    lines = [_strategy_line(one, now, alternative, wished, known) for one in group.strategies if one.applicable]
    telling = [one for one in lines if one.is_current or one.is_alternative or one.is_recommended]
    return GroupSection(
        line=line,
        status=wording.title,
        status_meaning=wording.meaning,
        status_reason=status.provision_reason or "",
        facts=facts_of_group(group, staff, status),
        causes=First(
            (
                GroupCause(cause.severity, cause.title, cause.message, answers.anchor(cause))
                for cause in causes[:CAUSES_A_GROUP]
            ),
            len(causes),
        ),
        telling=tuple(sorted(telling, key=lambda one: not one.is_current)),
        strategies=tuple(lines),
        not_applicable=tuple(one.strategy for one in group.strategies if not one.applicable),
        measures=tuple(measure.title for measure in known),
        unknown=_in_a_row([measure.title.lower() for measure in comparable if measure not in known]),
        lists=_lists(now),
        no_strategies=_no_strategies(group),
    )


def _in_a_row(names: Sequence[str]) -> str:
    """``a``, ``a and b``, or ``a, b and c``."""
    return " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]])


def not_applicable(groups: Iterable[GroupPlan]) -> tuple[NotApplicable, ...]:
    """Why strategies cannot be run, each reason once for all groups, the commonest first."""
    by_reason: dict[str, tuple[set[str], set[str]]] = {}
    for group in groups:
        for strategy in group.strategies:
            if not strategy.applicable:
                strategies, names = by_reason.setdefault(strategy.reason or "no reason given", (set(), set()))
                strategies.add(strategy.strategy)
                names.add(group.consumer_group)
    lines = [
        NotApplicable(tuple(sorted(strategies)), why, len(names)) for why, (strategies, names) in by_reason.items()
    ]
    return tuple(sorted(lines, key=lambda one: (-one.groups, one.strategies, one.reason))[:REASONS])


def metric(value: float | None) -> str:
    """A metric with two decimals; what is not known is a dash."""
    return "\u2013" if value is None else f"{value:.2f}"


def busy_text(row: GroupFailure | GroupSize) -> str:
    """The busy share of the busiest client, as a span where it may be less or more."""
    if row.busy_ratio is None or row.busy_lower is None or row.busy_upper is None:
        return UNKNOWN
    share = per_cent(row.busy_ratio)
    return share if row.busy_lower == row.busy_upper else f"{per_cent(row.busy_lower)} to {per_cent(row.busy_upper)}"


def _recommended(group: GroupPlan, answers: Answers) -> frozenset[str]:
    """The strategies that a recommendation would have the group run."""
    named = (
        answers.recommendations[one]
        for cause in answers.of_group(group.consumer_group)
        for one in cause.recommendations
    )
    of_group = [one for one in named if one.consumer_group == group.consumer_group]
    changed = {str(one.after["strategy"]) for one in of_group if one.action == CHANGE and "strategy" in one.after}
    return frozenset(changed | ({POP} if any(one.action == TO_POP for one in of_group) else set()))


def _strategy_line(
    strategy: StrategyPlan,
    now: StrategyPlan | None,
    alternative: str | None,
    wished: Collection[str],
    measures: Sequence[Measure],
) -> StrategyLine:
    return StrategyLine(
        strategy=strategy.strategy,
        is_current=strategy is now,
        is_alternative=strategy.strategy == alternative,
        is_recommended=strategy.strategy in wished,
        is_known=strategy.is_known,
        reason="; ".join(_reasons(strategy)) or ("" if strategy.applicable else "no reason given"),
        idle=len(strategy.idle_clients),
        orphans=len(strategy.orphan_queues),
        doubly_owned=len(strategy.doubly_owned_queues),
        moved=_moved(strategy),
        metrics=tuple(_cells(measure.of(strategy)) for measure in measures),
    )


def _moved(strategy: StrategyPlan) -> tuple[str, str, str]:
    churn = strategy.churn
    if churn is UNSET:
        return "\u2013", "\u2013", "\u2013"
    one_fewer, one_more, broker_lost = (
        "\u2013" if moved is None else number(moved) for moved in (churn.one_fewer, churn.one_more, churn.broker_lost)
    )
    return one_fewer, one_more, broker_lost


def _reasons(strategy: StrategyPlan) -> Iterator[str]:
    """What the page says beside a strategy's name, or instead of its figures."""
    if strategy.reason:
        yield strategy.reason
    if strategy.dialects is not UNSET and strategy.dialects:
        yield f"as {' and '.join(DIALECT_WORDS[one] for one in strategy.dialects)} compute it"


def _cells(skew: PlanSkew | None) -> tuple[str, ...]:
    return () if skew is None else tuple(map(metric, (skew.peak, skew.floor, skew.excess)))


def _lists(current: StrategyPlan | None) -> tuple[NamedList, ...]:
    if current is None:
        return ()
    idle = current.idle_clients
    return tuple(
        NamedList(f"{title} ({total:,})", First(names, total))
        for title, names, total in (
            ("Idle clients", idle[:ITEMS], len(idle)),
            ("Orphan queues", _names(current.orphan_queues), len(current.orphan_queues)),
            ("Doubly owned queues", _names(current.doubly_owned_queues), len(current.doubly_owned_queues)),
        )
        if total
    )


def _names(queues: Sequence[Queue]) -> tuple[str, ...]:
    return tuple(f"{queue.topic} {queue.broker_name} {queue.queue_id}" for queue in queues[:ITEMS])


def _no_strategies(group: GroupPlan) -> str:
    if group.strategies:
        return ""
    if is_broadcasting(group.message_model):
        return "Every client of a broadcasting group reads every queue: there is nothing to divide."
    return "No strategy was computed: the group has no clients or no readable queues."
