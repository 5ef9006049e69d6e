"""How the answers of single name servers differ from the rest of the inventory."""

from collections.abc import Collection, Iterable, Mapping

from rocketmq_capacity.protocol.body.cluster import ClusterInfo, TopicRoute
from rocketmq_capacity.snapshot.describe_topics import queues_of
from rocketmq_capacity.snapshot.inventory import InventoryNameserver, InventoryRoute, ListedBroker
from rocketmq_capacity.snapshot.nameserver_survey import NameServerSurvey
from rocketmq_capacity.vocabulary import java_order


def describe_nameservers(
    surveys: Collection[NameServerSurvey],
    info: ClusterInfo,
    routes: Mapping[str, TopicRoute],
    compared: Collection[str],
) -> tuple[InventoryNameserver, ...] | None:
    """One entry for each name server that answered, by address; None if fewer than two answered.

    Args:
        surveys: the name servers' answers.
        info: the brokers as the inventory has them.
        routes: the routes as the inventory has them.
        compared: the topics whose routes are compared.
    """
    if len(surveys) < 2:
        return None
    brokers = _listed(info)
    views = []
    for survey in sorted(surveys, key=lambda one: str(one.address)):
        listed = _listed(survey.info)
        views.append(
            InventoryNameserver(
                nameserver_addr=str(survey.address),
                brokers=None if listed == brokers else listed,
                routes=tuple(
                    InventoryRoute(topic=topic, queues=() if route is None else queues_of(route))
                    for topic in differing([survey], routes, compared)
                    for route in [survey.routes[topic]]
                )
                or None,
            )
        )
    return tuple(views)


def differing(
    surveys: Iterable[NameServerSurvey], routes: Mapping[str, TopicRoute], compared: Collection[str]
) -> list[str]:
    """The topics for which some name server gives other queues than ``routes``, in Java's order.

    A name server that did not answer about a topic does not count as different.
    """
    topics = {
        topic
        for survey in surveys
        for topic, route in survey.routes.items()
        if topic in compared
        and (() if route is None else queues_of(route)) != (queues_of(routes[topic]) if topic in routes else ())
    }
    return sorted(topics, key=java_order)


def _listed(info: ClusterInfo) -> tuple[ListedBroker, ...]:
    return tuple(
        ListedBroker(broker_name=broker.broker_name, broker_id=broker_id, broker_addr=address)
        for broker in sorted(info.brokers, key=lambda broker: java_order(broker.broker_name))
        for broker_id, address in sorted(broker.addresses.items())
    )
