"""Asks one name server: brokers (106), topics (206) and the route of every topic (105).

Each name server of the list is asked, and not the first that answers: a broker registers with each of them on its own,
so that they may disagree. Each has a connection of its own, with as many requests under way as one has had.
"""

from collections.abc import Collection, Sequence

from rocketmq_capacity.client.admin import NameServers
from rocketmq_capacity.client.errors import NoNameServerError, TransportError
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.body.cluster import BrokerData, ClusterInfo, TopicRoute
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.errors import ProtocolError, ResponseError
from rocketmq_capacity.settings.address import Address
from rocketmq_capacity.snapshot.broker_survey import for_each
from rocketmq_capacity.snapshot.failure_log import FailureLog


class NameServerSurvey:
    """The questions to one name server, and what it answered.

    Attributes:
        address: where it listens.
        info: its brokers; empty until it has answered.
        topics: its topics.
        routes: of each topic that was asked about and answered; None where the name server has no route of it.
        problem: why it did not say which brokers and topics there are; None where it did, or was not asked.
    """

    def __init__(self, address: Address, settings: ConnectionSettings, failures: FailureLog) -> None:
        self.address = address
        self.info = ClusterInfo((), {})
        self.topics: Sequence[str] = ()
        self.routes: dict[str, TopicRoute | None] = {}
        self.problem: Exception | None = None
        self._names = NameServers([address], settings)
        self._failures = failures
        self._at_a_time = settings.in_flight

    async def ask_what_there_is(self) -> None:
        """106 and 206."""
        try:
            self.info = await self._names.cluster_info()
            self.topics = (await self._names.topic_list()).topics
        except NoNameServerError as error:
            ((_, self.problem),) = error.failures
        except (TransportError, ProtocolError) as error:
            self.problem = error

    def note_problem(self) -> None:
        """Make a failure of the snapshot of it, where the name server did not answer."""
        if self.problem is not None:
            self._failures.note(str(self.address), RequestCode.GET_BROKER_CLUSTER_INFO.name, self.problem)

    async def ask_routes(self, topics: Collection[str]) -> None:
        """105 for each topic; what was answered before is asked anew."""
        await for_each(topics, self._ask_route, at_a_time=self._at_a_time)

    async def close(self) -> None:
        """End the connection."""
        await self._names.close()

    async def _ask_route(self, topic: str) -> None:
        self.routes.pop(topic, None)
        try:
            self.routes[topic] = await self._names.topic_route(topic)
        except (TransportError, ProtocolError) as error:
            if isinstance(error, ResponseError) and error.code == ResponseCode.TOPIC_NOT_EXIST:
                self.routes[topic] = None
            else:
                request = RequestCode.GET_ROUTEINFO_BY_TOPIC.name
                self._failures.note(str(self.address), request, error, subject=topic)


def joined_info(surveys: Collection[NameServerSurvey]) -> ClusterInfo:
    """Every broker that some name server lists; the first one that lists a process says where it is."""
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
    """The route of each topic that has one, from the first name server that knows it."""
    routes: dict[str, TopicRoute] = {}
    for survey in surveys:
        for topic, route in survey.routes.items():
            if route is not None:
                routes.setdefault(topic, route)
    return routes
