"""Dataset ``broker``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Broker(Dataset):
    """Brokers, as the name server lists them and as they describe themselves.

    Grain: one row a broker process.
    Key: broker_name, broker_id.
    Units: ``broker_perm`` is a bit set; ``config`` and ``runtime`` hold RocketMQ's own names, units and texts.
    """

    broker_name: T.StringType = pa.Field(nullable=False, description="name that a master shares with its slaves")
    broker_id: T.LongType = pa.Field(nullable=False, description="0 is the master, others are slaves")
    broker_addr: T.StringType = pa.Field(nullable=True, description="host:port")
    broker_perm: T.IntegerType = pa.Field(nullable=True, description="what the broker allows: 4 read + 2 write")
    version: T.StringType = pa.Field(nullable=True, description="as the broker says it, such as V5_3_3")
    config: T.MapType(T.StringType(), T.StringType()) = pa.Field(
        nullable=True, description="the broker's properties, without secrets"
    )
    runtime: T.MapType(T.StringType(), T.StringType()) = pa.Field(
        nullable=True, description="the broker's runtime figures"
    )
    room: T.StringType = pa.Field(nullable=True, description="machine room by the policy; null where no rule matches")
    has_answered: T.BooleanType = pa.Field(nullable=False, description="no request to this process failed")
