"""Dataset ``topic``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Topic(Dataset):
    """Every topic that is declared or subscribed.

    Grain: one row a topic.
    Key: topic.
    """

    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    is_declared: T.BooleanType = pa.Field(
        nullable=False, description="the cluster has it; false: a group subscribes it, and no broker has it"
    )
    message_type: T.StringType = pa.Field(
        nullable=True, description="NORMAL, FIFO, DELAY, TRANSACTION, MIXED or UNSPECIFIED"
    )
    is_ordered: T.BooleanType = pa.Field(nullable=True, description="the topic's own order flag")
    kind: T.StringType = pa.Field(
        nullable=False,
        description="BUSINESS, RETRY (%RETRY%), DLQ (%DLQ%), LMQ (%LMQ%), SYSTEM (RocketMQ's own) or EXCLUDED (by the policy)",
    )
