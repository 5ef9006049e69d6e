"""What a whole cluster says: any bytes for any request give a snapshot that can be stored, or one line.

An input is a script, one line for each answer of a small cluster that it replaces: request code, response code and body
(or remark). With the response code ``frame``, the rest of the line is sent as it is, in place of a response.
"""

import logging
import re
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.protocol.body.cluster import decode_cluster_info
from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.compression import inflate
from rocketmq_capacity.protocol.errors import BodyError
from rocketmq_capacity.snapshot.collect import CollectOptions
from rocketmq_capacity.snapshot.inventory_file import parse_inventory, render_inventory
from tests.fuzz.target import LONGEST_ERROR, Target
from tests.protocol.test_recorded_bodies import RECORDED
from tests.snapshot.told_cluster import Rule, ToldBroker, ToldProxy, connection, group_table, snapshot_of, topic_table

LIMIT_S: Final = 1.0
"""Seconds for which a snapshot asks."""
LONGEST_S: Final = 60.0
"""Seconds that a snapshot may take on a loaded machine; it usually takes a hundredth of a second."""
MOST_MORE_BYTES: Final = 256 * 2**20
"""Memory that one small script may add to the process."""
PAY: Final = '{"brokerName":"a","queueId":0,"topic":"pay"}'
QUICK: Final = CollectOptions(
    limit_s=LIMIT_S,
    settings=ConnectionSettings(
        request_timeout_s=LIMIT_S / 4,
        attempts=1,
        retry_wait_s=0.01,
        max_frame_bytes=2**20,
        max_body_bytes=2**22,
    ),
)
ANSWERS: Final[dict[int, Any]] = {
    21: topic_table("pay"),
    43: (0, {"offsetTable": {"pay@g": {"0": 1}}}),
    201: group_table("g"),
    202: (0, f'{{"offsetTable":{{{PAY}:{{"minOffset":0,"maxOffset":5}}}}}}'),
    203: connection("c"),
    208: (0, f'{{"offsetTable":{{{PAY}:{{"brokerOffset":5,"consumerOffset":1,"lastTimestamp":0}}}}}}'),
    307: (0, f'{{"properties":{{}},"mqTable":{{{PAY}:{{"cachedMsgCount":1}}}},"statusTable":{{"pay":{{}}}}}}'),
    328: (0, {"data": {"p": [{"clientId": "c", "version": 1, "remoteIP": "/10.0.0.1:1"}]}}),
    402: (0, {"messageRequestModeMap": {"pay": {"g": {"mode": "POP", "popShareQueueNum": 1}}}}),
}
ROUTE: Final = {
    "queueDatas": [{"brokerName": "a", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}],
    "brokerDatas": [],
}
GET_BROKER_CLUSTER_INFO: Final = int(RequestCode.GET_BROKER_CLUSTER_INFO)
OF_NAME_SERVER: Final = (105, 106, 206)
OF_BROKER: Final = (21, 26, 28, 43, 201, 202, 203, 208, 307, 328, 402)
OF_PROXY: Final = 38
"""Only a Proxy is asked this; a script with it has a Proxy, whose answer to 203 is an error."""
LINE: Final = re.compile(rb"(\d{1,3}) (frame|\d{1,9}) ?(.*)", re.DOTALL)
NOBODY: Final = "127.0.0.1:1"


def take_snapshot(data: bytes) -> None:
    """Take a snapshot of the cluster that answers by the script."""
    script = dict(_rules(data))
    if not _names_only_nobody(script.get(GET_BROKER_CLUSTER_INFO)):
        return
    before, begin = _memory_bytes(), time.monotonic()
    with _unhandled() as unhandled:
        try:
            taken = snapshot_of(
                [ToldBroker("a", rules={**ANSWERS, **{code: script[code] for code in OF_BROKER if code in script}})],
                proxies=[ToldProxy({203: (1, "no"), OF_PROXY: script[OF_PROXY]})] if OF_PROXY in script else [],
                name_server={105: (0, ROUTE), **{code: script[code] for code in OF_NAME_SERVER if code in script}},
                options=QUICK,
            )
        except ClusterUnreachable as error:
            line = str(error)
            assert line.isprintable(), line
            assert len(line) <= LONGEST_ERROR, len(line)
        else:
            assert parse_inventory(b"".join(render_inventory(taken)), source="stored") == taken
    assert unhandled == []
    assert time.monotonic() - begin < LONGEST_S
    assert _memory_bytes() - before < MOST_MORE_BYTES


def seeds() -> Iterator[bytes]:
    """Scripts of one real answer each; only bodies without a line end fit."""
    for file in sorted(RECORDED.glob("*.txt")):
        body = file.read_bytes().strip()
        if b"\n" not in body and not file.name.startswith("106"):
            yield b"%d 0 %b" % (int(file.name[:3]), body)


def _rules(data: bytes) -> Iterator[tuple[int, Rule]]:
    """The answers of a script, by request code; a line of another form is left out."""
    for line in data.split(b"\n"):
        if found := LINE.fullmatch(line):
            code, response, said = int(found[1]), found[2], found[3]
            if response == b"frame":
                yield code, said
            elif int(response):
                yield code, (int(response), said.decode(errors="replace"))
            else:
                yield code, (0, said)


def _names_only_nobody(rule: Rule | None) -> bool:
    """Whether an answer to 106 makes the snapshot connect to no address but one where nobody listens."""
    if not isinstance(rule, tuple) or not isinstance(rule[1], bytes):
        return True
    try:
        info = decode_cluster_info(inflate(rule[1], max_body_bytes=QUICK.settings.max_body_bytes))
    except BodyError:
        return True
    return all(address == NOBODY for broker in info.brokers for address in broker.addresses.values())


@contextmanager
def _unhandled() -> Iterator[list[str]]:
    """What asyncio logs meanwhile of errors that nobody handled."""
    found: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]  # its one method
    logging.getLogger("asyncio").addHandler(handler)
    try:
        yield found
    finally:
        logging.getLogger("asyncio").removeHandler(handler)


def _memory_bytes() -> int:
    """The most memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


TARGETS: Final = (Target("snapshots", take_snapshot, seeds, share=0.03),)
