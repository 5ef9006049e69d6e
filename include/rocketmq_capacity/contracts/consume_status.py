"""Dataset ``consume_status``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class ConsumeStatus(Dataset):
    """How clients consume a topic. Grain and key: consumer_group, consumer_index, topic."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    consumer_index: T.IntegerType = pa.Field(nullable=False, description="consumer")
    client_id: T.StringType = pa.Field(nullable=False, description="client")
    topic: T.StringType = pa.Field(nullable=False, description="topic")
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind")
    consume_rt_ms: T.DoubleType = pa.Field(nullable=True, description="milliseconds a listener call")
    consume_ok_msgs_per_s: T.DoubleType = pa.Field(nullable=True, description="messages a second")
    consume_failed_msgs_per_s: T.DoubleType = pa.Field(nullable=True, description="messages a second")
