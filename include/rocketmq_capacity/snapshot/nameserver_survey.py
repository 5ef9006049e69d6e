"""Asks one name server: brokers (106), topics (206) and the route of every topic (105).

All name servers are asked, and not only the first that answers. A broker registers with each of them separately, so
they may disagree. Numbers are RocketMQ's request codes.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from rocketmq_capacity.client.errors import TransportError
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.body.cluster import BrokerData, ClusterInfo, QueueData, StaticMapping, TopicRoute
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.errors import ProtocolError, ResponseError
from rocketmq_capacity.settings.address import Address
from rocketmq_capacity.snapshot.failure_log import FailureLog
from rocketmq_capacity.snapshot.survey import Survey

OfBroker = TypeVar("OfBroker", QueueData, BrokerData, StaticMapping)
"""What a route has of one broker."""


class NameServerSurvey(Survey):
    """The questions to one name server, and what it answered.

    Attributes:
        address: where it listens.
        info: its brokers; empty until it has answered.
        topics: its topics.
        routes: by topic, for the topics with an answer; None if the name server has no route of the topic.
        problem: the error of 106 or 206; None if both were answered, or not asked yet.
    """

    def __init__(self, address: Address, settings: ConnectionSettings, failures: FailureLog) -> None:
        self.address = address
        self.info = ClusterInfo((), {})
        self.topics: Sequence[str] = ()
        self.routes: dict[str, TopicRoute | None] = {}
        self.problem: Exception | None = None
        super().__init__(address, settings, failures)

    async def ask_for_brokers(self, *, with_topics: bool) -> None:
        """106, and 206 if topics are wanted; an error is left in ``problem``."""
        try:
            self.info = await self._peer.call(request.cluster_info())
            if with_topics:
                self.topics = (await self._peer.call(request.topic_list())).topics
        except (TransportError, ProtocolError) as error:
            self.problem = error

    def note_problem(self) -> None:
        """Log the ``problem``, if there is one, as a failure of the snapshot."""
        if self.problem is not None:
            self._failures.note(str(self.address), RequestCode.GET_BROKER_CLUSTER_INFO.name, self.problem)

    async def ask_routes(self, topics: Collection[str]) -> None:
        """105 for each topic; a new answer replaces an earlier one."""
        await self._for_each(topics, self._ask_route)

    async def _ask_route(self, topic: str) -> None:
        self.routes.pop(topic, None)
        try:
            self.routes[topic] = await self._peer.call(request.topic_route(topic))
        except (TransportError, ProtocolError) as error:
            if isinstance(error, ResponseError) and error.code == ResponseCode.TOPIC_NOT_EXIST:
                self.routes[topic] = None
            else:
                code = RequestCode.GET_ROUTEINFO_BY_TOPIC
                self._failures.note(str(self.address), code.name, error, subject=topic)


def joined_info(surveys: Collection[NameServerSurvey]) -> ClusterInfo:
    """Every broker that some name server lists; a process has the address that the first name server gives."""
    addresses: dict[str, dict[int, str]] = {}
    of_cluster: dict[str, str | None] = {}
    clusters: dict[str, dict[str, None]] = {}
    for survey in surveys:
        for broker in survey.info.brokers:
            of_cluster.setdefault(broker.broker_name, broker.cluster)
            for broker_id, address in broker.addresses.items():
                addresses.setdefault(broker.broker_name, {}).setdefault(broker_id, address)
        for cluster, names in survey.info.clusters.items():
            clusters.setdefault(cluster, {}).update(dict.fromkeys(names))
    brokers = tuple(BrokerData(of_cluster[name], name, each) for name, each in addresses.items())
    return ClusterInfo(brokers, {cluster: tuple(names) for cluster, names in clusters.items()})


def joined_routes(surveys: Collection[NameServerSurvey]) -> dict[str, TopicRoute]:
    """The route of each topic that has one, with every broker that some name server gives.

    A broker registers its topics with each name server, so one that lost a name server still has its queues. They are
    as the first name server gives them.
    """
    routes: dict[str, TopicRoute] = {}
    for survey in surveys:
        for topic, route in survey.routes.items():
            if route is not None:
                known = routes.get(topic)
                routes[topic] = route if known is None or known == route else _joined(known, route)
    return routes


def untold_topics(surveys: Collection[NameServerSurvey], topics: Iterable[str]) -> set[str]:
    """The topics of which no name server answered whether they have a route."""
    return {topic for topic in topics if all(topic not in survey.routes for survey in surveys)}


def _joined(route: TopicRoute, other: TopicRoute) -> TopicRoute:
    """The route, with what the other one has of further brokers."""
    return TopicRoute(
        queues=_with_further(route.queues, other.queues),
        brokers=_with_further(route.brokers, other.brokers),
        static_mappings=_with_further(route.static_mappings, other.static_mappings),
    )


def _with_further(known: tuple[OfBroker, ...], others: tuple[OfBroker, ...]) -> tuple[OfBroker, ...]:
    names = {each.broker_name for each in known}
    return known + tuple(each for each in others if each.broker_name not in names)
