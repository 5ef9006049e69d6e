"""Since when each finding exists, and whether it is open: two runs open what a rule that flaps finds, and two close it.

What a run with an incomplete snapshot does not find may be there all the same: it closes like what flaps, and stays
closing as long as snapshots are too incomplete for verdicts.

Source: planning.md, hysteresis of skew (two snapshots in a row to open, two to close), for all rules that flap.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from msgspec.structs import replace

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.assess.findings import CLOSING, OPEN, PENDING, FindingSince, FoundPlace
from rocketmq_capacity.vocabulary import CRITICAL, SEVERITIES

Seen = Literal["WHOLE", "IN_PART", "TOO_LITTLE"]
"""How much of the cluster a snapshot covers: all of it, so much that verdicts hold, or too little for them."""
WHOLE: Final = "WHOLE"
IN_PART: Final = "IN_PART"
TOO_LITTLE: Final = "TOO_LITTLE"


def seen_of(completeness_ratio: float, policy: Policy) -> Seen:
    """How much of the cluster a snapshot covers."""
    if not policy.holds_verdicts(completeness_ratio):
        return TOO_LITTLE
    return IN_PART if completeness_ratio < 1 else WHOLE


def states_of(
    severities: Mapping[FoundPlace, str],
    before: Mapping[FoundPlace, FindingSince],
    taken_at: str,
    seen: Seen = WHOLE,
) -> list[FindingSince]:
    """The state of each finding of this run, and of those of the run before that close; sorted.

    Args:
        severities: of this run's findings, of several the worst.
        before: the states of the run before, those that close included.
        taken_at: the moment of this run's snapshot.
        seen: how much of the cluster it covers.
    """
    states = [*_found(severities, before, taken_at), *_closing(severities, before, seen)]
    return sorted(states, key=lambda one: [name or "" for name in one.place])


def stored_states(
    severities: Mapping[FoundPlace, str], stored: Iterable[FindingSince], taken_at: str
) -> dict[FoundPlace, FindingSince]:
    """The states that a run leaves to the next one: as it stored them; what no state is stored of is open since then.

    Args:
        severities: of the run's findings, of several the worst.
        stored: the run's states; none of a first run.
        taken_at: the moment of the run's snapshot.
    """
    states = {one.place: replace(one, state=one.state or OPEN, open_since=_open_since(one)) for one in stored}
    for place, severity in severities.items():
        rule, group, topic, broker = place
        first = FindingSince(
            rule=rule,
            consumer_group=group,
            topic=topic,
            broker_name=broker,
            since=taken_at,
            state=OPEN,
            open_since=taken_at,
        )
        state = states.get(place, first)
        states[place] = replace(state, least_severity=lower(severity, state.least_severity))
    return states


def _open_since(state: FindingSince) -> str | None:
    return state.open_since or (None if state.state == PENDING else state.since)


def lower(severity: str, other: str | None) -> str:
    """The lower one of two severities; the other may be unknown."""
    return severity if other is None else max(severity, other, key=SEVERITIES.index)


def _found(
    severities: Mapping[FoundPlace, str], before: Mapping[FoundPlace, FindingSince], taken_at: str
) -> Iterator[FindingSince]:
    for place, severity in severities.items():
        rule, group, topic, broker = place
        previous = before.get(place)
        is_pending = previous is None and severity != CRITICAL and rule_of(rule).flaps
        opened = None if previous is None else previous.open_since
        yield FindingSince(
            rule=rule,
            consumer_group=group,
            topic=topic,
            broker_name=broker,
            since=taken_at if previous is None else previous.since,
            state=PENDING if is_pending else OPEN,
            open_since=None if is_pending else opened or taken_at,
            least_severity=lower(severity, None if previous is None else previous.least_severity),
        )


def _closing(
    severities: Mapping[FoundPlace, str], before: Mapping[FoundPlace, FindingSince], seen: Seen
) -> Iterator[FindingSince]:
    for place, previous in before.items():
        if place in severities:
            continue
        rule = rule_of(previous.rule)
        may_be_unseen = seen != WHOLE and not rule.is_of_snapshot
        closes = previous.state == OPEN and (rule.flaps or may_be_unseen)
        if closes or (previous.state == CLOSING and may_be_unseen and seen == TOO_LITTLE):
            yield replace(previous, state=CLOSING)
