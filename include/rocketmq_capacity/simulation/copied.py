"""What the slaves of lost masters have copied: they serve only that."""

from collections.abc import Iterable

from rocketmq_capacity.simulation.sides import Sides
from rocketmq_capacity.tables import Broker, SlaveDifference
from rocketmq_capacity.tables.rows import is_one_of


def copied_by_slaves(sides: Sides) -> dict[tuple[str, str], int]:
    """The same as :func:`at_slaves`, of the brokers that lose their masters."""
    lost = sides.scenario.lost_masters
    if not lost:
        return {}
    differences = sides.before.rows_where(SlaveDifference, is_one_of("broker_name", lost))
    return at_slaves(differences, sides.before.cluster.brokers)


def at_slaves(differences: Iterable[SlaveDifference], brokers: Iterable[Broker]) -> dict[tuple[str, str], int]:
    """By topic and broker, how many queues the slave with the smallest id has, where its master has others.

    A slave refuses pulls of topics and queues that it does not have. It copies them from its master once a minute. What
    it lacks only until it has copied the tables that it holds already (``is_copying``) is not counted.
    Source: PullMessageProcessor (TOPIC_NOT_EXIST), SlaveSynchronize.syncTopicConfig, rocketmq-all-5.3.3.
    """
    slaves = sorted((one for one in brokers if one.broker_id), key=lambda one: -one.broker_id)
    first = {one.broker_name: one.broker_id for one in slaves}
    return {
        (one.topic, one.broker_name): one.read_queue_nums or 0
        for one in differences
        if one.topic is not None and not one.is_copying and one.broker_id == first.get(one.broker_name)
    }
