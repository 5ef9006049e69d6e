"""Who is told what: nobody without a connection; by mail, or by any notifier of Airflow, with one."""

import json
import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message
from airflow.sdk import BaseNotifier, Connection, Context

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.provider.channels import filled_in, notifier_of
from rocketmq_capacity.provider.notice import CONNECTION, late_alerts, send, send_failed, send_late, send_published
from rocketmq_capacity.provider.notice_text import NoticeLine, notice
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from tests.fixtures.ports import free_port
from tests.plugins.stored_reports import LAST, put, rows_of

pytestmark = pytest.mark.airflow

LINK = "http://127.0.0.1:8080/rocketmq-capacity/"
NOTICE = notice("RocketMQ capacity", NoticeLine("Two findings"), NoticeLine("<script>", LINK, " & more"), link=LINK)

NOTED = f"{__name__}.Noted"
SMTP = "airflow.providers.smtp.notifications.smtp.SmtpNotifier"


class Inbox(Message):
    """What a mail server was given."""

    def __init__(self) -> None:
        super().__init__()
        self.mails: list[EmailMessage] = []

    def prepare_message(self, _session: Any, envelope: Any) -> EmailMessage:
        return message_from_bytes(envelope.content, policy=policy.default)

    def handle_message(self, message: Any) -> None:
        self.mails.append(message)


class Noted(BaseNotifier):
    """A notifier that remembers, as a team may have one of its own."""

    told: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        self.arguments = arguments

    def notify(self, _context: Context) -> None:
        self.told.append(self.arguments)


@pytest.fixture
def mailed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EmailMessage]]:
    """The mails that a real server gets, which the connection names."""
    inbox = Inbox()
    port = free_port()
    server = Controller(inbox, hostname="127.0.0.1", port=port)
    server.start()
    host = {"conn_type": "smtp", "host": "127.0.0.1", "port": port}
    extra = {"to": "sre@example.org", "from_email": "airflow@example.org", "disable_ssl": True, "disable_tls": True}
    set_connection(monkeypatch, host | {"extra": extra})
    yield inbox.mails
    server.stop()


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the team's notifier is told."""
    Noted.told.clear()
    arguments = {"channel": "#sre", "text": "SUBJECT: TEXT", "links": ["LINK"]}
    extra = {"notifier": f"{Noted.__module__}.Noted", "arguments": arguments}
    monkeypatch.setitem(sys.modules, Noted.__module__, sys.modules[__name__])
    set_connection(monkeypatch, {"conn_type": "generic", "extra": extra})
    return Noted.told


def set_connection(monkeypatch: pytest.MonkeyPatch, connection: dict[str, Any]) -> None:
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", json.dumps(connection))


def connection(conn_type: str, extra: dict[str, Any]) -> Connection:
    return Connection(conn_id=CONNECTION, conn_type=conn_type, extra=json.dumps(extra))


def context(**values: Any) -> Context:
    return cast("Context", values)


def test_nothing_is_sent_without_a_connection() -> None:
    send(NOTICE, context())


def test_a_mail_has_the_notice_and_no_markup_but_its_own(mailed: list[EmailMessage]) -> None:
    send(NOTICE, context())

    (mail,) = mailed
    assert (mail["to"], mail["from"]) == ("sre@example.org", "airflow@example.org")
    assert mail["subject"] == NOTICE.subject
    body = mail.get_body(("html",))
    assert body is not None
    assert f'Two findings<br><a href="{LINK}">&lt;script&gt;</a> &amp; more' in body.get_content()
    assert f'<a href="{NOTICE.link}">' in body.get_content()


def test_a_name_that_is_a_template_is_sent_as_it_is(mailed: list[EmailMessage]) -> None:
    name = "{{ 7 * 7 }} {% raw %} {# {{ conn.rocketmq_capacity_notice.password }}"
    send(notice(name, NoticeLine(name), link=LINK), context())

    assert mailed[0]["subject"] == name
    body = mailed[0].get_body(("html",))
    assert body is not None
    assert f"<p>{name}</p>" in body.get_content()


def test_the_words_are_replaced_in_one_pass() -> None:
    told = notice("TEXT of LINK", NoticeLine("SUBJECT {x}"), link=LINK)

    arguments = {"a": "SUBJECT: TEXT, see LINK", "b": [{"c": "TEXT"}, 3], "rendered": "TEXT"}
    assert filled_in(arguments, told, ("rendered",)) == {
        "a": f"TEXT of LINK: SUBJECT {{x}}, see {LINK}",
        "b": [{"c": "SUBJECT {x}"}, 3],
        "rendered": "SUBJECT {{ '{' }}x}",
    }


def test_a_mail_server_that_is_gone_is_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    extra = {"to": "sre@example.org", "from_email": "a@example.org", "disable_ssl": True, "disable_tls": True}
    nowhere = {"conn_type": "smtp", "host": "127.0.0.1", "port": free_port(), "extra": extra | {"retry_limit": 0}}
    set_connection(monkeypatch, nowhere)

    send(NOTICE, context())

    lines = [one.getMessage() for one in caplog.records if one.levelname == "ERROR"]
    assert lines == [f"{CONNECTION}: no notice is sent: the notifier failed with ConnectionRefusedError"]


def test_the_notice_of_a_plan_has_its_counts_and_its_link(
    noted: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "http://airflow.example.org/base")
    run = put(tmp_path, "r1", rows_of(LAST))
    run.inventory.touch()
    findings = json.loads((run.report / "plan.json").read_bytes())["findings"]
    critical = sum(finding["severity"] == "CRITICAL" for finding in findings)

    places = DeploymentPlaces.of(tmp_path, {"RMQC_LAKE": str(tmp_path)})
    send_published(context(ti=SimpleNamespace(task=SimpleNamespace(run_key="r1"))), places=places)

    (told,) = noted
    assert told["channel"] == "#sre"
    assert told["text"].startswith(f"RocketMQ capacity of prod-eu-1: {critical} CRITICAL, ")
    assert told["links"] == ["http://airflow.example.org/base/rocketmq-capacity/reports/plans/prod-eu-1/r1/"]


def test_the_notice_of_a_failed_task_names_its_run(noted: list[dict[str, Any]]) -> None:
    run = SimpleNamespace(dag_id="rocketmq_capacity_plan", run_id="manual__1")

    send_failed(context(ti=SimpleNamespace(task_id="plan.snapshot"), dag_run=run))

    assert noted[0]["text"] == "RocketMQ capacity: plan.snapshot of rocketmq_capacity_plan failed: Run manual__1."
    assert noted[0]["links"][0].endswith("/dags/rocketmq_capacity_plan/runs/manual__1")


def test_a_late_run_sends_a_notice(noted: list[dict[str, Any]]) -> None:
    send_late({"dag_run": {"dag_id": "rocketmq_capacity_plan", "dag_run_id": "scheduled__1"}})

    assert "rocketmq_capacity_plan is late" in noted[0]["text"]


def test_no_run_is_late_unless_the_deployment_says_when(tmp_path: Path) -> None:
    assert late_alerts(DeploymentPlaces.of(tmp_path, {})) is None


def test_a_run_is_late_after_the_minutes_that_the_deployment_says(tmp_path: Path) -> None:
    (alert,) = late_alerts(DeploymentPlaces.of(tmp_path, {"RMQC_LATE_AFTER_MINUTES": "90"})) or []

    assert alert.interval == timedelta(minutes=90)
    assert alert.callback.path == "rocketmq_capacity.provider.notice.send_late"


@pytest.mark.parametrize("minutes", ["0", "-5", "1.5", "soon", "10081"])
def test_minutes_that_are_none_are_refused(minutes: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="RMQC_LATE_AFTER_MINUTES"):
        DeploymentPlaces.of(tmp_path, {"RMQC_LATE_AFTER_MINUTES": minutes})


@pytest.mark.parametrize(
    ("conn_type", "extra", "place"),
    [
        ("smtp", {}, "extra.to"),
        ("generic", {}, "extra.notifier"),
        ("generic", {"notifier": "no.such.Class"}, "extra.notifier"),
        ("generic", {"notifier": "json.Nothing"}, "extra.notifier"),
        ("generic", {"notifier": "airflow.sdk.BaseNotifier"}, "extra.notifier"),
        ("generic", {"notifier": ["os", "system"]}, "extra.notifier"),
        ("generic", {"notifier": NOTED, "arguments": ["text"]}, "extra.arguments"),
        ("generic", {"notifier": SMTP, "arguments": {"too": "sre@example.org"}}, "extra.arguments"),
    ],
)
def test_a_connection_that_says_no_way_is_refused_with_the_place(
    conn_type: str, extra: dict[str, Any], place: str
) -> None:
    with pytest.raises(BadInput, match=rf"connection {CONNECTION}: {place}"):
        notifier_of(connection(conn_type, extra), NOTICE)


@pytest.mark.parametrize(
    ("notifier", "arguments"),
    [
        ("subprocess.Popen", {"args": ["touch", "FILE"]}),
        ("os.system", {"command": "touch FILE"}),
        ("os.mkdir", {"path": "FILE"}),
        ("pathlib.Path", {}),
    ],
)
def test_nothing_but_a_notifier_is_called(notifier: str, arguments: dict[str, Any], tmp_path: Path) -> None:
    made = tmp_path / "made"
    extra = {"notifier": notifier, "arguments": json.loads(json.dumps(arguments).replace("FILE", str(made)))}

    expected = re.escape(
        f"connection {CONNECTION}: extra.notifier: is {notifier!r}; expected the name of an installed class, "
        "a subclass of airflow.sdk.BaseNotifier"
    )
    with pytest.raises(BadInput, match=expected):
        notifier_of(connection("generic", extra), NOTICE)
    assert not made.exists()
