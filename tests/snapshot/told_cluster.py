"""A cluster with scripted answers, for faults and topologies that a real one cannot be brought to at will."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeVar

from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.snapshot.collect import CollectOptions, collect
from rocketmq_capacity.snapshot.collect_sample import collect_sample
from tests.client.speaking_peer import SpeakingPeer, Visit

T = TypeVar("T")

Answer = tuple[int, Any]
"""A response code, and the body (a document, a text or bytes) or the remark."""
Rule = Answer | bytes | Callable[[Command], Answer | None]
"""An answer, or bytes that are sent in place of a whole response."""

EMPTY: Final[dict[int, Rule]] = {
    21: (0, {"topicConfigTable": {}}),
    26: (0, "brokerPermission=6\n"),
    28: (0, {"table": {"brokerVersionDesc": "V5_3_3"}}),
    43: (0, {"offsetTable": {}}),
    201: (0, {"subscriptionGroupTable": {}}),
    202: (17, "topic not exist"),
    203: (206, "not online"),
    208: (0, {"offsetTable": {}}),
    307: (1, "not online"),
    328: (0, {"data": {}}),
    402: (0, {"messageRequestModeMap": {}}),
}


def topic_table(*topics: str) -> Answer:
    """The body of 21."""
    config = {"readQueueNums": 1, "writeQueueNums": 1, "perm": 6, "order": False, "attributes": {}}
    return 0, {"topicConfigTable": dict.fromkeys(topics, config)}


def group_table(*groups: str) -> Answer:
    """The body of 201."""
    return 0, {"subscriptionGroupTable": {group: {"groupName": group} for group in groups}}


def connection(*client_ids: str, topics: tuple[str, ...] = ("pay",)) -> Answer:
    """The body of 203."""
    return 0, {
        "connectionSet": [
            {"clientId": client_id, "clientAddr": f"10.0.0.1:{port}", "language": "JAVA", "version": 479}
            for port, client_id in enumerate(client_ids, 40_000)
        ],
        "subscriptionTable": {topic: {"topic": topic, "subString": "*", "expressionType": "TAG"} for topic in topics},
        "consumeType": "CONSUME_PASSIVELY",
        "messageModel": "CLUSTERING",
    }


def only(field_name: str, value: str, answer: Answer) -> Callable[[Command], Answer | None]:
    """Answers a request whose field is so; the usual answer otherwise."""
    return lambda request: answer if request.ext_fields.get(field_name) == value else None


@dataclass
class ToldBroker:
    """One process; ``rules`` win over EMPTY, and None is silence."""

    broker_name: str
    broker_id: int = 0
    rules: dict[int, Rule | None] = field(default_factory=dict)
    address: str = ""
    asked: list[Command] = field(default_factory=list)

    def codes(self) -> set[int]:
        """What it was asked."""
        return {request.code for request in self.asked}

    async def handle(self, visit: Visit, request: Command) -> None:
        """Answer as told."""
        self.asked.append(request)
        rule = self.rules.get(request.code, EMPTY[request.code])
        if rule is None:
            return
        answer = rule(request) if callable(rule) else rule
        _send(visit, request, answer if answer is not None else _usual(request))


@dataclass
class ToldProxy:
    """One Proxy: ``rules`` win over what one in cluster mode without a client would say, and None is silence."""

    rules: dict[int, Rule | None] = field(default_factory=dict)
    address: str = ""
    asked: list[Command] = field(default_factory=list)

    async def handle(self, visit: Visit, request: Command) -> None:
        """Answer as told."""
        self.asked.append(request)
        route = {"brokerDatas": [{"brokerName": "a", "brokerAddrs": {"0": self.address}}], "queueDatas": []}
        usual: dict[int, Answer] = {38: (1, "consumerGroupInfo is null"), 105: (0, route), 203: (206, "not online")}
        rule = self.rules.get(request.code, usual[request.code])
        if rule is None:
            return
        answer = rule(request) if callable(rule) else rule
        _send(visit, request, answer if answer is not None else usual[request.code])


def taken_of(
    take: Callable[..., Awaitable[T]],
    brokers: list[ToldBroker],
    *,
    proxies: Sequence[ToldProxy] = (),
    topics: tuple[str, ...] = ("pay",),
    clusters: tuple[str, ...] = ("C1",),
    name_server: Mapping[int, Rule | None] | None = None,
    other_name_servers: Sequence[dict[int, Rule | None]] = (),
    options: CollectOptions | None = None,
) -> T:
    """Bring the cluster up, ask it, and take it down.

    ``other_name_servers`` have rules of their own; None is silence.
    """

    async def name_server_says(rules: Mapping[int, Rule | None], visit: Visit, request: Command) -> None:
        table: dict[str, Any] = {}
        for broker in brokers:
            data = table.setdefault(
                broker.broker_name, {"brokerName": broker.broker_name, "cluster": "C1", "brokerAddrs": {}}
            )
            data["brokerAddrs"][str(broker.broker_id)] = broker.address
        says: dict[int, Rule | None] = {
            106: (0, {"brokerAddrTable": table, "clusterAddrTable": {cluster: list(table) for cluster in clusters}}),
            206: (0, {"topicList": list(topics)}),
            105: (17, "no route"),
            **rules,
        }
        rule = says[request.code]
        if rule is None:
            return
        answer = rule(request) if callable(rule) else rule
        _send(visit, request, answer if answer is not None else (17, "no route"))

    async def run() -> T:
        async with contextlib.AsyncExitStack() as running:
            each: list[Mapping[int, Rule | None]] = [name_server or {}, *other_name_servers]
            names = [
                await running.enter_async_context(SpeakingPeer(partial(name_server_says, rules))) for rules in each
            ]
            for broker in brokers:
                peer = await running.enter_async_context(SpeakingPeer(broker.handle))
                broker.address = broker.address or str(peer.address)
            for proxy in proxies:
                if not proxy.address:
                    proxy.address = str((await running.enter_async_context(SpeakingPeer(proxy.handle))).address)
            named = [parse_address(proxy.address) for proxy in proxies]
            told = replace(options or CollectOptions(), proxies=named) if named else options
            return await asyncio.wait_for(take([str(one.address) for one in names], options=told), 60)

    return asyncio.run(run())


snapshot_of = partial(taken_of, collect)
"""A snapshot of the cluster."""
sample_of = partial(taken_of, collect_sample)
"""A sample of it."""


def _usual(request: Command) -> Answer:
    rule = EMPTY[request.code]
    assert isinstance(rule, tuple)
    return rule


def _send(visit: Visit, request: Command, answer: Answer | bytes) -> None:
    if isinstance(answer, bytes):
        visit.send(answer)
        return
    code, said = answer
    if code:
        visit.answer(request, code=code, remark=said)
    elif isinstance(said, bytes):
        visit.answer(request, said)
    else:
        visit.answer(request, said.encode() if isinstance(said, str) else json.dumps(said).encode())
