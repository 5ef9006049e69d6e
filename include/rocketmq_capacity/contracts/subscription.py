"""Dataset ``subscription``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Subscription(Dataset):
    """Topics that a group or one of its consumers reads.

    Grain: one row a group and topic.
    Key: consumer_group, topic.
    Units: ``pop_share_queue_num`` in clients whose queues are popped beside one's own.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind, as in `topic`")
    is_declared_by_group: T.BooleanType = pa.Field(
        nullable=False, description="the group itself subscribes it; false: only some of its consumers do"
    )
    expression_type: T.StringType = pa.Field(nullable=True, description="TAG or SQL92")
    expression: T.StringType = pa.Field(nullable=True, description="filter, such as * or TagA || TagB")
    message_request_mode: T.StringType = pa.Field(
        nullable=False, description="PULL or POP: the topic's own, else the group's, else PULL"
    )
    pop_share_queue_num: T.IntegerType = pa.Field(
        nullable=False, description="how many next clients' queues a client pops beside its own; <= 0 means all"
    )
