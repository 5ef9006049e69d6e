"""The kinds of producers that are simulated."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from rocketmq_capacity.producers.generation import GENERATIONS, Release, release_of
from rocketmq_capacity.settings.producers import SYNC, Sending
from rocketmq_capacity.vocabulary import JAVA

PROXY: Final = "PROXY"


class Sender(NamedTuple):
    """A kind of producers.

    Attributes:
        client: JAVA or PROXY.
        versions: which versions send alike.
        release: the version that is simulated; None for a Proxy.
        tolerates: whether its latency fault tolerance is on.
        detects: whether its detector of reachability is on.
        sending: how a Java client sends.
    """

    client: str
    versions: str
    release: Release | None
    tolerates: bool = False
    detects: bool = False
    sending: Sending = Sending()


def _release(version: str) -> Release:
    release = release_of(version)
    if release is None:
        raise AssertionError(version)
    return release


_OLD, _FIXED, _NEW = (generation.name for generation in GENERATIONS)
SENDERS: Final = (
    Sender(JAVA, "all", _release("V5_3_3")),
    Sender(JAVA, _OLD, _release("V4_9_7"), tolerates=True),
    Sender(JAVA, _FIXED, _release("V4_9_8"), tolerates=True),
    Sender(JAVA, _NEW, _release("V5_3_3"), tolerates=True),
    Sender(JAVA, _NEW, _release("V5_3_3"), tolerates=True, detects=True),
    Sender(PROXY, "all", None),
    Sender(PROXY, "all", None, tolerates=True),
    Sender(PROXY, "all", None, tolerates=True, detects=True),
)
"""All kinds that are simulated. Without fault tolerance all versions of the Java client choose alike."""


def senders_of(sendings: Iterable[Sending]) -> tuple[Sender, ...]:
    """The kinds for these ways to send, then the Proxy, which tries each message once.

    With fault tolerance only synchronous producers are simulated: the others learn that a broker is slow while they
    already send the next messages.
    """
    java = [
        one._replace(sending=sending)
        for sending in sendings
        for one in SENDERS
        if one.client == JAVA and (sending.mode == SYNC or not one.tolerates)
    ]
    return (*java, *(one for one in SENDERS if one.client == PROXY))
