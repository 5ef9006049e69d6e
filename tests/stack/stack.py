"""The whole deployment without containers: PostgreSQL, Spark, Airflow and a RocketMQ as processes on loopback."""

import json
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from rocketmq_capacity.store.lake import Lake
from tests.fixtures.chat_server import TAKEN, ChatServer, chat_server
from tests.fixtures.ports import free_port
from tests.stack.airflow import Airflow, Api, running_airflow
from tests.stack.postgres import Postgres, running_postgres
from tests.stack.service import Services
from tests.stack.shop import NAME, Shop, running_shop
from tests.stack.spark import Spark, running_spark
from tests.waiting import until

GOOD: Final = NAME
DEAD: Final = "gone"
"""Airflow's ids of the two connections: a cluster, and a name server that is not there."""

DAILY: Final = "rocketmq_capacity_plan"
WHAT_IF: Final = "rocketmq_what_if"
APPROVAL: Final = "rocketmq_capacity_approval"
DAGS: Final = (DAILY, WHAT_IF, APPROVAL)
ALL_TASKS: Final = "/pools/default_pool"
"""Of tasks without a pool of their own. Tasks whose pool is not there wait."""
WECOM: Final = {"webhook": "wecom"}
READ_WITHIN_S: Final = 600.0
CHANNEL: Final = "pay_chat"
"""Airflow's id of the connection by which the owner of g_pay is told."""
POLICY: Final = f"""
groups: [{{match: ^g_pay, owner: payments, channel: {CHANNEL}}}]
snapshot: {{sample_count: 2, sample_interval_s: 1}}
thresholds: {{LOW_UTILISATION: {{min_msgs_per_s: 1000}}}}
"""
"""Rates of one second instead of ten, which nothing may judge: of twenty messages now and then most meet in a queue."""


@dataclass(frozen=True)
class Stack:
    """What runs, and where it leaves what.

    Attributes:
        folder: everything that any of them writes, PostgreSQL's own files excepted.
        chat: where the owner of g_pay is told.
        planted: what is kept secret in the connection of the good cluster, by field.
        token: what is kept secret in the address of the chat.
    """

    folder: Path
    shop: Shop
    postgres: Postgres
    spark: Spark
    airflow: Airflow
    admin: Api
    chat: ChatServer
    planted: dict[str, str] = field(repr=False)
    token: str = field(repr=False)

    @property
    def lake(self) -> Lake:
        """Where plans stand."""
        return Lake(self.folder / "lake")

    @property
    def what_ifs(self) -> Lake:
        """Where what-ifs stand."""
        return Lake(self.folder / "what_ifs")

    @property
    def policy(self) -> Path:
        """The deployment's policy."""
        return self.folder / "policy.yaml"

    @property
    def temporary(self) -> Path:
        """Where tasks and Spark put what lives for a moment."""
        return self.folder / "tmp"


@contextmanager
def running_stack(folder: Path, told: Callable[[str], None]) -> Iterator[Stack]:
    """Everything, well and configured, its Dags switched on and none of them running.

    Args:
        folder: an empty one.
        told: is called as the parts come up.

    Errors: PostgresMissing, OracleUnavailable where the machine lacks something; StackError, ClusterError where a part
    does not come up.
    """
    for name in ("tmp", "inventories"):
        (folder / name).mkdir(parents=True)
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    with ExitStack() as ending, ThreadPoolExecutor(1) as side:
        services = ending.enter_context(Services(folder / "services"))
        shop = side.submit(ending.enter_context, running_shop())
        postgres = ending.enter_context(running_postgres(services))
        told("PostgreSQL")
        spark = ending.enter_context(running_spark(services))
        told("Spark")
        airflow = ending.enter_context(running_airflow(services, postgres, spark, _deployment(folder)))
        told("Airflow")
        cluster = shop.result()
        told("RocketMQ")
        planted = {"password": secrets.token_hex(16), "security_token": secrets.token_hex(16)}
        chat = ending.enter_context(chat_server())
        chat.answer = TAKEN["wecom"]
        stack = Stack(folder, cluster, postgres, spark, airflow, airflow.api(), chat, planted, secrets.token_hex(16))
        _configure(stack)
        told("Dags")
        yield stack


def _deployment(folder: Path) -> dict[str, str]:
    return {
        "RMQC_CLUSTERS": f"{GOOD},{DEAD}",
        "RMQC_LAKE": str(folder / "lake"),
        "RMQC_WHAT_IFS": str(folder / "what_ifs"),
        "RMQC_INVENTORIES": str(folder / "inventories"),
        "RMQC_POLICY": str(folder / "policy.yaml"),
        "TMPDIR": str(folder / "tmp"),
    }


def _configure(stack: Stack) -> None:
    """What an operator does once, through the public API."""
    keys = {"login": "reader", "password": stack.planted["password"]}
    # The cluster shares the machine with all the rest, and no request may fail.
    patience = {"connect_timeout_s": 60, "request_timeout_s": 60}
    extra = json.dumps({"security_token": stack.planted["security_token"], **patience})
    good = {"connection_id": GOOD, "conn_type": "rocketmq", "host": stack.shop.nameserver, "extra": extra, **keys}
    dead = {"connection_id": DEAD, "conn_type": "rocketmq", "host": f"127.0.0.1:{free_port()}"}
    robot = f"{stack.chat.address}/robot?key={stack.token}"
    chat = {"connection_id": CHANNEL, "conn_type": "generic", "password": robot, "extra": json.dumps(WECOM)}
    for connection in (good, dead, chat):
        stack.admin.send("POST", "/connections", connection)
    # Switched on, a daily Dag makes the run of today at once; these tests make their own. Without slots it does nothing
    # before it is ended.
    stack.admin.send("PATCH", ALL_TASKS, {"slots": 0}, update_mask="slots")
    for dag in DAGS:
        until(partial(_is_read, stack, dag), READ_WITHIN_S, f"Airflow to read {dag}")
        stack.admin.switch_on(dag)
    for run in until(lambda: stack.admin.runs(DAILY), READ_WITHIN_S, "the run of today"):
        run.end("failed")
    pool = {"name": "rocketmq_capacity", "slots": 2, "description": "Spark drivers of plans at once"}
    stack.admin.send("POST", "/pools", {**pool, "include_deferred": False})
    stack.admin.send("PATCH", ALL_TASKS, {"slots": 128}, update_mask="slots")


def _is_read(stack: Stack, dag: str) -> bool:
    return stack.admin.ask("GET", f"/dags/{dag}").is_success
