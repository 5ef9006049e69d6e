"""Dataset ``consumer_subscription``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class ConsumerSubscription(Dataset):
    """What each consumer that reported its subscriptions reads.

    Grain: one row a consumer and topic.
    Key: consumer_group, consumer_index, topic.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    consumer_index: T.IntegerType = pa.Field(
        nullable=False, description="which consumer of the group, as in `consumer`"
    )
    client_id: T.StringType = pa.Field(nullable=False, description="client id of the consumer")
    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind, as in `topic`")
    expression_type: T.StringType = pa.Field(nullable=True, description="TAG or SQL92")
    expression: T.StringType = pa.Field(nullable=True, description="filter, such as * or TagA || TagB")
