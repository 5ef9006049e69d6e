"""How connections behave: limits of time and size, retries, TLS and access control."""

import ssl
from dataclasses import dataclass, field
from typing import Final

from rocketmq_capacity.protocol.codes import Serialization
from rocketmq_capacity.protocol.limits import MAX_BODY_BYTES, MAX_FRAME_BYTES
from rocketmq_capacity.settings.address import Address
from rocketmq_capacity.settings.networks import Network

BROKER_ADMIN_THREADS: Final = 16
"""Threads of a broker that answer requests like ours, mqadmin's and a dashboard's (adminBrokerThreadPoolNums).

With at most this many requests under way, ours do not queue in the broker, and nobody waits for more than one of ours.
A broker refuses a request that has queued for 5 s (waitTimeMillsInAdminBrokerQueue) with SYSTEM_BUSY.
Source: BrokerConfig.java, BrokerController.registerProcessor, BrokerFastFailure.java, rocketmq-all-5.3.3.
"""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Our user at a broker with access control; the secrets are never printed."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """The settings of every connection.

    Args:
        connect_timeout_s: limit for TCP and TLS together.
        request_timeout_s: limit from sending a request to its answer. It finds a frozen broker, which accepts
            connections but does not answer.
        in_flight: the most requests under way to one broker or name server; others wait.
        attempts: the most times that a request is sent, if it fails for reasons that may pass.
        retry_wait_s: the longest wait before the second attempt; it doubles with every further attempt. The wait is
            random, from 0 up to this.
        max_frame_bytes: the largest frame, as it is received.
        max_body_bytes: the largest compressed body, after it is inflated.
        serialization: of the headers that we send; an answer has the peer's.
        tls: how to speak TLS; None for plain TCP.
        credentials: for signing every request; None to sign none.
        proxies: remoting addresses of the cluster's Proxies, which are asked like brokers.
        networks: where servers may be; nothing is sent to an address outside, whoever names it. Empty: anywhere.
    """

    connect_timeout_s: float = 3.0
    request_timeout_s: float = 5.0
    in_flight: int = BROKER_ADMIN_THREADS
    attempts: int = 3
    retry_wait_s: float = 0.2
    max_frame_bytes: int = MAX_FRAME_BYTES
    max_body_bytes: int = MAX_BODY_BYTES
    serialization: Serialization = Serialization.JSON
    tls: ssl.SSLContext | None = None
    credentials: Credentials | None = None
    proxies: tuple[Address, ...] = ()
    networks: tuple[Network, ...] = ()
