"""Dataset ``recommendation``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Recommendation(Dataset):
    """What to change, in what way, and what that would do.

    Grain: one row a recommendation.
    Key: id.
    Units: those of the figures in ``before`` and ``after`` stand in their names.
    """

    id: T.StringType = pa.Field(nullable=False, description="12 hexadecimal digits, equal over equal inputs")
    action: T.StringType = pa.Field(nullable=False, description="name of the action")
    consumer_group: T.StringType = pa.Field(
        nullable=True, description="the group to change; null where the change is a topic's or the cluster's"
    )
    topic: T.StringType = pa.Field(
        nullable=True, description="the topic to change; null where the change is a group's or the cluster's"
    )
    is_manual: T.BooleanType = pa.Field(
        nullable=False, description="a person must decide the steps; no command may be run as it stands"
    )
    reason: T.StringType = pa.Field(nullable=False, description="why, and what it changes")
    rules: T.ArrayType(T.StringType()) = pa.Field(nullable=False, description="rules whose findings it answers")
    commands: T.ArrayType(T.StringType()) = pa.Field(
        nullable=False, description="shell commands in order; empty where the change is not an mqadmin command"
    )
    before: T.StringType = pa.Field(nullable=False, description="JSON object of the figures of today")
    after: T.StringType = pa.Field(
        nullable=False, description="JSON object of the same figures after the change, as simulated"
    )
