"""Dataset ``consumer``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Consumer(Dataset):
    """Running consumers. Grain: one row a consumer; equal client ids stay apart. Key: consumer_group, consumer_index."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    consumer_index: T.IntegerType = pa.Field(nullable=False, description="place in the inventory, from 0")
    client_id: T.StringType = pa.Field(nullable=False, description="as RocketMQ sorts and hashes it")
    client_addr: T.StringType = pa.Field(nullable=True, description="host:port")
    language: T.StringType = pa.Field(nullable=True, description="client library")
    version: T.StringType = pa.Field(nullable=True, description="such as V5_3_3")
    seen_on: T.ArrayType(T.StringType()) = pa.Field(nullable=True, description="brokers that named it")
    started_at: T.StringType = pa.Field(nullable=True, description="UTC ISO-8601")
    allocate_strategy: T.StringType = pa.Field(nullable=True, description="strategy it reports")
    consume_threads: T.IntegerType = pa.Field(nullable=True, description="listener threads")
    consume_batch_size: T.IntegerType = pa.Field(nullable=True, description="messages a listener call")
    pull_threshold_for_queue: T.IntegerType = pa.Field(nullable=True, description="messages cached a queue")
    pull_threshold_size_for_queue_mib: T.IntegerType = pa.Field(nullable=True, description="MiB cached a queue")
    room: T.StringType = pa.Field(nullable=True, description="machine room by the policy, one for equal ids")
    only_topics: T.ArrayType(T.StringType()) = pa.Field(
        nullable=True, description="the topics it subscribes, where these are not all of its group's; else null"
    )
    has_owned_queues: T.BooleanType = pa.Field(nullable=False, description="it reported what it owns")
    has_subscriptions: T.BooleanType = pa.Field(nullable=False, description="it reported its own subscriptions")
    up_s: T.DoubleType = pa.Field(nullable=True, description="seconds from its start to the snapshot")
