"""Dataset ``consumer_group``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class ConsumerGroup(Dataset):
    """Consumer groups, as brokers are configured for them and see their members.

    Grain: one row a group.
    Key: consumer_group.
    Units: consumers and client ids, counted.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    kind: T.StringType = pa.Field(
        nullable=False, description="BUSINESS, SYSTEM (RocketMQ's own) or EXCLUDED (by the policy)"
    )
    message_model: T.StringType = pa.Field(
        nullable=True, description="CLUSTERING or BROADCASTING; null is judged as CLUSTERING"
    )
    consume_type: T.StringType = pa.Field(
        nullable=True, description="CONSUME_PASSIVELY (push) or CONSUME_ACTIVELY (pull)"
    )
    message_request_mode: T.StringType = pa.Field(
        nullable=False, description="PULL, POP or MIXED over the group's business topics"
    )
    is_orderly: T.BooleanType = pa.Field(nullable=True, description="consumes in order")
    connections: T.IntegerType = pa.Field(
        nullable=False, description="running consumers, equal client ids counted each"
    )
    distinct_client_ids: T.IntegerType = pa.Field(nullable=False, description="different client ids")
