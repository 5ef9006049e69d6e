"""What a recommendation changes, and what it predicts, as figures that a later snapshot can be asked for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rocketmq_capacity.plan_file.ledger import LedgerFigure, Value

QUEUES: Final = ("read_queue_nums", "write_queue_nums")
"""Changed by broker."""
OF_A_GROUP: Final = ("clients", "strategy", "message_request_mode")
"""Changed of the recommendation's group."""
BROKERS: Final = "brokers"
"""Changed of the cluster: brokers that take messages."""
OWNED: Final = ("idle", "orphan_queues", "doubly_owned_queues")
"""Predicted of groups: clients without a queue, queues without a reader, queues with several."""
PEAK: Final = "peak"
"""Predicted of groups: the busiest client's queues / the mean."""
UTILISATION: Final = "utilisation_ratio"
"""Predicted of the recommendation's group: busy share of its busiest client at the peak."""

TWICE: Final = "messages_twice_worst"
"""Predicted of the whole recommendation: messages that its groups consume twice, at worst."""


def changed_figures(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[LedgerFigure, ...]:
    """What differs once it is carried out; nothing if no snapshot shows it."""
    return (*_queues(before, after), *_of_whole(before, after))


def predicted_figures(
    before: Mapping[str, Any], after: Mapping[str, Any], group: str | None
) -> tuple[LedgerFigure, ...]:
    """What is predicted of each group.

    Args:
        before: the recommendation's figures of its day.
        after: the same as simulated.
        group: the recommendation's group, if it is about one.
    """
    if group is not None:
        return tuple(_of(group, before, after))
    earlier = _by_name(before.get("groups"), "consumer_group")
    later = _by_name(after.get("groups"), "consumer_group")
    return tuple(figure for name, figures in later.items() for figure in _of(name, earlier.get(name, {}), figures))


def _queues(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[LedgerFigure]:
    earlier = _by_name(before.get("queues"), "broker_name")
    later = _by_name(after.get("queues"), "broker_name")
    for broker, counts in later.items():
        for name in QUEUES:
            today, predicted = _value(earlier.get(broker, {}).get(name, 0)), _value(counts.get(name))
            if predicted is not None and today != predicted:
                yield LedgerFigure(figure=name, of=broker, before=today, predicted=predicted)


def _of_whole(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[LedgerFigure]:
    for name in (*OF_A_GROUP, BROKERS):
        today, predicted = _value(before.get(name)), _value(after.get(name))
        if predicted is not None and today != predicted:
            yield LedgerFigure(figure=name, before=today, predicted=predicted)


def _of(group: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[LedgerFigure]:
    for name in (*OWNED, UTILISATION):
        predicted = _value(after.get(name))
        if predicted is not None:
            yield LedgerFigure(figure=name, of=group, before=_value(before.get(name)), predicted=predicted)
    peak = _value(_object(after.get("count")).get(PEAK))
    if peak is not None:
        yield LedgerFigure(figure=PEAK, of=group, before=_value(_object(before.get("count")).get(PEAK)), predicted=peak)


def _by_name(entries: Any, name: str) -> dict[str, Mapping[str, Any]]:
    """A list of objects by one of their members; nothing of what is no such list, as in plans of other versions."""
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        return {}
    return {one[name]: one for one in entries if isinstance(one, Mapping) and isinstance(one.get(name), str)}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _value(value: Any) -> Value:
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else None
