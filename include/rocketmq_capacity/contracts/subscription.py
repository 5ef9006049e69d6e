"""Dataset ``subscription``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Subscription(Dataset):
    """Topics that a group or one of its clients reads. Grain and key: consumer_group, topic."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    topic: T.StringType = pa.Field(nullable=False, description="topic")
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind")
    is_declared_by_group: T.BooleanType = pa.Field(
        nullable=False, description="false: only clients of the group subscribe it"
    )
    expression_type: T.StringType = pa.Field(nullable=True, description="TAG or SQL92")
    expression: T.StringType = pa.Field(nullable=True, description="filter")
    message_request_mode: T.StringType = pa.Field(
        nullable=False, description="PULL or POP, the topic's own else the group's else PULL"
    )
    pop_share_queue_num: T.IntegerType = pa.Field(
        nullable=False, description="queues shared with the next clients; <= 0 means all"
    )
