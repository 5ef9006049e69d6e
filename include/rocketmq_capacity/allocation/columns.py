"""The columns of the dataset ``allocation``, of many groups at once."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from rocketmq_capacity.allocation.rows import AllocationRows
from rocketmq_capacity.model.arrays import Integers


def allocation_columns(groups: Mapping[str, list[AllocationRows]]) -> dict[str, pa.Array]:
    """The columns of ``allocation`` of several groups; texts are dictionary-encoded.

    All rows of a group are of one division.
    """
    texts = _Texts()
    columns: dict[str, list[Integers]] = {name: [] for name in ("strategy", "consumer_group", "topic", "broker_name")}
    queue_ids, clients = [], []
    for consumer_group, group_rows in groups.items():
        if not group_rows:
            continue
        queues = group_rows[0].division.queues
        of_topic = texts.numbers([reads.topic.topic for reads, _ in queues.of_topics])
        of_broker = texts.numbers([place.broker_name for place in queues.places])
        of_client = texts.numbers(group_rows[0].division.members.client_ids)
        for rows in group_rows:
            extra = len(rows.strangers)
            count = len(rows.place) + extra
            columns["strategy"].append(np.full(count, texts.number(rows.strategy)))
            columns["consumer_group"].append(np.full(count, texts.number(consumer_group)))
            columns["topic"] += [of_topic[rows.place], texts.numbers([name.topic for _, name in rows.strangers])]
            columns["broker_name"] += [
                of_broker[rows.place],
                texts.numbers([name.broker_name for _, name in rows.strangers]),
            ]
            queue_ids += [rows.queue_id, np.array([name.queue_id for _, name in rows.strangers], np.int64)]
            clients += [of_client[rows.client], of_client[np.array([client for client, _ in rows.strangers], np.int64)]]
    dictionary = pa.array(list(texts.known), pa.string())
    encoded = {name: _encoded(parts, dictionary) for name, parts in columns.items()}
    numbers = np.concatenate([*queue_ids, np.empty(0, np.int64)]).astype(np.int32)
    return {**encoded, "queue_id": pa.array(numbers, pa.int32()), "client_id": _encoded(clients, dictionary)}


def _encoded(parts: list[Integers], dictionary: pa.StringArray) -> pa.DictionaryArray:
    numbers = np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(numbers), dictionary)


class _Texts:
    """Numbers different texts from 0 on."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))

    def numbers(self, texts: list[str]) -> Integers:
        return np.array([self.number(text) for text in texts], np.int64)
