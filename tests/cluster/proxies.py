"""Real Proxies, and real gRPC clients behind them."""

import json
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.cluster.jvm import ClusterError, Jvm, project_of
from tests.fixtures.ports import free_ports
from tests.oracle.java_oracle import Queue
from tests.oracle.maven_project import MavenProject
from tests.oracle.rocketmq_version import ROCKETMQ
from tests.oracle.started import Started

GRPC_CLIENTS: Final = MavenProject(Path(__file__).parent / "grpc", also=(Path(__file__).parent,))
READY_TIME_LIMIT_S: Final = 600.0

_SMALL: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k", "-XX:MaxDirectMemorySize=512m")
_JVM: Final = ("-Xms64m", "-Xmx384m", *_SMALL)
_SETTLE_POLL_S: Final = 0.5
_SETTLED_S: Final = 6.0
"""Unchanged for longer than the 5 s after which a PushConsumer asks for its assignment again."""


@dataclass(frozen=True, slots=True)
class ProxyPlaces:
    """Where a Proxy listens: for gRPC clients, and on its remoting port; both host:port."""

    endpoint: str
    remoting_addr: str


def start_proxy(
    nameserver: str,
    cluster_name: str,
    folder: Path,
    name: str,
    *,
    broker_file: str | None = None,
    rocketmq: str = ROCKETMQ,
) -> tuple[Jvm, ProxyPlaces]:
    """Begin to start a Proxy in a JVM of its own; its first answer says that it is up.

    Args:
        nameserver: host:port.
        cluster_name: of the brokers.
        folder: where its files stand.
        name: of its files.
        broker_file: properties of the broker that it holds, in local mode; None starts one in cluster mode.
        rocketmq: its version.
    """
    grpc_port, remoting_port = free_ports(2)
    config = {
        "rocketMQClusterName": cluster_name,
        "namesrvAddr": nameserver,
        "proxyName": name,
        "grpcServerPort": grpc_port,
        "remotingListenPort": remoting_port,
        "localServeAddr": "127.0.0.1",
        # Else it tells its clients to connect to port 8081 of whoever they asked.
        "useEndpointPortFromRequest": True,
    }
    file = f"proxy-{name}.json"
    (folder / file).write_text(json.dumps(config), "utf-8")
    mode = ("-pm", "cluster") if broker_file is None else ("-pm", "local", "-bc", broker_file)
    options = (*mode, "-pc", file, "-n", nameserver)
    project = project_of(rocketmq)
    jvm = Jvm("capacity.cluster.ProxyMain", *options, folder=folder, name=f"proxy-{name}", jvm=_JVM, project=project)
    return jvm, ProxyPlaces(f"127.0.0.1:{grpc_port}", f"127.0.0.1:{remoting_port}")


class Proxies(Started):
    """Proxies in cluster mode; a context manager. Attribute ``places``: where each of them listens."""

    def __init__(self, nameserver: str, cluster_name: str, count: int = 1, *, rocketmq: str = ROCKETMQ) -> None:
        """Say whose they are, how many, and of which version; nothing runs before ``start``."""
        self._nameserver, self._cluster_name, self._count = nameserver, cluster_name, count
        self._rocketmq = rocketmq
        self._folder = Path()
        self._jvms: list[Jvm] = []
        self.places: list[ProxyPlaces] = []

    def _start(self) -> None:
        """Start all, side by side, and wait until each says that it is up."""
        self._folder = Path(tempfile.mkdtemp(prefix="rocketmq-proxies-"))
        for number in range(self._count):
            jvm, places = start_proxy(
                self._nameserver, self._cluster_name, self._folder, str(number), rocketmq=self._rocketmq
            )
            self._jvms.append(jvm)
            self.places.append(places)
        for jvm in self._jvms:
            jvm.answer(READY_TIME_LIMIT_S)

    def kill(self, number: int) -> None:
        """SIGKILL one of them."""
        self._jvms[number].close()

    def close(self) -> None:
        """End them all and delete every file."""
        for jvm in self._jvms:
            jvm.close()
        self._jvms.clear()
        if self._folder != Path():
            shutil.rmtree(self._folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class GrpcOwned:
    """What one live gRPC consumer asks for messages, in its own tables.

    A PushConsumer has the queues that its Proxy assigned, with id -1 for all of a broker; a SimpleConsumer those of the
    route. ``kind`` is PUSH or SIMPLE.
    """

    number: int
    consumer_group: str
    client_id: str
    kind: str
    consumed: int
    queues: tuple[Queue, ...]


class GrpcClients(Started):
    """A JVM with real gRPC consumers and producers; a context manager."""

    def __init__(self) -> None:
        """Nothing runs before ``start``."""
        self._folder = Path()
        self._jvm: Jvm | None = None

    def _start(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rocketmq-grpc-"))
        self._jvm = Jvm(
            "capacity.grpc.GrpcClientsMain", folder=self._folder, name="grpc", jvm=_JVM, project=GRPC_CLIENTS
        )
        self._jvm.answer()

    def close(self) -> None:
        """Kill them all."""
        if self._jvm is not None:
            self._jvm.close()
            self._jvm = None
            shutil.rmtree(self._folder, ignore_errors=True)

    def start_push(
        self, endpoint: str, consumer_group: str, subscriptions: Mapping[str, str], *, delay_ms: int = 0
    ) -> str:
        """Start a PushConsumer of a Proxy; topic -> tags. Gives its client id."""
        return self._started("start_push", endpoint, consumer_group, subscriptions, delay_ms=delay_ms)

    def start_simple(self, endpoint: str, consumer_group: str, subscriptions: Mapping[str, str]) -> str:
        """Start a SimpleConsumer that receives and acknowledges all the time. Gives its client id."""
        return self._started("start_simple", endpoint, consumer_group, subscriptions)

    def start_lite(self, endpoint: str, consumer_group: str, topic: str, lite_topics: Sequence[str]) -> str:
        """Start a LitePushConsumer of a group that is bound to the topic. Gives its client id."""
        told = {"endpoint": endpoint, "consumer_group": consumer_group, "topic": topic}
        client_id: str = self._ask("start_lite", **told, lite_topics=list(lite_topics))["client_id"]
        return client_id

    def owned(self) -> list[GrpcOwned]:
        """What every live consumer asks for, in the order of their start."""
        return [
            GrpcOwned(
                number=row["consumer"],
                consumer_group=row["consumer_group"],
                client_id=row["client_id"],
                kind=row["kind"],
                consumed=row["consumed"],
                queues=tuple(sorted(Queue(*queue) for queue in row["queues"])),
            )
            for row in self._ask("owned")
        ]

    def settled(self, time_limit_s: float = 300.0) -> list[GrpcOwned]:
        """What every live consumer asks for, once all ask for something and that no longer changes.

        Errors: ClusterError if it still changes when the time is up.
        """
        deadline = time.monotonic() + time_limit_s
        last, since = self._held(), time.monotonic()
        while time.monotonic() - since < _SETTLED_S or not all(queues for _, queues in last):
            if time.monotonic() > deadline:
                raise ClusterError(f"the gRPC consumers did not settle within {time_limit_s} s: {last}")
            time.sleep(_SETTLE_POLL_S)
            held = self._held()
            if held != last:
                last, since = held, time.monotonic()
        return self.owned()

    def produce(
        self, endpoint: str, topic: str, count: int, *, message_groups: int = 0, lite_topic: str | None = None
    ) -> None:
        """Send messages one after the other, of so many message groups in turn: ``group-0``, ``group-1``, …

        Or all to one lite topic.
        """
        told = {"endpoint": endpoint, "topic": topic, "count": count}
        self._ask("produce", **told, message_groups=message_groups, lite_topic=lite_topic)

    def _held(self) -> list[tuple[int, tuple[Queue, ...]]]:
        return [(owned.number, owned.queues) for owned in self.owned()]

    def _started(self, command: str, endpoint: str, group: str, subscriptions: Mapping[str, str], **fields: Any) -> str:
        told = {"endpoint": endpoint, "consumer_group": group, "subscriptions": dict(subscriptions), **fields}
        client_id: str = self._ask(command, **told)["client_id"]
        return client_id

    def _ask(self, command: str, **fields: Any) -> Any:
        if self._jvm is None:
            raise ClusterError("the gRPC clients are not started")
        return self._jvm.ask(command, **fields)
