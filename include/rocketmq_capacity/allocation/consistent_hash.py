"""CONSISTENT_HASH: queues and virtual nodes of consumers on one ring of 32 bits; the next node clockwise owns."""

from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyspark.sql.functions as F
import pyspark.sql.types as T
from pyspark.sql import Column, DataFrame

from rocketmq_capacity.allocation import md5
from rocketmq_capacity.allocation.md5 import Integers
from rocketmq_capacity.batches import MapBatches

NAME: Final = "CONSISTENT_HASH"
_KEY_BITS: Final = 32
_NODES_AT_A_TIME: Final = 1 << 20
"""About so many virtual nodes are in memory together, but always all of a group."""


def owners(fleet: DataFrame, key: list[str], virtual_nodes: int, map_batches: MapBatches) -> DataFrame:
    """The owners of each topic's queues, by binary search over the rings of whole batches of groups.

    Shape: a row a group with ``key`` columns, client_ids and topics -> one row a group and topic: ``key``, topic,
    hash_owners: array<int>, the owners' places in ``client_ids`` by the queue's rank. Where the ring is empty there is
    no row.
    Source: AllocateMessageQueueConsistentHash and ConsistentHashRouter, rocketmq-all-5.3.3.
    """
    found = [T.StructField("topic", T.StringType()), T.StructField("hash_owners", T.ArrayType(T.IntegerType()))]
    schema = T.StructType([*(fleet.schema[name] for name in key), *found])
    ringed = fleet.where("NOT is_broadcasting AND client_ids IS NOT NULL AND topics IS NOT NULL")
    return map_batches(
        ringed.select(*key, "client_ids", "topics"), partial(owners_in, key=key, virtual_nodes=virtual_nodes), schema
    )


def owner_index(queue: Column) -> Column:
    """Place of the consumer that owns each queue of a row of :func:`owners`; null where nobody does."""
    return F.get("hash_owners", queue)


def owners_in(batch: pa.RecordBatch, key: list[str], virtual_nodes: int) -> pa.RecordBatch:
    """One Arrow batch of :func:`owners`."""
    nodes = np.cumsum(pc.list_value_length(batch.column("client_ids")).to_numpy()) * virtual_nodes
    starts = [0, *(np.flatnonzero(np.diff(nodes // _NODES_AT_A_TIME)) + 1), len(batch)]
    parts = [batch.slice(start, end - start) for start, end in pairwise(starts)]
    return pa.concat_batches([_owners_in(part, key, virtual_nodes) for part in parts])


def _owners_in(batch: pa.RecordBatch, key: list[str], virtual_nodes: int) -> pa.RecordBatch:
    """Every row of the batch at once: a row's number in the high bits keeps the rings apart in one sorted array.

    Where two nodes hash alike the later consumer's stands, as in Java's ``TreeMap.put``.
    """
    node_key, owner = _nodes(batch.column("client_ids"), virtual_nodes)
    order = np.argsort(node_key, kind="stable")
    node_key, owner = node_key[order], owner[order]
    stands = np.append(node_key[1:] != node_key[:-1], True)[: len(node_key)]
    node_key, owner = node_key[stands], owner[stands]

    rows = np.arange(len(batch)) << _KEY_BITS
    start, end = np.searchsorted(node_key, rows), np.searchsorted(node_key, rows + (1 << _KEY_BITS))
    has_ring = start < end
    topic_row, topics, queue_topic, point = _points(batch.column("topics"))
    row = topic_row[queue_topic]
    row, point, queue_topic = row[has_ring[row]], point[has_ring[row]], queue_topic[has_ring[row]]
    place = np.searchsorted(node_key, (row << _KEY_BITS) | point)
    place = np.where(place == end[row], start[row], place)

    is_owned = has_ring[topic_row]
    columns = [batch.column(name).take(pa.array(topic_row[is_owned])) for name in key]
    queues = np.bincount(queue_topic, minlength=len(topics))[is_owned]
    found = {
        "topic": topics.field("topic").filter(pa.array(is_owned)),
        "hash_owners": pa.ListArray.from_arrays(_offsets(queues), pa.array(owner[place].astype(np.int32))),
    }
    return pa.RecordBatch.from_arrays([*columns, *found.values()], [*key, *found])


def _nodes(client_ids: pa.ListArray, virtual_nodes: int) -> tuple[Integers, Integers]:
    """Key and owner's place of every virtual node: the texts ``clientId-0``, ``clientId-1`` and so on.

    The copies of an id go on numbering its nodes, so that an id that stands twice has twice as many; their owner is
    the first. (There, a node of an id that another node of the same id overwrote does not count; two of ten hashes of
    one id being equal is left out here.)
    Source: ConsistentHashRouter.addNode and getExistingReplicas.
    """
    row, ids = _items(client_ids)
    clients = np.arange(len(ids))
    equals_last = np.append(False, row[1:] == row[:-1])[: len(ids)]
    equals_last[1:] &= pc.equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
    first = np.maximum.accumulate(np.where(equals_last, 0, clients))
    replica = ((clients - first) * virtual_nodes)[:, None] + np.arange(virtual_nodes)
    client = np.repeat(clients, virtual_nodes)
    hashes = md5.first_words(pc.binary_join_element_wise(ids, "", "-"), client, replica.ravel())
    place = first - np.searchsorted(row, row)
    return (row[client] << _KEY_BITS) | hashes, place[client]


def _points(topics: pa.ListArray) -> tuple[Integers, pa.StructArray, Integers, Integers]:
    """Of each topic its row, the topics, and of each queue, by rank, its topic and its place on the ring.

    A queue hashes as ``MessageQueue.toString()``.
    """
    topic_row, topic = _items(topics)
    broker_topic, brokers = _items(topic.field("brokers"))
    readable = brokers.field("readable").to_numpy()
    topic_name = topic.field("topic").take(pa.array(broker_topic))
    beginnings = pc.binary_join_element_wise(
        "MessageQueue [topic=", topic_name, ", brokerName=", brokers.field("broker_name"), ", queueId=", ""
    ).dictionary_encode()
    # A topic's queues are hashed once, however many groups of the batch read it.
    code = beginnings.indices.to_numpy()
    most = np.zeros(len(beginnings.dictionary), np.int64)
    np.maximum.at(most, code, readable)
    of_each, queue_id = _numbered(most)
    hashes = md5.first_words(beginnings.dictionary, of_each, queue_id, b"]")
    start = np.cumsum(most) - most

    broker, queue_id = _numbered(readable)
    return topic_row, topic, broker_topic[broker], hashes[start[code[broker]] + queue_id]


def _numbered(counts: Integers) -> tuple[Integers, Integers]:
    """So many items of each: of each item whose it is, and its number there."""
    whose = np.repeat(np.arange(len(counts)), counts)
    return whose, np.arange(len(whose)) - np.repeat(np.cumsum(counts) - counts, counts)


def _items(lists: pa.ListArray) -> tuple[Integers, pa.Array]:
    """The row number of every item, and the items."""
    lengths = np.diff(lists.offsets.to_numpy())
    return np.repeat(np.arange(len(lists), dtype=np.int64), lengths), lists.flatten()


def _offsets(lengths: Integers) -> pa.Int32Array:
    return pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
