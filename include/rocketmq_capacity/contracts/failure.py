"""Dataset ``failure``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Failure(Dataset):
    """Requests that were not answered; what depends on them is unknown, not empty.

    Grain: one row a broker address and request; a file written by hand may hold several.
    Key: none.
    """

    broker_addr: T.StringType = pa.Field(
        nullable=False, description="host:port that was asked: a broker's, or a name server's"
    )
    broker_name: T.StringType = pa.Field(nullable=True, description="the broker at that address, where known")
    request: T.StringType = pa.Field(nullable=True, description="RocketMQ's name of the request")
    error: T.StringType = pa.Field(
        nullable=True, description="what happened, for the first of several alike, and how many more there were"
    )
