"""Dataset ``consumer_subscription``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class ConsumerSubscription(Dataset):
    """What each client that reported subscriptions reads. Grain and key: consumer_group, consumer_index, topic."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    consumer_index: T.IntegerType = pa.Field(nullable=False, description="consumer")
    client_id: T.StringType = pa.Field(nullable=False, description="client")
    topic: T.StringType = pa.Field(nullable=False, description="topic")
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind")
    expression_type: T.StringType = pa.Field(nullable=True, description="TAG or SQL92")
    expression: T.StringType = pa.Field(nullable=True, description="filter")
