"""Dataset ``recommendation``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Recommendation(Dataset):
    """What to change. Grain and key: id."""

    id: T.StringType = pa.Field(nullable=False, description="stable over equal inputs")
    action: T.StringType = pa.Field(nullable=False, description="action name")
    consumer_group: T.StringType = pa.Field(nullable=True, description="group")
    topic: T.StringType = pa.Field(nullable=True, description="topic")
    is_manual: T.BooleanType = pa.Field(
        nullable=False, description="a person must decide the steps; no command may be run as it stands"
    )
    reason: T.StringType = pa.Field(nullable=False, description="why, and what it changes")
    rules: T.ArrayType(T.StringType()) = pa.Field(nullable=False, description="rules that it answers")
    commands: T.ArrayType(T.StringType()) = pa.Field(
        nullable=False, description="shell commands in order; empty where the change is not an mqadmin command"
    )
    before: T.StringType = pa.Field(nullable=False, description="JSON object")
    after: T.StringType = pa.Field(nullable=False, description="JSON object")
