"""The inventory file, ``rocketmq-capacity/inventory/1``: one cluster at one moment.

Every structure mirrors the public contract; ``None`` is "unknown", never zero. Reading is strict: a wrong type, a
number out of range or a repeated key is a :class:`BadInput` that names the place in the file.
"""

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec
from msgspec.structs import fields, replace

from rocketmq_capacity.errors import HALF_A_CHARACTER, BadInput, shown
from rocketmq_capacity.vocabulary import (
    CONSUME_FROM_WHERE,
    EVERY_QUEUE,
    MESSAGE_MODELS,
    PERM_BITS,
    PROTOCOLS,
    PROXY_MODES,
    REQUEST_MODES,
    ConsumeFromWhere,
    MessageModel,
    Protocol,
    ProxyMode,
    RequestMode,
    java_order,
)

FORMAT: Final = "rocketmq-capacity/inventory/1"
CLUSTER_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,255}")

Name = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=0, le=65_536)]
Perm = Annotated[int, msgspec.Meta(ge=0, le=PERM_BITS)]
Offset = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Rate = Annotated[float, msgspec.Meta(ge=0.0)]
PassShare = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
PopShare = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
OwnedQueueId = Annotated[int, msgspec.Meta(ge=EVERY_QUEUE, le=65_536)]

HELD_TIMES: Final = ("last_locked_at", "last_pulled_at", "last_consumed_at")
"""Times that a client gives for each queue that it holds."""
_CHOICES: Final = {
    "message_request_mode": REQUEST_MODES,
    "message_model": MESSAGE_MODELS,
    "consume_from_where": CONSUME_FROM_WHERE,
    "protocol": PROTOCOLS,
    "mode": PROXY_MODES,
}
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
_SOME_KEY: Final = "[...]"
_STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]")
_HALF: Final = re.compile(r"surrogate pair \((byte \d+)\)")
_NO_CHOICE: Final = re.compile(r"Invalid enum value (.*)", re.DOTALL)

_encode: Final = msgspec.json.Encoder(order="sorted").encode


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A part of the inventory; unknown members are ignored, so that a later version can add some.

    Members that are None are not written. Parts have no cycles, so that the garbage collector can skip them: a large
    cluster has millions.
    """


class DriftedTopic(_Part, frozen=True, kw_only=True):
    """A topic that differs between a slave and its master; the slave's counts are None if it lacks the topic."""

    topic: Name
    read_queue_nums: Count | None = None
    write_queue_nums: Count | None = None
    master_read_queue_nums: Count | None = None
    master_write_queue_nums: Count | None = None


class Broker(_Part, frozen=True, kw_only=True):
    """One broker process: a master (``broker_id`` 0) or a slave (above 0).

    Only a slave has ``drifted_topics`` and ``missing_groups``: how it differs from its master. The master's tables were
    last changed at ``master_changed_at``.
    """

    broker_name: Name
    broker_id: Offset = msgspec.field(default_factory=int)  # 0; with a plain default, 0 would not be written
    broker_addr: str | None = None
    broker_perm: Perm | None = None
    version: str | None = None
    config: dict[str, str] | None = None
    runtime: dict[str, str] | None = None
    drifted_topics: tuple[DriftedTopic, ...] | None = None
    missing_groups: tuple[str, ...] | None = None
    master_changed_at: str | None = None


class ListedBroker(_Part, frozen=True, kw_only=True):
    """A broker process as a name server lists it."""

    broker_name: Name
    broker_id: Offset
    broker_addr: str | None = None


class Proxy(_Part, frozen=True, kw_only=True):
    """One Proxy: a process of its own (CLUSTER) or part of a broker's (LOCAL)."""

    proxy_addr: Name
    mode: ProxyMode | None = None
    version: str | None = None


class TopicQueues(_Part, frozen=True, kw_only=True):
    """A topic's queues on one broker, as the route gives them (``perm`` combined with the broker's own)."""

    broker_name: Name
    read_queue_nums: Count | None = None
    write_queue_nums: Count | None = None
    perm: Perm | None = None


class TopicOffset(_Part, frozen=True, kw_only=True):
    """How far one queue is written."""

    broker_name: Name
    queue_id: Count
    min_offset: Offset | None = None
    max_offset: Offset | None = None
    put_msgs_per_s: Rate | None = None


class Topic(_Part, frozen=True, kw_only=True):
    """A topic, its queues and how far they are written."""

    topic: Name
    message_type: str | None = None
    order: bool | None = None
    queues: tuple[TopicQueues, ...] | None = None
    offsets: tuple[TopicOffset, ...] | None = None


class Route(_Part, frozen=True, kw_only=True):
    """A topic's queues as one name server gives them; empty if it has no route."""

    topic: Name
    queues: tuple[TopicQueues, ...]


class NameserverView(_Part, frozen=True, kw_only=True):
    """How one name server differs from the rest of the inventory.

    ``brokers`` are all that it lists, None if they do not differ; ``routes`` are only those that differ.
    """

    nameserver_addr: Name
    brokers: tuple[ListedBroker, ...] | None = None
    routes: tuple[Route, ...] | None = None


class Subscription(_Part, frozen=True, kw_only=True):
    """A topic that a client or a group reads, and how."""

    topic: Name
    expression_type: str | None = None
    expression: str | None = None
    message_request_mode: RequestMode | None = None
    pop_share_queue_num: PopShare | None = None


class OwnedQueue(_Part, frozen=True, kw_only=True):
    """A queue that a client says it holds, and its state; times are by the client's clock."""

    topic: Name
    broker_name: Name
    queue_id: OwnedQueueId
    dropped: bool | None = None
    locked: bool | None = None
    cached_msgs: Offset | None = None
    last_locked_at: str | None = None
    last_pulled_at: str | None = None
    last_consumed_at: str | None = None


class ConsumeStatus(_Part, frozen=True, kw_only=True):
    """How a client consumes one topic: milliseconds a listener call, messages a second."""

    topic: Name
    consume_rt_ms: Rate | None = None
    consume_ok_msgs_per_s: Rate | None = None
    consume_failed_msgs_per_s: Rate | None = None


class Client(_Part, frozen=True, kw_only=True):
    """One running consumer; the same ``client_id`` twice means two consumers."""

    client_id: Name
    client_addr: str | None = None
    protocol: Protocol | None = None
    language: str | None = None
    version: str | None = None
    seen_on: tuple[str, ...] | None = None
    answered_at: str | None = None
    started_at: str | None = None
    allocate_strategy: str | None = None
    consume_threads: Count | None = None
    consume_batch_size: Count | None = None
    pull_threshold_for_queue: Count | None = None
    pull_threshold_size_for_queue_mib: Count | None = None
    pull_threshold_for_topic: Offset | None = None
    pull_threshold_size_for_topic_mib: Offset | None = None
    subscriptions: tuple[Subscription, ...] | None = None
    owned_queues: tuple[OwnedQueue, ...] | None = None
    status: tuple[ConsumeStatus, ...] | None = None


class Sample(_Part, frozen=True, kw_only=True):
    """A group's offset on a queue at one moment."""

    at: str
    broker_offset: Offset | None = None
    consumer_offset: Offset | None = None


class GroupOffset(_Part, frozen=True, kw_only=True):
    """A group's offset on a queue; lag = broker_offset - consumer_offset."""

    topic: Name
    broker_name: Name
    queue_id: Count
    broker_offset: Offset | None = None
    consumer_offset: Offset | None = None
    last_timestamp: str | None = None
    samples: tuple[Sample, ...] | None = None


class PassRatio(_Part, frozen=True, kw_only=True):
    """The share of a topic's messages that match a group's filter."""

    topic: Name
    pass_ratio: PassShare | None = None


class ConsumerGroup(_Part, frozen=True, kw_only=True):
    """A consumer group, its running consumers and its offsets.

    ``pass_ratios``, where given, are used instead of ratios computed from what the clients consume.
    """

    consumer_group: Name
    message_model: MessageModel | None = None
    consume_type: str | None = None
    consume_from_where: ConsumeFromWhere | None = None
    message_request_mode: RequestMode | None = None
    pop_share_queue_num: PopShare | None = None
    orderly: bool | None = None
    subscriptions: tuple[Subscription, ...] | None = None
    pass_ratios: tuple[PassRatio, ...] | None = None
    clients: tuple[Client, ...] | None = None
    offsets: tuple[GroupOffset, ...] | None = None


class Producer(_Part, frozen=True, kw_only=True):
    """One running producer; the same ``client_id`` twice in a group means two producers."""

    producer_group: Name
    client_id: Name
    client_addr: str | None = None
    language: str | None = None
    version: str | None = None
    seen_on: tuple[str, ...] | None = None


class Failure(_Part, frozen=True, kw_only=True):
    """A request that a broker, a name server or a Proxy did not answer."""

    broker_addr: str
    request: str | None = None
    error: str | None = None


class Inventory(_Part, frozen=True, kw_only=True):
    """One cluster at one moment.

    ``recorded_at`` is when the snapshot was really taken, if it was given another ``taken_at`` later (see dated.py).
    """

    format: str
    cluster_name: str
    taken_at: str
    recorded_at: str | None = None
    nameservers: tuple[str, ...] | None = None
    nameserver_views: tuple[NameserverView, ...] | None = None
    brokers: tuple[Broker, ...]
    proxies: tuple[Proxy, ...] | None = None
    topics: tuple[Topic, ...]
    consumer_groups: tuple[ConsumerGroup, ...]
    producers: tuple[Producer, ...] | None = None
    failures: tuple[Failure, ...] | None = None

    @property
    def taken_at_utc(self) -> datetime:
        """The moment of the snapshot."""
        return parse_utc(self.taken_at)


_1970: Final = datetime(1970, 1, 1, tzinfo=UTC)


def parse_utc(text: str) -> datetime:
    """Parse an ISO-8601 time in UTC, from 1970 on.

    Errors: ValueError for anything else, also for a time in another zone.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not UTC:
        if moment.utcoffset() != timedelta(0):
            raise ValueError("not in UTC")
        moment = moment.astimezone(UTC)
    if moment < _1970:
        raise ValueError("before 1970")
    return moment


def read_inventory(path: Path) -> Inventory:
    """Read and check an inventory file.

    Errors: :class:`BadInput` naming the file, the place in it and what was expected.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(str(path), "", f"cannot be read ({error.strerror}); expected an inventory file") from None
    return parse_inventory(data, source=str(path))


def parse_inventory(data: bytes, *, source: str) -> Inventory:
    """Decode and check the bytes of an inventory.

    ``source`` names them in errors. Errors: :class:`BadInput`, as of :func:`read_inventory`.
    """
    _check_utf_8(data, source)
    try:
        inventory = msgspec.json.decode(data, type=Inventory)
    except (msgspec.DecodeError, RecursionError) as error:
        # A file that is not an inventory at all is reported as that, and not by the first member that is wrong.
        document = _checked_document(data, source)
        raise _bad_input(str(error), document, source) from None
    _check_format(inventory.format, source)
    _check_values(inventory, source)
    return inventory


def render_inventory(inventory: Inventory) -> Iterator[bytes]:
    """The file's bytes in pieces: without members that are None, indented by two spaces, with a final newline.

    In pieces, because otherwise memory would hold a large inventory three times as text.
    """
    for number, (name, value) in enumerate(_known_members(inventory, inventory.__struct_fields__)):
        yield b'%b\n  "%b": ' % (b"," if number else b"{", name.encode())
        if not isinstance(value, tuple) or not value:
            yield msgspec.json.encode(value)
            continue
        for index, item in enumerate(value):
            rendered = msgspec.json.format(msgspec.json.encode(item), indent=2)
            yield b"%b\n    %b" % (b"," if index else b"[", rendered.replace(b"\n", b"\n    "))
        yield b"\n  ]"
    yield b"\n}\n"


def fingerprint(inventory: Inventory) -> str:
    """SHA-256 (hex) of the canonical inventory: without members that are None, keys and lists sorted."""
    digest = hashlib.sha256()
    for piece in _canonical_pieces(inventory):
        digest.update(piece)
    return digest.hexdigest()


def _canonical_pieces(inventory: Inventory) -> Iterator[bytes]:
    """The canonical JSON in pieces, to save memory."""
    lists = dict(_lists_of(Inventory))
    for number, (name, value) in enumerate(_known_members(inventory, sorted(inventory.__struct_fields__))):
        yield b'%b"%b":' % (b"," if number else b"{", name.encode())
        if name not in lists:
            yield _encode(value)
            continue
        yield b"["
        for index, item in enumerate(sorted(map(lists[name], value))):
            yield b"," + item if index else item
        yield b"]"
    yield b"}"


def _known_members(part: _Part, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name in names if (value := getattr(part, name)) is not None)


def _canonical(part: _Part) -> bytes:
    """The canonical JSON of a part that has lists."""
    lists = {}
    for name, of_item in _lists_of(type(part)):
        items = getattr(part, name)
        if items:
            lists[name] = msgspec.Raw(b"[" + b",".join(sorted(map(of_item, items))) + b"]")
    return _encode(replace(part, **lists) if lists else part)


@cache
def _lists_of(kind: type[_Part]) -> list[tuple[str, Callable[[Any], bytes]]]:
    """The members of a class of parts that are lists, each with the function that makes canonical JSON of an item."""
    return [
        (field.name, _canonical if _has_lists(get_args(choice)[0]) else _encode)
        for field in fields(kind)
        for choice in (field.type, *get_args(field.type))
        if get_origin(choice) is tuple
    ]


def _has_lists(kind: type) -> bool:
    return issubclass(kind, _Part) and bool(_lists_of(kind))


def _check_utf_8(data: bytes, source: str) -> None:
    if data.isascii():  # quick, and true of most
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(source, f"byte {error.start}", "is not UTF-8; expected UTF-8 text") from None


def _checked_document(data: bytes, source: str) -> dict[str, Any]:
    """The document as plain values. Errors: BadInput if this is not JSON, not an object, or of another format."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        if half := _HALF.search(str(error)):
            raise BadInput(source, half[1], HALF_A_CHARACTER) from None
        raise BadInput(source, "", f"is not JSON ({error}); expected an inventory, {FORMAT}") from None
    if not isinstance(document, dict):
        raise BadInput(source, "$", f"is not an object; expected an inventory, {FORMAT}")
    _check_format(document.get("format"), source)
    return document


def _check_format(found: Any, source: str) -> None:
    if found != FORMAT:
        raise BadInput(source, "$.format", f"is {shown(found)}; expected {FORMAT!r}")


def _bad_input(error: str, document: dict[str, Any], source: str) -> BadInput:
    """The error text of msgspec about a document, as a BadInput that names the member and what is expected."""
    problem, _, place = error.rpartition(" - at ")
    problem, place = (problem, place.strip("`")) if problem else (error, "$")
    place = _with_key(place, document)
    if missing := _MISSING.fullmatch(problem):
        return BadInput(source, f"{place}.{missing[1]}", "is missing; expected a value")
    if unknown := _NO_CHOICE.fullmatch(problem):
        choices = _CHOICES[place.rpartition(".")[2]]
        return BadInput(source, place, f"is {unknown[1]}; expected {' or '.join(choices)}")
    return BadInput(source, place, problem)


def _with_key(place: str, document: Any) -> str:
    """The place with the key of a broker's property, which msgspec leaves out: ``$.brokers[0].config[...]``."""
    if not place.endswith(_SOME_KEY):
        return place
    held, before = document, place.removesuffix(_SOME_KEY)
    for name, index in _STEP.findall(before):
        held = held[name] if name else held[int(index)]
    key = next((key for key, value in held.items() if not isinstance(value, str)), None)
    return place if key is None else f"{before}.{key}"


def _check_values(inventory: Inventory, source: str) -> None:
    """Check what types cannot express: names, times and repeated keys."""
    utc: set[str | None] = {None}

    def time(place: str, text: str | None) -> None:
        try:
            parse_utc(text or "")
        except (ValueError, OverflowError):
            problem = f"is {shown(text)}; expected a UTC ISO-8601 time such as 2026-11-20T02:00:00Z"
            raise BadInput(source, place, problem) from None
        utc.add(text)

    def unique(place: str, keys: Sequence[Hashable], names: str) -> None:
        if len(set(keys)) == len(keys):
            return
        seen: dict[Hashable, int] = {}
        for index, key in enumerate(keys):
            if (first := seen.setdefault(key, index)) != index:
                problem = f"repeats ({names}) = {shown(key)} of {place}[{first}]; expected each once"
                raise BadInput(source, f"{place}[{index}]", problem)

    if not CLUSTER_NAME.fullmatch(inventory.cluster_name):
        problem = f"is {shown(inventory.cluster_name)}; expected 1 to 255 of A-Z a-z 0-9 _ . -"
        raise BadInput(source, "$.cluster_name", problem)
    time("$.taken_at", inventory.taken_at)
    if inventory.recorded_at is not None:
        time("$.recorded_at", inventory.recorded_at)
    unique("$.brokers", [(b.broker_name, b.broker_id) for b in inventory.brokers], "broker_name, broker_id")
    for b, broker in enumerate(inventory.brokers):
        if broker.master_changed_at not in utc:
            time(f"$.brokers[{b}].master_changed_at", broker.master_changed_at)
        unique(f"$.brokers[{b}].drifted_topics", [t.topic for t in broker.drifted_topics or ()], "topic")
    views = inventory.nameserver_views or ()
    unique("$.nameserver_views", [view.nameserver_addr for view in views], "nameserver_addr")
    for v, view in enumerate(views):
        place = f"$.nameserver_views[{v}]"
        unique(f"{place}.brokers", [(b.broker_name, b.broker_id) for b in view.brokers or ()], "broker_name, broker_id")
        unique(f"{place}.routes", [route.topic for route in view.routes or ()], "topic")
        for r, route in enumerate(view.routes or ()):
            unique(f"{place}.routes[{r}].queues", [q.broker_name for q in route.queues], "broker_name")
    unique("$.proxies", [p.proxy_addr for p in inventory.proxies or ()], "proxy_addr")
    unique("$.topics", [t.topic for t in inventory.topics], "topic")
    unique("$.consumer_groups", [g.consumer_group for g in inventory.consumer_groups], "consumer_group")
    for t, topic in enumerate(inventory.topics):
        place = f"$.topics[{t}]"
        unique(f"{place}.queues", [q.broker_name for q in topic.queues or ()], "broker_name")
        written = [(o.broker_name, o.queue_id) for o in topic.offsets or ()]
        unique(f"{place}.offsets", written, "broker_name, queue_id")
    for g, group in enumerate(inventory.consumer_groups):
        place = f"$.consumer_groups[{g}]"
        unique(f"{place}.subscriptions", [s.topic for s in group.subscriptions or ()], "topic")
        unique(f"{place}.pass_ratios", [p.topic for p in group.pass_ratios or ()], "topic")
        read = [(o.topic, o.broker_name, o.queue_id) for o in group.offsets or ()]
        unique(f"{place}.offsets", read, "topic, broker_name, queue_id")
        for c, client in enumerate(group.clients or ()):
            if client.started_at not in utc:
                time(f"{place}.clients[{c}].started_at", client.started_at)
            if client.answered_at not in utc:
                time(f"{place}.clients[{c}].answered_at", client.answered_at)
            for q, held in enumerate(client.owned_queues or ()):
                for name in HELD_TIMES:
                    if (at := getattr(held, name)) not in utc:
                        time(f"{place}.clients[{c}].owned_queues[{q}].{name}", at)
            unique(f"{place}.clients[{c}].subscriptions", [s.topic for s in client.subscriptions or ()], "topic")
            unique(f"{place}.clients[{c}].status", [s.topic for s in client.status or ()], "topic")
        for o, offset in enumerate(group.offsets or ()):
            if offset.last_timestamp not in utc:
                time(f"{place}.offsets[{o}].last_timestamp", offset.last_timestamp)
            for s, sample in enumerate(offset.samples or ()):
                if sample.at not in utc:
                    time(f"{place}.offsets[{o}].samples[{s}].at", sample.at)


def distinct(names: Iterable[str]) -> list[str]:
    """The different names, in Java's order."""
    return sorted(set(names), key=java_order)
