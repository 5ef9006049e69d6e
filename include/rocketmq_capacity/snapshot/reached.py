"""A cluster while it is asked: its name servers, brokers and Proxies, what failed, and when to stop."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from rocketmq_capacity.client.errors import NoNameServerError
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.protocol.body.cluster import ClusterInfo
from rocketmq_capacity.protocol.errors import ResponseError
from rocketmq_capacity.settings.address import Address
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts
from rocketmq_capacity.snapshot.broker_survey import BrokerSurvey
from rocketmq_capacity.snapshot.failure_log import FailureLog
from rocketmq_capacity.snapshot.nameserver_survey import NameServerSurvey, joined_info
from rocketmq_capacity.snapshot.proxy_survey import ProxySurvey
from rocketmq_capacity.vocabulary import java_order
from rocketmq_capacity.wording import LISTED


class Reached:
    """The processes of one cluster, each with its own connection.

    Attributes:
        addresses: of the name servers.
        nameservers: the questions to each of them.
        facts: what each broker process has answered; empty until `find_brokers`.
        brokers: the questions to each broker process whose address is one.
        proxies: the questions to each Proxy.
        failures: every failed request.
        is_over: set once the time is up.
    """

    def __init__(
        self, addresses: Sequence[Address], settings: ConnectionSettings, proxies: Sequence[Address], limit_s: float
    ) -> None:
        """Prepare; nothing is asked yet. ``limit_s`` is how long `until_the_limit` lets it ask."""
        self.addresses = addresses
        self.failures = FailureLog()
        self.nameservers = [NameServerSurvey(address, settings, self.failures) for address in addresses]
        self.facts: list[BrokerFacts] = []
        self.brokers: list[BrokerSurvey] = []
        self.proxies = [ProxySurvey(proxy, settings, self.failures) for proxy in proxies]
        self.is_over = asyncio.Event()
        self._settings, self._limit_s = settings, limit_s

    @asynccontextmanager
    async def until_the_limit(self) -> AsyncIterator[None]:
        """Ask in here: when the time is up, nobody is asked any more; at the end, all connections are closed."""
        ending = asyncio.get_running_loop().call_later(self._limit_s, self._give_up)
        try:
            yield
        finally:
            ending.cancel()
            await asyncio.gather(*(survey.close() for survey in self._everybody()))

    async def find_brokers(self, *, with_topics: bool = False) -> tuple[list[NameServerSurvey], ClusterInfo]:
        """106, and 206 for the topics; gives the name servers that answered, and every broker that they list.

        The other name servers become failures.

        Errors: `ClusterUnreachable` if none answered.
        """
        await asyncio.gather(*(one.ask_for_brokers(with_topics=with_topics) for one in self.nameservers))
        answering = [one for one in self.nameservers if one.problem is None]
        if not answering:
            addresses = ", ".join(map(str, self.addresses))
            problems = [(one.address, one.problem) for one in self.nameservers if one.problem is not None]
            (_, first), *others = problems
            is_refused = isinstance(first, ResponseError) and not others
            error = first if is_refused else NoNameServerError(problems)
            raise ClusterUnreachable(f"the cluster cannot be read from {addresses}: {error}") from error
        for nameserver in self.nameservers:
            nameserver.note_problem()
        info = joined_info(answering)
        self._prepare_brokers(info)
        if self.is_over.is_set():  # the name servers took all the time
            self._give_up()
        return answering, info

    def check_access(self) -> None:
        """Stop where no broker tells anything: else wrong access keys or addresses would look like an empty cluster.

        Errors: `ClusterUnreachable` if brokers denied access or could not be read, and none answered anything.
        """
        if not self.facts or not all(facts.has_answered_nothing for facts in self.facts):
            return
        if refusals := self.failures.refusals:
            brokers = _in_one_line(sorted(refusals.items()))
            raise ClusterUnreachable(f"access to the brokers was refused: {brokers}")
        if self.failures.answering.isdisjoint(facts.broker_addr for facts in self.facts):
            errors = {row.broker_addr: row.error or "" for row in reversed(self.failures.rows())}
            brokers = _in_one_line([(facts.broker_addr, errors.get(facts.broker_addr, "")) for facts in self.facts])
            raise ClusterUnreachable(f"no broker that the name servers list can be read: {brokers}")

    def speakers(self) -> list[BrokerSurvey]:
        """The processes that answer for their broker names."""
        return [survey for survey in self.brokers if survey.facts.is_asked_for_all]

    def _prepare_brokers(self, info: ClusterInfo) -> None:
        """Prepare the questions to every process that a name server lists."""
        for broker in sorted(info.brokers, key=lambda broker: java_order(broker.broker_name)):
            for broker_id, address in sorted(broker.addresses.items()):
                speaks = broker_id == min(broker.addresses)
                facts = BrokerFacts(broker.broker_name, broker_id, address, is_asked_for_all=speaks)
                self.facts.append(facts)
                try:
                    self.brokers.append(BrokerSurvey(facts, self._settings, self.failures))
                except ValueError as error:
                    self.failures.note(address, "CONNECT", error)

    def _give_up(self) -> None:
        """Ask nobody any more: the time is up, and the result is what was answered until now."""
        self.is_over.set()
        for survey in self._everybody():
            survey.give_up(f"not asked or not answered within the snapshot's limit of {self._limit_s:g} s")

    def _everybody(self) -> list[NameServerSurvey | BrokerSurvey | ProxySurvey]:
        return [*self.nameservers, *self.brokers, *self.proxies]


def _in_one_line(errors: Sequence[tuple[str, str]]) -> str:
    """The errors of the first servers, each by its address."""
    shown = "; ".join(f"{address}: {words}" for address, words in errors[:LISTED])
    return f"{shown}; and {len(errors) - LISTED} more" if len(errors) > LISTED else shown
