"""Dataset ``failure``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Failure(Dataset):
    """Requests that were not answered. Grain: one row a failed request."""

    broker_addr: T.StringType = pa.Field(nullable=False, description="host:port")
    broker_name: T.StringType = pa.Field(nullable=True, description="the broker at that address, where known")
    request: T.StringType = pa.Field(nullable=True, description="RocketMQ's request name")
    error: T.StringType = pa.Field(nullable=True, description="what happened")
