"""How connections behave: limits of time and size, retries, TLS and access control."""

import ssl
from dataclasses import dataclass, field
from typing import Final

from rocketmq_capacity.protocol.codes import Serialization
from rocketmq_capacity.protocol.compression import MAX_BODY_BYTES
from rocketmq_capacity.protocol.frame import MAX_FRAME_BYTES
from rocketmq_capacity.settings.address import Address

BROKER_ADMIN_THREADS: Final = 16
"""Threads of a broker that answer questions like ours, mqadmin's and a dashboard's (adminBrokerThreadPoolNums).

With no more requests under way than that, ours never queue up in the broker: somebody else's request waits for at most
one of ours. A request that has queued for 5 s (waitTimeMillsInAdminBrokerQueue) is refused as SYSTEM_BUSY.
Source: BrokerConfig.java, BrokerController.registerProcessor, BrokerFastFailure.java, rocketmq-all-5.3.3.
"""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who we are to a broker with access control; the secrets are never printed."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """What holds for every connection.

    Args:
        connect_timeout_s: for TCP and TLS together.
        request_timeout_s: from sending a request to its answer. A frozen broker accepts connections and never
            answers, so this and not the limit above is what finds it.
        in_flight: requests under way to one broker or name server at a time; more wait here for their turn.
        attempts: how often a request is tried in all, where what failed may pass.
        retry_wait_s: longest wait before the second attempt; doubles with every further one. The wait is drawn at
            random from 0 up to it.
        max_frame_bytes: of a frame, as it travels.
        max_body_bytes: of a compressed body, once inflated.
        serialization: of the headers that we send; answers come in the peer's.
        tls: speak TLS by these rules; None speaks plainly.
        credentials: sign every request; None signs none.
        proxies: remoting addresses of the cluster's Proxies, which are asked as brokers are.
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
