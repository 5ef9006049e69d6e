"""mqadmin command lines: every option is given, and every value is quoted for a POSIX shell.

Option names are those of the classes in org.apache.rocketmq.tools.command, rocketmq-all-5.3.3.
"""

from shlex import quote

from rocketmq_capacity.errors import printable
from rocketmq_capacity.vocabulary import POP, READ_WRITE, RETRY_PREFIX, SQL92_ENABLED


def option(name: str, value: str | int) -> str:
    """An option with its value: `` -t pay``.

    A value that begins with a hyphen is joined to its option (``-t-pay``), because mqadmin would take it for an option.
    If it has an equals sign as well, mqadmin refuses it in every form; no topic or group may have such a name.
    """
    text = str(value)
    return f" {quote(f'-{name}{text}')}" if text.startswith("-") else f" -{name} {quote(text)}"


def mqadmin(subcommand: str, nameserver: str, *options: str) -> str:
    """One command line; ``nameserver`` is host:port, several with ``;`` between.

    RocketMQ refuses names with control characters, and a terminal obeys them. A command with such a name is a comment.
    """
    line = "".join((f"mqadmin {subcommand}", option("n", nameserver), *options))
    return line if line.isprintable() else comment(line)


def comment(line: str) -> str:
    """A line that a shell skips, with escapes for what no terminal should get, such as the end of a line in a name."""
    return "# " + printable(line.removeprefix("# "))


def placeholder(text: str) -> str:
    """A text for an unknown value, which a person must fill in: ``<address of broker-c>``."""
    return f"<{text}>"


def update_topic(
    nameserver: str,
    address: str,
    topic: str,
    queues: tuple[int | str, int | str],
    perm: int | str,
    order: str,
    attributes: str | None = None,
) -> str:
    """Set read and write queues of a topic on one broker, and leave its perm and order flag as they are.

    All options are given, because mqadmin's own defaults are 8 queues, perm 6 and order false. Both counts change in
    one command, so that there are never fewer read than write queues. Attributes that are not given stay as they are.
    Source: UpdateTopicSubCommand.
    """
    read, write = queues
    return mqadmin(
        "updateTopic",
        nameserver,
        option("b", address),
        option("t", topic),
        option("r", read),
        option("w", write),
        option("p", perm),
        option("o", order),
        *([] if attributes is None else [option("a", attributes)]),
    )


def set_consume_mode(nameserver: str, address: str, topic: str, group: str, share: int) -> str:
    """Let a group pop a topic on one broker. Source: SetConsumeModeSubCommand."""
    return mqadmin(
        "setConsumeMode",
        nameserver,
        option("b", address),
        option("t", topic),
        option("g", group),
        option("m", POP),
        option("q", share),
    )


def keep_offsets(nameserver: str, group: str) -> str:
    """Commit a group's offsets again, and 0 on the queues that it sees without an offset.

    The group is copied onto itself. Its clients must be stopped, because they would commit other offsets meanwhile. The
    topic only chooses the brokers; the group's retry topic is on all brokers that the group reads from.
    ``resetOffsetByTime`` does not work instead, because it does nothing if the offset is 0.
    Source: CloneGroupOffsetCommand, ResetOffsetByTimeCommand; AdminBrokerProcessor.getConsumeStats, which gives 0 if
    there is no offset.
    """
    return mqadmin(
        "cloneGroupOffset", nameserver, option("s", group), option("d", group), option("t", RETRY_PREFIX + group)
    )


def restore_broker(nameserver: str, address: str) -> str:
    """Make a broker readable and writable."""
    return set_broker_permission(nameserver, address, READ_WRITE)


def set_broker_permission(nameserver: str, address: str, perm: int) -> str:
    """Let clients read (4), write (2) or both on a broker, whatever its topics say.

    Source: UpdateBrokerConfigSubCommand.
    """
    return mqadmin(
        "updateBrokerConfig", nameserver, option("b", address), option("k", "brokerPermission"), option("v", perm)
    )


def allow_sql92(nameserver: str, address: str) -> str:
    """Let a broker filter messages by SQL92. Source: UpdateBrokerConfigSubCommand."""
    return mqadmin(
        "updateBrokerConfig", nameserver, option("b", address), option("k", SQL92_ENABLED), option("v", "true")
    )


def broker_config(nameserver: str, address: str) -> str:
    """A broker's settings (read-only). Source: GetBrokerConfigCommand."""
    return mqadmin("getBrokerConfig", nameserver, option("b", address))


def consumer_config(nameserver: str, group: str) -> str:
    """A group's settings at every broker (read-only). Source: GetConsumerConfigSubCommand."""
    return mqadmin("getConsumerConfig", nameserver, option("g", group))


def set_retry_queues(nameserver: str, address: str, group: str, queues: int) -> str:
    """Set the number of retry queues to which a broker sends a group's failed messages. See :func:`set_group`."""
    return set_group(nameserver, address, group, retryQueueNums=queues)


def set_group(nameserver: str, address: str, group: str, **settings: str | int) -> str:
    """Create a group on a broker, or set some of its settings there.

    The command replaces all of the group's settings but its attributes. A setting that is not given gets mqadmin's
    default, which switches broadcasting off. So a person must fill in each of them as it is. ``-p`` is JSON, and
    ``{"type":"CUSTOMIZED"}`` where nobody has set the times between attempts. Source: UpdateSubGroupSubCommand.
    """
    letters = {
        "retryQueueNums": "q",
        "consumeEnable": "s",
        "consumeFromMinEnable": "m",
        "consumeBroadcastEnable": "d",
        "consumeMessageOrderly": "o",
        "retryMaxTimes": "r",
        "groupRetryPolicy": "p",
        "brokerId": "i",
        "whichBrokerWhenConsumeSlowly": "w",
        "notifyConsumerIdsChangedEnable": "a",
    }
    return mqadmin(
        "updateSubGroup",
        nameserver,
        option("b", address),
        option("g", group),
        *(option(letter, settings.get(name, _as_it_is(name, group))) for name, letter in letters.items()),
    )


def _as_it_is(setting: str, group: str) -> str:
    """The placeholder for a setting of a group, in the form that mqadmin takes."""
    return placeholder(f"{setting} of {group}{' as JSON' if setting == 'groupRetryPolicy' else ''}")


def consumer_connection(nameserver: str, group: str, address: str | None = None) -> str:
    """The members of a group, as one broker or any of them knows them (read-only).

    Source: ConsumerConnectionSubCommand.
    """
    which = [] if address is None else [option("b", address)]
    return mqadmin("consumerConnection", nameserver, option("g", group), *which)


def consumer_progress(nameserver: str, group: str, *, asks_clients: bool = True, topic: str | None = None) -> str:
    """Offsets of a group's queues, of one topic or all; with their owners if its clients are asked (read-only).

    Source: ConsumerProgressSubCommand.
    """
    which = [] if topic is None else [option("t", topic)]
    owners = [option("s", "true")] if asks_clients else []
    return mqadmin("consumerProgress", nameserver, option("g", group), *which, *owners)


def consumer_status(nameserver: str, group: str, client_id: str | None = None) -> str:
    """What a group's clients, or one of them, report about themselves (read-only). Source: ConsumerStatusSubCommand."""
    who = [] if client_id is None else [option("i", client_id)]
    return mqadmin("consumerStatus", nameserver, option("g", group), *who)


def consumer_stack(nameserver: str, group: str, client_id: str) -> str:
    """What one client reports about itself, with the stacks of its threads (read-only).

    Source: ConsumerStatusSubCommand.
    """
    return consumer_status(nameserver, group, client_id) + " -s"


def topic_status(nameserver: str, topic: str) -> str:
    """Offsets of a topic's queues (read-only). Source: TopicStatusSubCommand."""
    return mqadmin("topicStatus", nameserver, option("t", topic))


def topic_statistics(nameserver: str, topic: str) -> str:
    """What goes into a topic, and what each group takes out of it (read-only). Source: StatsAllSubCommand."""
    return mqadmin("statsAll", nameserver, option("t", topic))


def producers_of(nameserver: str, address: str) -> str:
    """The producers that are connected to a broker (read-only). Source: ProducerSubCommand."""
    return mqadmin("producer", nameserver, option("b", address))


def delete_topic(nameserver: str, cluster_name: str, topic: str) -> str:
    """Delete a topic with all of its messages, on every broker. Source: DeleteTopicSubCommand."""
    return mqadmin("deleteTopic", nameserver, option("c", cluster_name), option("t", topic))


def delete_group(nameserver: str, cluster_name: str, group: str) -> str:
    """Delete a group, its offsets, its retry topic and its dead-letter topic, on every broker.

    Source: DeleteSubscriptionGroupCommand.
    """
    return mqadmin("deleteSubGroup", nameserver, option("c", cluster_name), option("g", group), option("r", "true"))


def topic_route(nameserver: str, topic: str) -> str:
    """Brokers and queue counts of a topic (read-only). Source: TopicRouteSubCommand."""
    return mqadmin("topicRoute", nameserver, option("t", topic)) + " -l"


def cluster_list(nameserver: str) -> str:
    """The brokers that the name server knows, with their ids, versions and full disks (read-only).

    With ``-m`` it would show none of these. Source: ClusterListSubCommand.
    """
    return mqadmin("clusterList", nameserver)


def broker_status(nameserver: str, address: str) -> str:
    """The figures of one broker process (read-only). Source: BrokerStatusSubCommand."""
    return mqadmin("brokerStatus", nameserver, option("b", address))
