"""Dataset ``client_load``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class ClientLoad(Dataset):
    """Load of each client id under each strategy. Grain and key: consumer_group, strategy, client_id."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    strategy: T.StringType = pa.Field(nullable=False, description="strategy")
    client_id: T.StringType = pa.Field(nullable=False, description="client")
    queues: T.LongType = pa.Field(nullable=False, description="queues owned over all business topics")
    msgs_per_s: T.DoubleType = pa.Field(
        nullable=True, description="written to its queues; null where a rate is unknown"
    )
    lag: T.LongType = pa.Field(
        nullable=True, description="messages not read on its queues; null where a lag is unknown"
    )
