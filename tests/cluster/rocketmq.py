"""A real RocketMQ on the loopback address: a name server and brokers."""

import os
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.cluster.clients import Clients
from tests.cluster.jvm import ACL_1, ClusterError, Jvm, project_of
from tests.cluster.proxies import ProxyPlaces, start_proxy
from tests.fixtures.ports import free_ports
from tests.oracle.rocketmq_version import ROCKETMQ
from tests.oracle.started import Started

__all__ = ["THREE_BROKERS", "Broker", "Clients", "Cluster", "ClusterError"]

READY_TIME_LIMIT_S: Final = 600.0

_SMALL: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k", "-XX:MaxDirectMemorySize=512m")
_SHARED_JVM: Final = ("-Xms128m", "-Xmx512m", *_SMALL)
_OWN_JVM: Final = ("-Xms64m", "-Xmx256m", *_SMALL)


@dataclass(frozen=True, slots=True)
class Broker:
    """One broker to start; id 0 is the master, others are slaves of the same name.

    One in its own process can be frozen alone; one that hosts a Proxy in local mode always has its own. ``config`` are
    broker properties, which win over ours. One that is cut off registers with the first name server alone. One that has
    ACL 1.0 is of an older version, and has its own process.
    """

    broker_name: str
    broker_id: int = 0
    own_process: bool = False
    hosts_proxy: bool = False
    is_cut_off: bool = False
    has_acl_1: bool = False
    config: Mapping[str, str] = field(default_factory=dict)


THREE_BROKERS: Final = (Broker("broker-a"), Broker("broker-b"), Broker("room1@broker-c"))


class Cluster(Started):
    """A name server and brokers, ready when the name server lists every one of them; a context manager.

    Attributes: ``nameserver`` (host:port of the first), ``second_nameserver`` (of the other one, where there is one),
    ``broker_addrs`` ((broker name, broker id) -> host:port), ``local_proxies`` (broker name -> where its Proxy
    listens), ``cluster_name``.
    """

    def __init__(
        self,
        brokers: Sequence[Broker] = THREE_BROKERS,
        *,
        cluster_name: str = "DefaultCluster",
        pop: bool = False,
        two_nameservers: bool = False,
        jvm: Sequence[str] = (),
        rocketmq: str = ROCKETMQ,
    ) -> None:
        """Say what is to be started; nothing runs before ``start``.

        ``pop``: whether messages can be popped, which takes some 90 MB a broker. ``two_nameservers``: a second one, in
        its own process. ``jvm``: options of every JVM. ``rocketmq``: its version.
        """
        self._brokers = brokers
        self._pop = pop
        self._jvm_options = tuple(jvm)
        self._rocketmq = rocketmq
        self._project = project_of(rocketmq)
        self.cluster_name = cluster_name
        self._folder = Path()
        self._jvms: dict[tuple[str, int] | None, Jvm] = {}
        self._two_nameservers = two_nameservers
        self._second: Jvm | None = None
        self.nameserver = ""
        self.second_nameserver = ""
        self.broker_addrs: dict[tuple[str, int], str] = {}
        self.local_proxies: dict[str, ProxyPlaces] = {}

    def close(self) -> None:
        """End every process and delete every file."""
        for jvm in self._jvms.values():
            jvm.close()
        self._jvms.clear()
        if self._second is not None:
            self._second.close()
            self._second = None
        if self._folder != Path():
            shutil.rmtree(self._folder, ignore_errors=True)

    def create_topic(
        self,
        topic: str,
        queues: Mapping[str, int | tuple[int, int]],
        *,
        perm: int | Mapping[str, int] = 6,
        order: bool = False,
        message_type: str | None = None,
    ) -> None:
        """Create or change a topic on the masters named: broker name -> queues, or (read, write) queues."""
        for broker_name, counts in queues.items():
            read, write = counts if isinstance(counts, tuple) else (counts, counts)
            self._ask(
                "create_topic",
                broker_addr=self.broker_addrs[broker_name, 0],
                topic=topic,
                read_queue_nums=read,
                write_queue_nums=write,
                perm=perm if isinstance(perm, int) else perm[broker_name],
                order=order,
                message_type=message_type,
            )

    def create_many(self, broker_name: str, topics: Sequence[str], groups: Sequence[str]) -> None:
        """Create topics of one queue, and groups, on a master: one request for all topics, and one for all groups."""
        address = self.broker_addrs[broker_name, 0]
        self._ask("create_many", broker_addr=address, topics=list(topics), groups=list(groups))

    def set_order_conf(self, topic: str, value: str) -> None:
        """Set the order configuration of a topic at the name server: ``broker-a:4;broker-b:4``."""
        self._ask("set_order_conf", topic=topic, value=value)

    def create_group(self, consumer_group: str, *, orderly: bool = False, lite_topic: str | None = None) -> None:
        """Create a subscription group on every master; from 5.5 on it may be bound to a LITE topic."""
        fields = {"consumer_group": consumer_group, "orderly": orderly, "lite_topic": lite_topic}
        for address in self._masters():
            self._ask("create_group", broker_addr=address, **fields)

    def set_request_mode(self, topic: str, consumer_group: str, mode: str, pop_share_queue_num: int = 0) -> None:
        """Set PULL or POP for a group's topic, which both must exist, on every master that has the topic."""
        hosts = {
            row["broker_addr"]
            for row in self.facts_of_brokers()["topic_configs"]
            if row["topic"] == topic and row["broker_addr"] in self._masters()
        }
        for address in hosts:
            self._ask(
                "set_request_mode",
                broker_addr=address,
                topic=topic,
                consumer_group=consumer_group,
                mode=mode,
                pop_share_queue_num=pop_share_queue_num,
            )

    def set_offset(self, consumer_group: str, topic: str, broker_name: str, queue_id: int, offset: int) -> None:
        """Set a group's place on a queue, as mqadmin resetOffsetByTime does with -b, -q and -o."""
        address = self.broker_addrs[broker_name, 0]
        fields = {"consumer_group": consumer_group, "topic": topic, "queue_id": queue_id, "offset": offset}
        self._ask("set_offset", broker_addr=address, **fields)

    def create_user(self, username: str, password: str, actions: Sequence[str], resources: Sequence[str]) -> None:
        """Create a user on every master who may do these actions (GET, …) to these resources (Topic:*, …)."""
        for address in self._masters():
            fields = {"username": username, "password": password}
            self._ask("create_user", broker_addr=address, actions=list(actions), resources=list(resources), **fields)

    def set_broker_config(self, broker_name: str, config: Mapping[str, str], broker_id: int = 0) -> None:
        """Change properties of a running broker; ``brokerPermission`` 4 makes it read-only."""
        self._ask("set_broker_config", broker_addr=self.broker_addrs[broker_name, broker_id], config=dict(config))

    def facts(self) -> dict[str, Any]:
        """What the official admin client says, as lists of rows; see Facts.java for their fields."""
        facts: dict[str, Any] = self._ask("facts", asks_clients=True)
        return facts

    def facts_of_brokers(self) -> dict[str, Any]:
        """The same without what clients say of themselves: a client that has just started may not answer in time."""
        facts: dict[str, Any] = self._ask("facts", asks_clients=False)
        return facts

    def mqadmin(self, line: str) -> str:
        """Run a line of the official command line tool, ``mqadmin`` and all, beside the name server; what it says."""
        program, *words = shlex.split(line)
        assert program == "mqadmin", line
        said: str = self._ask("mqadmin", words=words)
        # A subcommand that fails prints its stack and ends with status 0 all the same.
        assert "Exception" not in said, said
        return said

    def freeze(self, broker_name: str, broker_id: int = 0) -> None:
        """SIGSTOP a broker that has its own process: it still accepts connections and answers nothing."""
        os.kill(self._own(broker_name, broker_id).pid, signal.SIGSTOP)

    def thaw(self, broker_name: str, broker_id: int = 0) -> None:
        """SIGCONT a frozen broker."""
        os.kill(self._own(broker_name, broker_id).pid, signal.SIGCONT)

    def freeze_second_nameserver(self) -> None:
        """SIGSTOP it."""
        if self._second is None:
            raise ClusterError("there is no second name server")
        os.kill(self._second.pid, signal.SIGSTOP)

    def kill(self, broker_name: str, broker_id: int = 0) -> None:
        """SIGKILL a broker that has its own process."""
        self._own(broker_name, broker_id).close()

    def shut_down(self, broker_name: str, broker_id: int = 0) -> None:
        """SIGTERM a broker that has its own process, and wait until it is gone."""
        self._own(broker_name, broker_id).end()

    def start_again(self, broker_name: str, broker_id: int = 0) -> None:
        """Start a broker that was killed or shut down, on what it has stored; nobody waits for it."""
        self._own(broker_name, broker_id)
        self._jvms[broker_name, broker_id] = self._own_jvm(broker_name, broker_id)

    def add_broker(self, broker: Broker) -> None:
        """Start one more broker, in its own process, and wait until the name server lists it."""
        key = broker.broker_name, broker.broker_id
        (port,) = free_ports(1)
        self._brokers = (*self._brokers, broker)
        self.broker_addrs[key] = f"127.0.0.1:{port}"
        self._write(f"{broker.broker_name}-{broker.broker_id}", self._config(broker, port))
        self._jvms[key] = self._own_jvm(*key)
        self._jvms[key].answer(READY_TIME_LIMIT_S)
        self._wait_until_registered(self._jvms[None])

    def is_registered(self, broker_name: str, broker_id: int = 0) -> bool:
        """Whether the name server lists a broker."""
        listed: dict[str, dict[str, str]] = self._ask("registered")
        return str(broker_id) in listed.get(broker_name, {})

    def processor_s(self, broker_name: str, broker_id: int = 0) -> float:
        """The processor time of a broker that has its own process, in seconds."""
        stat = Path(f"/proc/{self._own(broker_name, broker_id).pid}/stat").read_text("ascii")
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _own_jvm(self, broker_name: str, broker_id: int) -> Jvm:
        name = f"{broker_name}-{broker_id}"
        options = (*_OWN_JVM, *self._jvm_options)
        (broker,) = (one for one in self._brokers if (one.broker_name, one.broker_id) == (broker_name, broker_id))
        if broker.has_acl_1:
            main = "capacity.acl1.BrokerMain"
            return Jvm(main, f"{name}.conf", folder=self._folder, name=name, jvm=options, project=ACL_1)
        return Jvm(
            "capacity.cluster.ClusterMain",
            f"broker={name}.conf",
            folder=self._folder,
            name=name,
            jvm=options,
            project=self._project,
        )

    def _ask(self, command: str, **fields: Any) -> Any:
        """Ask the official admin client, which lives beside the name server."""
        if None not in self._jvms:
            raise ClusterError("the cluster is not started")
        return self._jvms[None].ask(command, **fields)

    def _own(self, broker_name: str, broker_id: int) -> Jvm:
        if (broker_name, broker_id) not in self._jvms:
            raise ClusterError(f"{broker_name} {broker_id} has no process of its own: start it with own_process=True")
        return self._jvms[broker_name, broker_id]

    @property
    def _nameservers(self) -> str:
        return ";".join(filter(None, (self.nameserver, self.second_nameserver)))

    def _masters(self) -> list[str]:
        return [address for (_, broker_id), address in self.broker_addrs.items() if broker_id == 0]

    def _start(self) -> None:
        """Start all, side by side, and wait until the name server lists every broker."""
        self._folder = Path(tempfile.mkdtemp(prefix="rocketmq-"))
        nameserver_port, second_port, *broker_ports = free_ports(2 + len(self._brokers))
        self.nameserver = f"127.0.0.1:{nameserver_port}"
        if self._two_nameservers:
            self._start_second(second_port)
        settings = {"listenPort": str(nameserver_port), "bindAddress": "127.0.0.1"}
        shared = [f"nameserver={self._write('nameserver', settings)}"]
        own: list[tuple[str, int]] = []
        hosting: dict[tuple[str, int], Jvm] = {}
        for broker, port in zip(self._brokers, broker_ports, strict=True):
            key = (broker.broker_name, broker.broker_id)
            self.broker_addrs[key] = f"127.0.0.1:{port}"
            file = self._write(f"{broker.broker_name}-{broker.broker_id}", self._config(broker, port))
            argument = f"broker={file}"
            if broker.hosts_proxy:
                hosting[key], self.local_proxies[broker.broker_name] = start_proxy(
                    self.nameserver,
                    self.cluster_name,
                    self._folder,
                    broker.broker_name,
                    broker_file=file,
                    rocketmq=self._rocketmq,
                )
            elif broker.own_process or broker.has_acl_1:
                own.append(key)
            else:
                shared.append(argument)

        main = "capacity.cluster.ClusterMain"
        first = Jvm(
            main,
            *shared,
            folder=self._folder,
            name="cluster",
            jvm=(*_SHARED_JVM, *self._jvm_options),
            project=self._project,
        )
        self._jvms[None] = first
        for key in own:
            self._jvms[key] = self._own_jvm(*key)
        self._jvms.update(hosting.items())
        for jvm in self._jvms.values():
            jvm.answer(READY_TIME_LIMIT_S)
        self._wait_until_registered(first)

    def _start_second(self, port: int) -> None:
        self.second_nameserver = f"127.0.0.1:{port}"
        file = self._write("nameserver-2", {"listenPort": str(port), "bindAddress": "127.0.0.1"})
        self._second = Jvm(
            "capacity.cluster.ClusterMain",
            f"nameserver={file}",
            folder=self._folder,
            name="nameserver-2",
            jvm=(*_OWN_JVM, *self._jvm_options),
            project=self._project,
        )
        self._second.answer(READY_TIME_LIMIT_S)

    def _wait_until_registered(self, nameserver: Jvm) -> None:
        deadline = time.monotonic() + READY_TIME_LIMIT_S
        while True:
            listed = nameserver.ask("registered")
            missing = [key for key in self.broker_addrs if str(key[1]) not in listed.get(key[0], {})]
            if not missing:
                return
            if time.monotonic() > deadline:
                raise ClusterError(f"not registered within {READY_TIME_LIMIT_S} s: {missing}")
            for jvm in self._jvms.values():
                jvm.ask("register")
            time.sleep(0.2)

    def _config(self, broker: Broker, port: int) -> dict[str, str]:
        # Relative to the folder in which it runs: a broker tells its settings to whoever asks, a snapshot among them.
        store = f"store-{broker.broker_name}-{broker.broker_id}"
        return {
            "brokerClusterName": self.cluster_name,
            "brokerName": broker.broker_name,
            "brokerId": str(broker.broker_id),
            "brokerRole": "ASYNC_MASTER" if broker.broker_id == 0 else "SLAVE",
            "namesrvAddr": self.nameserver if broker.is_cut_off else self._nameservers,
            "listenPort": str(port),
            "haListenPort": str(port + 1),
            "bindAddress": "127.0.0.1",
            "brokerIP1": "127.0.0.1",
            "brokerIP2": "127.0.0.1",
            "autoCreateTopicEnable": "false",
            "enablePropertyFilter": "true",
            "storePathRootDir": store,
            "storePathCommitLog": f"{store}/commitlog",
            # A small store on a disk that may be nearly full.
            "mappedFileSizeCommitLog": "16777216",
            "mappedFileSizeConsumeQueue": "60000",
            "maxHashSlotNum": "5000",
            "maxIndexNum": "20000",
            # Without its timer a broker assigns queues to POP clients and then forbids them to pop.
            "timerWheelEnable": str(self._pop).lower(),
            # Nothing reads the timer's files again. Flushing them every second takes half a core of an idle broker.
            "timerFlushIntervalMs": "3600000",
            "mappedFileSizeTimerLog": "1048576",
            # A broker's flush service waits for its first interval (3 s) in a busy loop.
            "transactionMetricFlushInterval": "200",
            # Every thread that stores messages keeps a direct buffer of this size.
            "maxMessageSize": "262144",
            "diskMaxUsedSpaceRatio": "95",
            **broker.config,
        }

    def _write(self, name: str, properties: Mapping[str, str]) -> str:
        file = f"{name}.conf"
        lines = [f"{key}={value}\n" for key, value in properties.items()]
        (self._folder / file).write_text("".join(lines), "utf-8")
        return file
