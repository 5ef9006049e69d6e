"""Dataset ``group_status``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class GroupStatus(Dataset):
    """A business group at a glance.

    Grain: one row a group.
    Key: consumer_group.
    Units: consumers and client ids, counted; ``utilisation`` is a ratio, 1 is busy without pause.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    message_model: T.StringType = pa.Field(
        nullable=True, description="CLUSTERING or BROADCASTING; null is judged as CLUSTERING"
    )
    message_request_mode: T.StringType = pa.Field(
        nullable=False, description="PULL, POP, or MIXED where its topics differ"
    )
    connections: T.IntegerType = pa.Field(
        nullable=False, description="running consumers, equal client ids counted each"
    )
    distinct_client_ids: T.IntegerType = pa.Field(nullable=False, description="different client ids")
    topics: T.ArrayType(T.StringType()) = pa.Field(nullable=False, description="its business topics")
    max_useful_clients: T.IntegerType = pa.Field(
        nullable=True,
        description="readable queues of its largest pulled topic, beyond which clients stand idle; null for POP and broadcasting",
    )
    provision_status: T.StringType = pa.Field(
        nullable=False, description="UNDER_PROVISIONED, RIGHT_PROVISIONED, OVER_PROVISIONED or UNDECIDED"
    )
    provision_reason: T.StringType = pa.Field(nullable=True, description="why, in words")
    current_strategy: T.StringType = pa.Field(
        nullable=True, description="strategy in use, MIXED where clients report different ones; null for broadcasting"
    )
    current_strategy_source: T.StringType = pa.Field(
        nullable=True, description="how that is known: reported, observed, policy or default"
    )
    utilisation: T.DoubleType = pa.Field(
        nullable=True, description="busy share of its busiest client (incoming / capacity); null where unknown"
    )
