"""What every family of answers looks at: the snapshot, the findings, and where each topic lies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.recommendation.commands import placeholder
from rocketmq_capacity.side_by_side import side_by_side

READ_WRITE: Final = 6
"""PermName.PERM_READ | PermName.PERM_WRITE."""
POP: Final = "POP"
NO_NAMES: Final = "array<string>"


@dataclass(frozen=True, slots=True)
class Facts:
    """Frames that several families share.

    Attributes:
        tables: the snapshot by contract.
        policy: thresholds, and which strategies are looked at.
        strategy_load: what each strategy means for each group.
        group_status: each group at a glance.
        finding: every finding.
        doubt: one row: ``nameserver`` for commands, ``undecided`` (why nothing may be changed, or null), ``suspect``
            (why no command may be run, or null).
        structural: the findings that may be answered by a change of the cluster or of a group; none where the
            snapshot is too incomplete for that.
        places: topic_queue with each broker's ``address`` (master), the topic's ``own_perm`` (null: unknown) and
            ``is_changeable``: queues may be added there.
        settle: gives the same frame, so that what is used many times is planned and computed once.
    """

    tables: Mapping[type[Dataset], DataFrame]
    policy: Policy
    strategy_load: DataFrame
    group_status: DataFrame
    finding: DataFrame
    doubt: DataFrame
    structural: DataFrame
    places: DataFrame
    settle: Callable[[DataFrame], DataFrame]

    def found(self, *rules: str) -> DataFrame:
        """The findings of these rules that a change may answer."""
        return self.structural.where(F.col("rule").isin(*rules))

    def with_doubt(self, rows: DataFrame) -> DataFrame:
        """The rows with ``nameserver``, ``undecided`` and ``suspect`` beside them."""
        return rows.crossJoin(F.broadcast(self.doubt))

    def clustering(self) -> DataFrame:
        """The business groups that share queues out: consumer_group's rows."""
        model = F.coalesce("message_model", F.lit("CLUSTERING"))
        return self.tables[contracts.ConsumerGroup].where((model == "CLUSTERING") & (F.col("kind") == "BUSINESS"))


def gather(
    tables: Mapping[type[Dataset], DataFrame],
    strategy_load: DataFrame,
    group_status: DataFrame,
    finding: DataFrame,
    policy: Policy,
    settle: Callable[[DataFrame], DataFrame],
) -> Facts:
    """The facts, each frame that is used more than once settled."""
    doubt, places = side_by_side(lambda: settle(_doubt(tables, finding, policy)), lambda: settle(_places(tables)))
    certain = finding.crossJoin(F.broadcast(doubt.select("undecided"))).where("undecided IS NULL").drop("undecided")
    return Facts(tables, policy, strategy_load, group_status, finding, doubt, settle(certain), places, settle)


def _doubt(tables: Mapping[type[Dataset], DataFrame], finding: DataFrame, policy: Policy) -> DataFrame:
    bound = policy.thresholds.PROVISION.min_completeness
    ratio = F.col("completeness_ratio")
    suspects = finding.where("rule = 'SUSPECT_SNAPSHOT'").agg(F.count("*").alias("suspects"))
    nameserver = F.array_join("nameservers", ";")
    undecided = F.format_string(
        "UNDECIDED: the snapshot covers %.1f %% of the queues, and below %.1f %% no change is recommended;"
        " mend what failed and take another one first.",
        ratio * 100,
        F.lit(bound * 100),
    )
    return (
        tables[contracts.Cluster]
        .crossJoin(suspects)
        .select(
            F.when(nameserver == "", placeholder(F.lit("name server"))).otherwise(nameserver).alias("nameserver"),
            F.when(ratio < bound, undecided).alias("undecided"),
            F.when(F.col("suspects") > 0, F.lit("the snapshot is suspect (SUSPECT_SNAPSHOT)")).alias("suspect"),
        )
    )


def _places(tables: Mapping[type[Dataset], DataFrame]) -> DataFrame:
    masters = master_brokers(tables).select("broker_name", "address", "broker_perm")
    perm = F.col("perm")
    # The route's perm is the topic's AND the broker's: where a bit is missing, the broker may be the one that lacks it.
    own_perm = F.when(
        (perm.bitwiseAND(READ_WRITE) == READ_WRITE) | (F.col("broker_perm").bitwiseAND(READ_WRITE) == READ_WRITE), perm
    )
    return (
        tables[contracts.TopicQueue]
        .join(F.broadcast(masters), "broker_name", "left")
        .select(
            "topic",
            "broker_name",
            "read_queue_nums",
            "write_queue_nums",
            "perm",
            "kind",
            "broker_state",
            "has_answered",
            address_or_placeholder().alias("address"),
            own_perm.alias("own_perm"),
            (F.coalesce(perm, F.lit(READ_WRITE)).bitwiseAND(READ_WRITE) == READ_WRITE).alias("is_changeable"),
        )
    )


def master_brokers(tables: Mapping[type[Dataset], DataFrame]) -> DataFrame:
    """One row a broker name with a master: broker's columns of the master, its address as ``address``."""
    return tables[contracts.Broker].where("broker_id = 0").withColumnRenamed("broker_addr", "address")


def address_or_placeholder() -> Column:
    """The row's ``address``, or a placeholder that names its broker."""
    return F.coalesce("address", placeholder(F.concat(F.lit("address of "), F.col("broker_name"))))
