"""Since when each finding exists, and whether it is open: two runs open what a rule that flaps finds, and two close it.

Source: planning.md, hysteresis of skew (two snapshots in a row to open, two to close), for all rules that flap.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.tables.assess.findings import CLOSING, OPEN, PENDING, FindingSince, FoundPlace
from rocketmq_capacity.vocabulary import CRITICAL, SEVERITIES


def states_of(
    severities: Mapping[FoundPlace, str], before: Mapping[FoundPlace, FindingSince], taken_at: str
) -> list[FindingSince]:
    """The state of each finding of this run, and of those of the run before that close; sorted.

    Args:
        severities: of this run's findings, of several the worst.
        before: the states of the run before, those that close included.
        taken_at: the moment of this run's snapshot.
    """
    states = [*_found(severities, before, taken_at), *_closing(severities, before)]
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


def _closing(severities: Mapping[FoundPlace, str], before: Mapping[FoundPlace, FindingSince]) -> Iterator[FindingSince]:
    for place, previous in before.items():
        if place not in severities and previous.state == OPEN and rule_of(previous.rule).flaps:
            yield replace(previous, state=CLOSING)
