"""Dataset ``consume_status``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class ConsumeStatus(Dataset):
    """How fast a consumer handles a topic, as it reports it.

    RocketMQ's clients report the last minute; the response time is the last hour's where that minute is empty.

    Grain: one row a consumer and topic.
    Key: consumer_group, consumer_index, topic.
    Units: milliseconds, messages a second.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    consumer_index: T.IntegerType = pa.Field(
        nullable=False, description="which consumer of the group, as in `consumer`"
    )
    client_id: T.StringType = pa.Field(nullable=False, description="client id of the consumer")
    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind, as in `topic`")
    consume_rt_ms: T.DoubleType = pa.Field(
        nullable=True,
        description="mean duration of a listener call (one call handles up to consume_batch_size messages); 0 says nothing was consumed",
    )
    consume_ok_msgs_per_s: T.DoubleType = pa.Field(nullable=True, description="messages a second consumed")
    consume_failed_msgs_per_s: T.DoubleType = pa.Field(
        nullable=True, description="messages a second that the listener refused or failed on"
    )
