"""Dataset ``client_load``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class ClientLoad(Dataset):
    """Load of each client id under each strategy that applies, over the group's business topics.

    Grain: one row a client id and strategy; an idle client has zeros, equal ids count once.
    Key: consumer_group, strategy, client_id.
    Units: queues, messages a second, messages.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    strategy: T.StringType = pa.Field(nullable=False, description="name of the strategy, as getName() gives it, or POP")
    client_id: T.StringType = pa.Field(nullable=False, description="client id, equal ones counted once")
    queues: T.LongType = pa.Field(nullable=False, description="queues owned over all business topics")
    msgs_per_s: T.DoubleType = pa.Field(
        nullable=True, description="messages a second written to its queues; null where a rate is unknown"
    )
    lag: T.LongType = pa.Field(
        nullable=True, description="messages not read on its queues; null where a lag is unknown"
    )
