"""CONSISTENT_HASH: queues and virtual nodes of consumers on one ring of 32 bits; the next node clockwise owns."""

from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyspark.sql.functions as F
import pyspark.sql.types as T
from pyspark.sql import Column, DataFrame

from rocketmq_capacity.batches import MapBatches

NAME: Final = "CONSISTENT_HASH"
_KEY_BITS: Final = 32
_DIGITS: Final = 8

Integers = npt.NDArray[np.int64]


def hashes_of(texts: Column) -> Column:
    """Places on the ring, of an array of texts: eight hexadecimal digits each, one after the other in one string.

    A place is the first four bytes of the MD5 of the UTF-8 text, big-endian. As digits they reach numpy as they are.
    Source: ConsistentHashRouter.MD5Hash, rocketmq-all-5.3.3.
    """
    digits = F.transform(texts, lambda text: F.substring(F.md5(text.cast("binary")), 1, _DIGITS))
    return F.array_join(digits, "")


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
    """The virtual nodes of each group's consumers, hashed once.

    The copies of an id go on numbering its virtual nodes, so that an id that stands twice has twice as many.

    Shape: members -> ``by``, consumer_group, ring: array<struct<index int, hashes string>> in the order of index.
    Source: ConsistentHashRouter.addNode and getExistingReplicas, rocketmq-all-5.3.3. (There, a node of an id that
    another node of the same id overwrote does not count; two of ten hashes of one id being equal is left out here.)
    """
    first = (F.col("index") - F.col("first_index")) * virtual_nodes
    replicas = F.sequence(first, first + virtual_nodes - 1) if virtual_nodes else F.array().cast("array<int>")
    nodes = F.transform(replicas, lambda replica: F.concat_ws("-", F.col("client_id"), replica))
    consumer = F.struct(F.col("first_index").alias("index"), hashes_of(nodes).alias("hashes"))
    return members.groupBy(*by, "consumer_group").agg(F.sort_array(F.collect_list(consumer)).alias("ring"))


def points(queues: DataFrame, by: list[str]) -> DataFrame:
    """The places of each topic's queues.

    Shape: ranked queues -> ``by``, topic, points: array<struct<broker_name string, hashes string>>, by queue id.
    """
    topic, broker_name = F.col("topic"), F.col("broker_name")
    texts = F.transform(F.sequence(F.lit(0), F.col("readable") - 1), lambda q: queue_key(topic, broker_name, q))
    broker = F.struct(broker_name, hashes_of(texts).alias("hashes"))
    return queues.groupBy(*by, "topic").agg(F.collect_list(broker).alias("points"))


def owners(ringed: DataFrame, key: list[str], map_batches: MapBatches) -> DataFrame:
    """The indexes of the owners of each broker's queues, by binary search over whole batches.

    Shape: one row a group and topic with ``key`` columns, ``ring`` and ``points`` -> one row a broker: ``key``,
    broker_name, hash_owners: array<int> by queue id. Where the ring is empty there is no row.
    """
    looked_at = ringed.select(*key, "ring", "points")
    found = [T.StructField("broker_name", T.StringType()), T.StructField("hash_owners", T.ArrayType(T.IntegerType()))]
    schema = T.StructType([*(looked_at.schema[name] for name in key), *found])
    return map_batches(looked_at, partial(owners_in, key=key), schema)


def owners_in(batch: pa.RecordBatch, key: list[str]) -> pa.RecordBatch:
    """One Arrow batch of :func:`owners`; every row of the batch is searched at once.

    A row's number in the high bits keeps the rings of the batch apart in one sorted array. Where two nodes hash alike
    the later consumer's stands, as in Java's ``TreeMap.put``.
    """
    consumer_row, consumers = _items(batch.column("ring"))
    node_counts, node_hash = _hashes(consumers.field("hashes"))
    consumer = np.repeat(np.arange(len(consumers)), node_counts)
    node_key = (consumer_row[consumer] << _KEY_BITS) | node_hash
    order = np.argsort(node_key, kind="stable")
    node_key, consumer = node_key[order], consumer[order]
    stands = np.append(node_key[1:] != node_key[:-1], True)[: len(node_key)]
    node_key, consumer = node_key[stands], consumer[stands]

    rows = np.arange(len(batch)) << _KEY_BITS
    start, end = np.searchsorted(node_key, rows), np.searchsorted(node_key, rows + (1 << _KEY_BITS))
    broker_row, brokers = _items(batch.column("points"))
    queue_counts, point_hash = _hashes(brokers.field("hashes"))
    row = np.repeat(broker_row, queue_counts)
    has_ring = (start < end)[row]
    row, point_hash = row[has_ring], point_hash[has_ring]
    place = np.searchsorted(node_key, (row << _KEY_BITS) | point_hash)
    place = np.where(place == end[row], start[row], place)

    is_owned = (start < end)[broker_row]
    columns = [batch.column(name).take(pa.array(broker_row[is_owned])) for name in key]
    ends = np.append(0, np.cumsum(queue_counts[is_owned])).astype(np.int32)
    index = consumers.field("index").take(pa.array(consumer[place]))
    found = {
        "broker_name": brokers.field("broker_name").filter(pa.array(is_owned)),
        "hash_owners": pa.ListArray.from_arrays(pa.array(ends), index),
    }
    return pa.RecordBatch.from_arrays([*columns, *found.values()], [*key, *found])


def owner_index(queue_id: Column) -> Column:
    """Index of the consumer that owns each queue of a row of :func:`owners`; null where nobody does."""
    return F.get("hash_owners", queue_id)


def _items(lists: pa.ListArray) -> tuple[Integers, pa.StructArray]:
    """The row number of every item, and the items."""
    lengths = np.diff(lists.offsets.to_numpy())
    return np.repeat(np.arange(len(lists), dtype=np.int64), lengths), lists.flatten()


def _hashes(texts: pa.StringArray) -> tuple[Integers, Integers]:
    """How many hashes are in each string of :func:`hashes_of`, and all of them."""
    binary = texts.cast(pa.binary())
    offsets = np.frombuffer(binary.buffers()[1], np.int32)[binary.offset : binary.offset + len(binary) + 1]
    digits = np.frombuffer(binary.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    halves = np.where(digits >= ord("a"), digits - (ord("a") - 10), digits - ord("0"))
    places = ((halves[0::2] << 4) | halves[1::2]).view(">u4")
    return np.diff(offsets) // _DIGITS, places.astype(np.int64)
