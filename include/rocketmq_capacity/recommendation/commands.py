"""mqadmin command lines as Columns: every option spelled out, every value quoted for a POSIX shell.

Option names are those of the classes in org.apache.rocketmq.tools.command, rocketmq-all-5.3.3.
"""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column

SAFE: Final = r"\A[A-Za-z0-9_@%+=:,./-]+\z"
"""What a shell takes as it stands; the set of Python's shlex.quote."""

QUOTED_QUOTE: Final = "'\"'\"'"
"""A single quote inside single quotes: out of them, quoted otherwise, and in again."""


def quote(value: Column) -> Column:
    """The value as one word of a POSIX shell, as Python's shlex.quote writes it."""
    inside = F.replace(value, F.lit("'"), F.lit(QUOTED_QUOTE))
    return F.when(value.rlike(SAFE), value).otherwise(F.concat(F.lit("'"), inside, F.lit("'")))


def option(name: str, value: Column | str | int) -> Column:
    """An option with its value: `` -t pay``.

    A value that begins with a hyphen stands in one word with its option (``-t-pay``), or mqadmin would take it for one.
    One that holds an equals sign as well it refuses in any form; no topic or group may have such a name.
    """
    text = value.cast("string") if isinstance(value, Column) else F.lit(str(value))
    flag = f"-{name}"
    joined = F.concat(F.lit(" "), quote(F.concat(F.lit(flag), text)))
    return F.when(text.startswith("-"), joined).otherwise(F.concat(F.lit(f" {flag} "), quote(text)))


def mqadmin(subcommand: str, nameserver: Column, *options: Column) -> Column:
    """One command line; ``nameserver`` is host:port, several with ``;`` between."""
    return F.concat(F.lit(f"mqadmin {subcommand}"), option("n", nameserver), *options)


def comment(line: Column) -> Column:
    """A line that a shell skips. What could end it, a line break in some name, becomes a space."""
    return F.concat(F.lit("# "), F.regexp_replace(line, r"[\p{Cntrl}\x{85}\x{2028}\x{2029}]", " "))


def placeholder(text: Column) -> Column:
    """Stands where a value is unknown, for a person to fill in: ``<address of broker-c>``."""
    return F.concat(F.lit("<"), text, F.lit(">"))


def update_topic(
    nameserver: Column,
    address: Column,
    topic: Column,
    queues: tuple[Column, Column],
    perm: Column,
    order: Column,
    attributes: Column | None = None,
) -> Column:
    """Set read and write queues of a topic on one broker, and leave its perm and order flag as they are.

    All are always given: mqadmin's own defaults are 8 queues, perm 6 and order false. Both counts change in one
    command, so that there is no moment with fewer read than write queues. Attributes are kept where none are given.
    Source: UpdateTopicSubCommand.
    """
    read, write = queues
    given = [] if attributes is None else [F.coalesce(option("a", attributes), F.lit(""))]
    return mqadmin(
        "updateTopic",
        nameserver,
        option("b", address),
        option("t", topic),
        option("r", read),
        option("w", write),
        option("p", perm),
        option("o", order),
        *given,
    )


def set_consume_mode(nameserver: Column, address: Column, topic: Column, group: Column, share: int) -> Column:
    """Let a group pop a topic on one broker. Source: SetConsumeModeSubCommand."""
    return mqadmin(
        "setConsumeMode",
        nameserver,
        option("b", address),
        option("t", topic),
        option("g", group),
        option("m", "POP"),
        option("q", share),
    )


def restore_broker(nameserver: Column, address: Column) -> Column:
    """Make a broker readable and writable. Source: UpdateBrokerConfigSubCommand."""
    return mqadmin(
        "updateBrokerConfig", nameserver, option("b", address), option("k", "brokerPermission"), option("v", 6)
    )


def consumer_connection(nameserver: Column, group: Column, address: Column) -> Column:
    """Who one broker says is in a group (read-only). Source: ConsumerConnectionSubCommand."""
    return mqadmin("consumerConnection", nameserver, option("g", group), option("b", address))


def consumer_progress(nameserver: Column, group: Column) -> Column:
    """Offsets and owners of a group's queues (read-only). Source: ConsumerProgressSubCommand."""
    return mqadmin("consumerProgress", nameserver, option("g", group), option("s", "true"))


def consumer_status(nameserver: Column, group: Column, client_id: Column | None = None) -> Column:
    """What a group's clients, or one of them, say of themselves (read-only). Source: ConsumerStatusSubCommand."""
    who = [] if client_id is None else [option("i", client_id)]
    return mqadmin("consumerStatus", nameserver, option("g", group), *who)


def topic_status(nameserver: Column, topic: Column) -> Column:
    """Offsets of a topic's queues (read-only). Source: TopicStatusSubCommand."""
    return mqadmin("topicStatus", nameserver, option("t", topic))


def topic_route(nameserver: Column, topic: Column) -> Column:
    """Brokers and queue counts of a topic (read-only). Source: TopicRouteSubCommand."""
    return F.concat(mqadmin("topicRoute", nameserver, option("t", topic)), F.lit(" -l"))


def cluster_list(nameserver: Column) -> Column:
    """The brokers that the name server knows, with their traffic (read-only). Source: ClusterListSubCommand."""
    return F.concat(mqadmin("clusterList", nameserver), F.lit(" -m"))


def broker_status(nameserver: Column, address: Column) -> Column:
    """A broker's own figures (read-only). Source: BrokerStatusSubCommand."""
    return mqadmin("brokerStatus", nameserver, option("b", address))
