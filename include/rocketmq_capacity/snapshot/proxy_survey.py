"""Asks one Proxy, over one connection to its remoting port, for its mode and the consumers that it knows.

Brokers do not know the consumers of a Proxy in cluster mode. Proxies send one another their consumers
(HeartbeatSyncer, rocketmq-all-5.3.3), so each of them knows all. Numbers are RocketMQ's request codes.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from rocketmq_capacity.client.errors import TransportError
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.body.cluster import TopicRoute
from rocketmq_capacity.protocol.body.consumers import ConsumerChannel, ConsumerConnection
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.errors import ProtocolError, ResponseError
from rocketmq_capacity.protocol.version import version_name
from rocketmq_capacity.settings.address import Address, parse_address
from rocketmq_capacity.snapshot.failure_log import FailureLog
from rocketmq_capacity.snapshot.survey import Survey
from rocketmq_capacity.vocabulary import CLUSTER_MODE, LOCAL_MODE, ProxyMode


@dataclass(slots=True)
class ProxyFacts:
    """One Proxy and its answers, filled while they come in.

    Args:
        address: host and remoting port.
        mode: None if its answer does not show it.
        version: None if it did not answer.
        connections: by consumer group, for those that are online here.
    """

    address: Address
    mode: ProxyMode | None = None
    version: str | None = None
    connections: dict[str, ConsumerConnection] = field(default_factory=dict)


class ProxySurvey(Survey):
    """The questions to one Proxy; answers go to ``facts``, failures to the log."""

    def __init__(self, address: Address, settings: ConnectionSettings, failures: FailureLog) -> None:
        """Prepare; nothing is asked yet."""
        self.facts = ProxyFacts(address)
        super().__init__(address, settings, failures)

    async def ask_about_itself(self, topic: str, brokers: Mapping[str, Collection[str]]) -> None:
        """105 for a topic: the addresses in the answer show the Proxy's mode.

        Args:
            topic: any topic with a route.
            brokers: the brokers' own addresses, by broker name.
        """
        route = await self._failures.answer_or_none(
            str(self.facts.address),
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            self._peer.call(request.topic_route(topic)),
            subject=topic,
            harmless=(ResponseCode.TOPIC_NOT_EXIST,),
        )
        self.facts.mode = None if route is None else mode_of(self.facts.address, route, brokers)

    async def ask_who_consumes(self, groups: Collection[str]) -> None:
        """203 for each group, and 38 if that fails; a group without a consumer here is left out.

        Both list the members of the same ConsumerGroupInfo (ConsumerManagerActivity), but 38 only their ids. So 38 adds
        nothing to an answer to 203.
        """
        await self._for_each(groups, self._ask_connection)
        version = self._peer.version
        self.facts.version = None if version is None else version_name(version)

    async def _ask_connection(self, group: str) -> None:
        try:
            self.facts.connections[group] = await self._peer.call(request.consumer_connection(group))
        except (TransportError, ProtocolError) as error:
            if isinstance(error, ResponseError) and error.code == ResponseCode.CONSUMER_NOT_ONLINE:
                return
            self._failures.note(
                str(self.facts.address), RequestCode.GET_CONSUMER_CONNECTION_LIST.name, error, subject=group
            )
            await self._ask_ids(group)

    async def _ask_ids(self, group: str) -> None:
        """38, which a Proxy answers with other threads than 203: those of 203 also handle acknowledgements."""
        try:
            ids = await self._peer.call(request.consumer_ids(group))
        except (TransportError, ProtocolError):
            return  # the failure of 203 is noted already
        connections = tuple(ConsumerChannel(client_id, None, None, None) for client_id in ids.client_ids)
        self.facts.connections[group] = ConsumerConnection(connections, (), None, None)


def mode_of(address: Address, route: TopicRoute, brokers: Mapping[str, Collection[str]]) -> ProxyMode | None:
    """The mode of a Proxy by its answer to 105; None if the answer does not show it.

    In cluster mode the Proxy gives its own remoting address for every broker. In local mode it gives the broker's host,
    with the port for gRPC clients (ProxyTopicRouteData, GetTopicRouteActivity, rocketmq-all-5.3.3).
    """
    try:
        given = [(data.broker_name, parse_address(text)) for data in route.brokers for text in data.addresses.values()]
        hosts = {name: {parse_address(text).host for text in texts} for name, texts in brokers.items()}
    except ValueError:
        return None
    if any(one.port == address.port for _, one in given):
        return CLUSTER_MODE
    is_beside_brokers = bool(given) and all(one.host in hosts.get(name, ()) for name, one in given)
    return LOCAL_MODE if is_beside_brokers else None
