"""Dataset ``finding``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Finding(Dataset):
    """What is wrong.

    Grain: one row a finding: a rule and what it is about.
    Key: rule, consumer_group, topic, broker_name.
    Units: those of the figures in ``evidence`` stand in their names.
    """

    rule: T.StringType = pa.Field(nullable=False, description="name of the rule")
    severity: T.StringType = pa.Field(nullable=False, description="INFO, WARNING or CRITICAL")
    consumer_group: T.StringType = pa.Field(
        nullable=True, description="the group that it is about; null where it is about none"
    )
    topic: T.StringType = pa.Field(nullable=True, description="the topic that it is about; null where it is about none")
    broker_name: T.StringType = pa.Field(
        nullable=True, description="the broker that it is about; null where it is about none"
    )
    subjects: T.ArrayType(T.StringType()) = pa.Field(
        nullable=False, description="client ids, queues, brokers or groups that it is about, sorted"
    )
    evidence: T.StringType = pa.Field(nullable=False, description="JSON object of the figures that it rests on")
    message: T.StringType = pa.Field(nullable=False, description="one sentence for people")
