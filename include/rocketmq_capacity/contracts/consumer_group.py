"""Dataset ``consumer_group``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class ConsumerGroup(Dataset):
    """Consumer groups. Grain and key: consumer_group."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="name")
    kind: T.StringType = pa.Field(nullable=False, description="BUSINESS, SYSTEM or EXCLUDED")
    message_model: T.StringType = pa.Field(nullable=True, description="CLUSTERING or BROADCASTING")
    consume_type: T.StringType = pa.Field(
        nullable=True, description="CONSUME_PASSIVELY (push) or CONSUME_ACTIVELY (pull)"
    )
    message_request_mode: T.StringType = pa.Field(
        nullable=False, description="PULL, POP or MIXED over the group's business topics"
    )
    is_orderly: T.BooleanType = pa.Field(nullable=True, description="consumes in order")
    connections: T.IntegerType = pa.Field(nullable=False, description="running consumers, equal ids counted each")
    distinct_client_ids: T.IntegerType = pa.Field(nullable=False, description="different client ids")
