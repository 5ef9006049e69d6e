"""Dataset ``cluster``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Cluster(Dataset):
    """The snapshot itself.

    Grain: one row.
    Key: none.
    Units: ``completeness_ratio`` from 0 to 1.
    """

    cluster_name: T.StringType = pa.Field(nullable=False, description="name of the cluster")
    taken_at: T.StringType = pa.Field(nullable=False, description="UTC ISO-8601, as the inventory says it")
    fingerprint: T.StringType = pa.Field(nullable=False, description="SHA-256 of the canonical inventory")
    nameservers: T.ArrayType(T.StringType()) = pa.Field(
        nullable=False, description="host:port of each name server; empty where unknown"
    )
    completeness_ratio: T.DoubleType = pa.Field(
        nullable=False,
        description="readable business queues whose broker answered every request / all of them; 1 if there are none",
    )
