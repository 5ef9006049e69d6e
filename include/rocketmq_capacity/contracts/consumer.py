"""Dataset ``consumer``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Consumer(Dataset):
    """Running consumers; equal client ids stay apart.

    Grain: one row a consumer.
    Key: consumer_group, consumer_index.
    Units: seconds, threads, messages and MiB, as each column says.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    consumer_index: T.IntegerType = pa.Field(
        nullable=False, description="place of the consumer among its group's in the inventory, from 0"
    )
    client_id: T.StringType = pa.Field(nullable=False, description="as RocketMQ sorts and hashes it")
    client_addr: T.StringType = pa.Field(nullable=True, description="host:port, as the first broker of seen_on sees it")
    language: T.StringType = pa.Field(nullable=True, description="client library, such as JAVA")
    version: T.StringType = pa.Field(nullable=True, description="version of the client library, such as V5_3_3")
    seen_on: T.ArrayType(T.StringType()) = pa.Field(
        nullable=True, description="names of the brokers that named it as a member"
    )
    started_at: T.StringType = pa.Field(nullable=True, description="start of the consumer, UTC ISO-8601")
    allocate_strategy: T.StringType = pa.Field(
        nullable=True,
        description="strategy that it reports: its getName(), MACHINE_ROOM_NEARBY without the inner one, any other class by its full name",
    )
    consume_threads: T.IntegerType = pa.Field(nullable=True, description="listener threads")
    consume_batch_size: T.IntegerType = pa.Field(nullable=True, description="most messages in one listener call")
    pull_threshold_for_queue: T.IntegerType = pa.Field(nullable=True, description="most messages cached for one queue")
    pull_threshold_size_for_queue_mib: T.IntegerType = pa.Field(
        nullable=True, description="most MiB cached for one queue"
    )
    room: T.StringType = pa.Field(
        nullable=True, description="machine room by the policy, one for equal ids; null where no rule matches"
    )
    only_topics: T.ArrayType(T.StringType()) = pa.Field(
        nullable=True, description="the topics it subscribes, where these are not all of its group's; else null"
    )
    has_owned_queues: T.BooleanType = pa.Field(nullable=False, description="it reported what it owns")
    has_subscriptions: T.BooleanType = pa.Field(nullable=False, description="it reported its own subscriptions")
    up_s: T.DoubleType = pa.Field(nullable=True, description="seconds from its start to the snapshot")
