"""Dataset ``group_status``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class GroupStatus(Dataset):
    """A group at a glance. Grain and key: consumer_group."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    message_model: T.StringType = pa.Field(nullable=True, description="CLUSTERING or BROADCASTING")
    message_request_mode: T.StringType = pa.Field(nullable=False, description="PULL, POP or MIXED")
    connections: T.IntegerType = pa.Field(nullable=False, description="running consumers")
    distinct_client_ids: T.IntegerType = pa.Field(nullable=False, description="different client ids")
    topics: T.ArrayType(T.StringType()) = pa.Field(nullable=False, description="business topics")
    max_useful_clients: T.IntegerType = pa.Field(
        nullable=True, description="clients beyond this number stand idle; null for POP and broadcasting"
    )
    provision_status: T.StringType = pa.Field(
        nullable=False, description="UNDER_PROVISIONED, RIGHT_PROVISIONED, OVER_PROVISIONED or UNDECIDED"
    )
    provision_reason: T.StringType = pa.Field(nullable=True, description="why")
    current_strategy: T.StringType = pa.Field(nullable=True, description="strategy in use, or MIXED")
    current_strategy_source: T.StringType = pa.Field(nullable=True, description="reported, observed, policy or default")
    utilisation: T.DoubleType = pa.Field(
        nullable=True, description="busiest client: incoming / capacity; null where unknown"
    )
