"""CONSISTENT_HASH: queues and virtual nodes of consumers on one ring of 32 bits; the next node clockwise owns."""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

NAME: Final = "CONSISTENT_HASH"
_KEY_BITS: Final = 32


def hash_of(text: Column) -> Column:
    """Place on the ring: the first four bytes of the MD5 of the UTF-8 text, big-endian, as a long.

    Source: ConsistentHashRouter.MD5Hash, rocketmq-all-5.3.3.
    """
    return F.conv(F.substring(F.md5(text.cast("binary")), 1, 8), 16, 10).cast("long")


def queue_key(topic: Column, broker_name: Column, queue_id: Column) -> Column:
    """What a queue hashes: ``MessageQueue.toString()``."""
    return F.concat(
        F.lit("MessageQueue [topic="),
        topic,
        F.lit(", brokerName="),
        broker_name,
        F.lit(", queueId="),
        queue_id,
        F.lit("]"),
    )


def rings(members: DataFrame, by: list[str], virtual_nodes: int) -> DataFrame:
    """Each group's ring, built once: its virtual nodes sorted by (hash, index).

    The copies of an id go on numbering its virtual nodes, so that an id that stands twice has twice as many.

    Shape: members -> ``by``, consumer_group, ring: array<struct<hash long, index int>>.
    Source: ConsistentHashRouter.addNode and getExistingReplicas, rocketmq-all-5.3.3. (There, a node of an id that
    another node of the same id overwrote does not count; two of ten hashes of one id being equal is left out here.)
    """
    first = (F.col("index") - F.col("first_index")) * virtual_nodes
    replicas = F.sequence(first, first + virtual_nodes - 1) if virtual_nodes else F.array().cast("array<int>")
    node = F.concat_ws("-", "client_id", "replica")
    return (
        members
        .select(*by, "consumer_group", "client_id", "first_index", F.explode(replicas).alias("replica"))
        .groupBy(*by, "consumer_group")
        .agg(
            F.sort_array(
                F.collect_list(F.struct(hash_of(node).alias("hash"), F.col("first_index").alias("index")))
            ).alias("ring")
        )
    )


def owners(ringed: DataFrame, key: list[str]) -> DataFrame:
    """The index of each queue's owner, by binary search over whole batches.

    Shape: one row a group and topic with ``key`` columns, ``ring`` (sorted) and ``points``:
    array<struct<broker_name string, queue_id int, hash long>> -> one row a queue: ``key``, broker_name, queue_id, index
    """
    fields = ", ".join(f"`{name}` {ringed.schema[name].dataType.simpleString()}" for name in key)

    def search(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield owners_in(batch, key)

    return ringed.select(*key, "ring", "points").mapInArrow(
        search, f"{fields}, broker_name string, queue_id int, `index` int"
    )


def owners_in(batch: pa.RecordBatch, key: list[str]) -> pa.RecordBatch:
    """One Arrow batch of :func:`owners`; every row of the batch is searched at once.

    A row's number in the high bits keeps the rings of the batch apart in one sorted array. Where two nodes hash alike
    the later consumer's stands, as in Java's ``TreeMap.put``.
    """
    node_row, nodes = _flatten(batch.column("ring"))
    point_row, points = _flatten(batch.column("points"))
    node_key = (node_row << _KEY_BITS) | nodes.field("hash").to_numpy(zero_copy_only=False)
    stands = np.append(node_key[1:] != node_key[:-1], True)[: len(node_key)]
    node_key = node_key[stands]
    node_index = nodes.field("index").to_numpy(zero_copy_only=False)[stands]
    place = np.searchsorted(node_key, (point_row << _KEY_BITS) | points.field("hash").to_numpy(zero_copy_only=False))
    start = np.searchsorted(node_key, point_row << _KEY_BITS)
    end = np.searchsorted(node_key, (point_row + 1) << _KEY_BITS)
    place = np.where(place == end, start, place)
    has_ring = start < end
    found = pa.array(node_index[place[has_ring]], pa.int32())
    rows = pa.array(point_row[has_ring])
    kept = points.filter(pa.array(has_ring))
    columns = [batch.column(name).take(rows) for name in key]
    return pa.RecordBatch.from_arrays(
        [*columns, kept.field("broker_name"), kept.field("queue_id"), found], [*key, "broker_name", "queue_id", "index"]
    )


def _flatten(lists: pa.ListArray) -> tuple[np.ndarray, pa.StructArray]:
    """The row number of every item, and the items."""
    lengths = np.diff(lists.offsets.to_numpy())
    return np.repeat(np.arange(len(lists), dtype=np.int64), lengths), lists.flatten()
