"""Dataset ``finding``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Finding(Dataset):
    """What is wrong. Grain: one row a finding."""

    rule: T.StringType = pa.Field(nullable=False, description="rule name")
    severity: T.StringType = pa.Field(nullable=False, description="INFO, WARNING or CRITICAL")
    consumer_group: T.StringType = pa.Field(nullable=True, description="group")
    topic: T.StringType = pa.Field(nullable=True, description="topic")
    broker_name: T.StringType = pa.Field(nullable=True, description="broker")
    subjects: T.ArrayType(T.StringType()) = pa.Field(nullable=False, description="what it is about, sorted")
    evidence: T.StringType = pa.Field(nullable=False, description="JSON object of figures")
    message: T.StringType = pa.Field(nullable=False, description="one sentence")
