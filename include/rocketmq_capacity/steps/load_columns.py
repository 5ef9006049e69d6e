"""The tables of loads and capacities as Arrow columns, because a fleet has a million rows of them."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa

from rocketmq_capacity.assessment.assess import GroupAssessment
from rocketmq_capacity.assessment.capacity_rows import FIGURES, CapacityRows
from rocketmq_capacity.model.division import Integers
from rocketmq_capacity.model.ragged import begins_of, lengths, within


def client_load_columns(groups: Sequence[GroupAssessment]) -> dict[str, pa.Array]:
    """The columns of ``ClientLoad`` of several groups; texts are dictionary-encoded."""
    ids = pa.array(chain.from_iterable([group.client_ids for group in groups]), pa.string()).dictionary_encode()
    clients = lengths([group.client_ids for group in groups])
    loads = [one for group in groups for one in group.client_loads]
    group = np.repeat(np.arange(len(groups)), lengths([group.client_loads for group in groups]))
    strategies = pa.array([one.strategy for one in loads], pa.string()).dictionary_encode()
    rates = _joined((one.msgs_per_s for one in loads), np.float64)
    has_lag = _joined((one.has_lag for one in loads), np.bool_)
    client = np.asarray(ids.indices)[np.repeat(begins_of(clients)[group], clients[group]) + within(clients[group])]
    return {
        "consumer_group": _encoded(
            np.repeat(group, clients[group]), pa.array([one.status.consumer_group for one in groups], pa.string())
        ),
        "strategy": _encoded(np.repeat(np.asarray(strategies.indices), clients[group]), strategies.dictionary),
        "client_id": _encoded(client, ids.dictionary),
        "queues": pa.array(_joined(one.queues for one in loads)),
        "msgs_per_s": pa.array(rates, mask=np.isnan(rates)),
        "lag": pa.array(_joined(one.lag for one in loads), mask=~has_lag),
    }


def _encoded(numbers: Integers, texts: pa.StringArray) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), texts)


def capacity_columns(groups: Sequence[CapacityRows]) -> dict[str, pa.Array]:
    """The columns of ``ClientCapacity`` of several groups."""
    counts = lengths([group.client for group in groups])
    names = pa.array([group.consumer_group for group in groups], pa.string())
    number = pa.array(np.repeat(np.arange(len(groups)), counts).astype(np.int32))
    columns: dict[str, pa.Array] = {
        "consumer_group": pa.DictionaryArray.from_arrays(number, names),
        "topic": _texts([(group.topics, group.topic) for group in groups]),
        "client_id": _texts([(group.client_ids, group.client) for group in groups]),
        "queues": pa.array(_joined(group.queues for group in groups)),
        "is_rt_reported": pa.array(_joined((group.is_rt_reported for group in groups), np.bool_)),
    }
    for name in FIGURES:
        figures = _joined((group.figures[name] for group in groups), np.float64)
        columns[name] = pa.array(figures, mask=np.isnan(figures))
    return columns


def _texts(parts: Sequence[tuple[list[str], Integers]]) -> pa.DictionaryArray:
    """Texts by their numbers; equal texts of several groups get one number."""
    numbers: dict[str, int] = {}
    places = [
        np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int32)[index] for texts, index in parts
    ]
    return pa.DictionaryArray.from_arrays(pa.array(_joined(places, np.int32)), pa.array(list(numbers), pa.string()))


def _joined(parts: Iterable[np.ndarray], kind: type[np.generic] = np.int64) -> np.ndarray:
    return np.concatenate([*parts, np.empty(0, kind)]).astype(kind, copy=False)
