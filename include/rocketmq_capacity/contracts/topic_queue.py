"""Dataset ``topic_queue``."""

from typing import Final

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset

LOGICAL_BROKER_PREFIX: Final = "__syslo__"
"""Static topics stand on a logical broker of such a name (MixAll.LOGICAL_QUEUE_MOCK_BROKER_PREFIX)."""


class TopicQueue(Dataset):
    """Queues of a topic on a broker.

    Grain: one row a topic and broker.
    Key: topic, broker_name.
    Units: queues, counted; ``perm`` is a bit set.
    """

    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    broker_name: T.StringType = pa.Field(nullable=False, description="name of the broker")
    read_queue_nums: T.IntegerType = pa.Field(nullable=True, description="queues that consumers see, ids from 0")
    write_queue_nums: T.IntegerType = pa.Field(nullable=True, description="queues that producers see, ids from 0")
    perm: T.IntegerType = pa.Field(
        nullable=True, description="4 read + 2 write, the topic's combined with the broker's"
    )
    room: T.StringType = pa.Field(
        nullable=True, description="machine room of the broker by the policy; null where no rule matches"
    )
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind, as in `topic`")
    broker_state: T.StringType = pa.Field(
        nullable=False, description="MASTER, MASTERLESS (slaves only) or ABSENT (not in the inventory)"
    )
    has_answered: T.BooleanType = pa.Field(
        nullable=False, description="the broker is present and answered every request"
    )
