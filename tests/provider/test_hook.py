"""A connection of type rocketmq, in real Airflow: its form, what is read from it, and what testing it says."""

import asyncio
import json
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from rocketmq_capacity.errors import BadInput

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from rocketmq_capacity.provider.hook import ClusterConnection
    from tests.cluster.guarded import GuardedCluster

pytestmark = pytest.mark.airflow

SECRET: Final = "never-to-be-told"
WHOLE: Final = {
    "conn_type": "rocketmq",
    "host": "10.0.9.1:9876; 10.0.9.2:9876",
    "login": "reader",
    "password": SECRET,
    "extra": {"security_token": "neither-this", "tls": True, "tls_verify": False, "connect_timeout_s": 2},
}


def set_connection(monkeypatch: pytest.MonkeyPatch, connection: dict[str, Any] | str) -> None:
    text = connection if isinstance(connection, str) else json.dumps(connection)
    monkeypatch.setenv("AIRFLOW_CONN_C1", text)


def read(monkeypatch: pytest.MonkeyPatch, connection: dict[str, Any] | str) -> "ClusterConnection":
    from rocketmq_capacity.provider.hook import RocketmqHook

    set_connection(monkeypatch, connection)
    return RocketmqHook("c1").get_conn()


def refusal(monkeypatch: pytest.MonkeyPatch, **changed: Any) -> str:
    with pytest.raises(BadInput) as refused:
        read(monkeypatch, WHOLE | changed)
    said = str(refused.value)
    assert said.startswith("connection c1: ")
    assert SECRET not in said
    return said.removeprefix("connection c1: ")


def test_airflow_finds_the_hook_and_the_form_without_a_complaint(caplog: pytest.LogCaptureFixture) -> None:
    from airflow.providers_manager import ProvidersManager

    from rocketmq_capacity.client.options import ConnectionOptions
    from rocketmq_capacity.provider.hook import RocketmqHook

    manager = ProvidersManager()
    hook = manager.hooks["rocketmq"]
    assert hook is not None
    assert (hook.hook_name, hook.connection_type, hook.connection_id_attribute_name, hook.connection_testable) == (
        RocketmqHook.hook_name,
        RocketmqHook.conn_type,
        RocketmqHook.conn_name_attr,
        True,
    )
    shown = {
        name.removeprefix("extra__rocketmq__"): widget
        for name, widget in manager.connection_form_widgets.items()
        if name.startswith("extra__rocketmq__")
    }
    assert set(shown) == set(ConnectionOptions.model_fields) - {"access_key", "secret_key"}
    assert [name for name, widget in shown.items() if widget.is_sensitive] == ["security_token"]
    for name, widget in shown.items():
        default = ConnectionOptions.model_fields[name].default
        assert (widget.field["value"], widget.field["schema"]["title"] != "") == (default, True)
    behaviour = manager.field_behaviours["rocketmq"]
    assert behaviour["relabeling"] == {"host": "Name servers", "login": "Access key", "password": "Secret key"}
    assert not [record for record in caplog.records if "rocketmq" in record.getMessage().lower()]


def test_the_client_gets_what_the_form_says(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = read(monkeypatch, WHOLE)
    assert connection.nameservers == "10.0.9.1:9876;10.0.9.2:9876"
    settings = connection.settings()
    assert settings.credentials is not None
    assert (settings.credentials.access_key, settings.credentials.secret_key) == ("reader", SECRET)
    assert settings.credentials.security_token == "neither-this"
    assert settings.tls is not None
    assert (settings.connect_timeout_s, settings.request_timeout_s) == (2.0, 5.0)


@pytest.mark.parametrize("proxies", ["10.0.8.1:8080;10.0.8.2:8080", " 10.0.8.1:8080 ; 10.0.8.2:8080; "])
def test_the_form_names_proxies_as_it_names_name_servers(monkeypatch: pytest.MonkeyPatch, proxies: str) -> None:
    connection = read(monkeypatch, {**WHOLE, "extra": {"proxies": proxies}})
    assert [str(address) for address in connection.settings().proxies] == ["10.0.8.1:8080", "10.0.8.2:8080"]
    assert read(monkeypatch, WHOLE).settings().proxies == ()


def test_printing_a_connection_shows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = read(monkeypatch, WHOLE)
    shown = f"{connection!r} {connection} {connection.settings()}"
    assert SECRET not in shown
    assert "neither-this" not in shown


def test_fields_that_were_left_empty_are_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = {"login": "", "password": "", "extra": {"tls": None, "tls_ca_file": "", "connect_timeout_s": None}}
    for extra in (empty["extra"], {}, None):
        settings = read(monkeypatch, {**WHOLE, **empty, "extra": extra}).settings()
        assert (settings.credentials, settings.tls, settings.connect_timeout_s) == (None, None, 3.0)


def test_a_connection_may_be_given_as_a_uri(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = read(
        monkeypatch,
        "rocketmq://reader:s%2Fcret@10.0.9.1:9876/?tls=true&tls_verify=False&request_timeout_s=7&in_flight=4",
    )
    assert connection.nameservers == "10.0.9.1:9876"
    settings = connection.settings()
    assert settings.credentials is not None
    assert settings.credentials.secret_key == "s/cret"
    assert (settings.request_timeout_s, settings.in_flight) == (7.0, 4)
    assert settings.tls is not None


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"conn_type": "http"}, "conn_type: is 'http'; expected 'rocketmq'"),
        ({"host": ""}, "host: names no address; expected HOST:PORT[;HOST:PORT...]"),
        ({"host": "10.0.9.1"}, "host: '10.0.9.1' is not an address; expected HOST:PORT with a port from 1 to 65535"),
        ({"login": ""}, "login: is missing; expected it together with secret_key"),
        ({"password": ""}, "password: is missing; expected it together with access_key"),
        ({"password": f"{SECRET}\n"}, "password: is empty, or has a blank at an end or a control character"),
        (
            {"extra": {"proxies": "10.0.8.1"}},
            "proxies: has a value that is not an address; expected a list of addresses",
        ),
        ({"extra": {"proxies": SECRET}}, "proxies: has a value that is not an address; expected a list of addresses"),
        ({"extra": {"proxies": 8080}}, "proxies: is not a list; expected a list of addresses"),
        ({"extra": {"tls": "maybe"}}, "tls: is not a switch; expected true or false"),
        ({"extra": {"request_timeout_s": "soon"}}, "request_timeout_s: is not a number; expected seconds"),
        ({"extra": {"tls_verfy": False}}, "tls_verfy: is not a known key; the nearest known key is 'tls_verify'"),
        ({"extra": {"tls": True, "tls_ca_file": "ca.pem"}}, "tls_ca_file: is not an absolute path; expected one"),
        ({"extra": {"tls_ca_file": "/ca.pem"}}, "tls_ca_file: has no effect without TLS; expected tls: true as well"),
        ({"extra": '{"tls": false, "tls": true}'}, "extra: a member is given twice; expected each member of an object"),
        ({"extra": f"{{not JSON, {SECRET}"}, "extra: is not a JSON object; expected one with the fields of the form"),
    ],
)
def test_what_is_not_as_it_should_be_is_named_by_its_field(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], words: str
) -> None:
    assert refusal(monkeypatch, **changed).startswith(words)


def test_testing_a_connection_that_is_not_as_it_should_be_says_so_and_asks_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rocketmq_capacity.provider.hook import RocketmqHook

    set_connection(monkeypatch, {**WHOLE, "extra": {"tls": True, "tls_ca_file": "/absent.pem"}})
    status, said = RocketmqHook("c1").test_connection()
    assert not status
    assert said.startswith(
        "connection c1: tls_ca_file: /absent.pem cannot be read (No such file or directory); expected "
    )


@pytest.fixture
def api(airflow_database: None, monkeypatch: pytest.MonkeyPatch) -> Iterator["TestClient"]:
    """Airflow's own API, with somebody logged in who may do everything."""
    from airflow.api_fastapi.app import create_app, purge_cached_app
    from fastapi.testclient import TestClient

    monkeypatch.setenv("AIRFLOW__CORE__TEST_CONNECTION", "Enabled")
    monkeypatch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS", "True")
    purge_cached_app()
    with TestClient(create_app(apps="all"), base_url="http://localhost") as client:
        token = client.get("/auth/token").json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        yield client
    purge_cached_app()


def test_the_form_of_the_ui_has_the_type(api: "TestClient") -> None:
    listed = api.get("/ui/connections/hook_meta")
    assert listed.status_code == 200
    (form,) = (one for one in listed.json() if one["connection_type"] == "rocketmq")
    assert form["hook_name"] == "RocketMQ"
    assert form["standard_fields"]["host"]["title"] == "Name servers"
    assert form["standard_fields"]["port"]["hidden"]
    assert form["extra_fields"]["security_token"]["schema"]["format"] == "password"
    assert form["extra_fields"]["tls_verify"]["value"] is True


def test_a_stored_connection_shows_no_secret(api: "TestClient") -> None:
    body = {
        "connection_id": "shown",
        **WHOLE,
        "extra": json.dumps(WHOLE["extra"]),
    }
    assert api.post("/api/v2/connections", json=body).status_code == 201
    shown = api.get("/api/v2/connections/shown").text
    assert "reader" in shown
    assert SECRET not in shown
    assert "neither-this" not in shown


PATIENT: Final = {"connect_timeout_s": 60, "request_timeout_s": 60}
"""The cluster has just started, on a machine that may do much else."""


def result_of_testing(
    api: "TestClient", guarded: "GuardedCluster", nameserver: str, **changed: Any
) -> tuple[bool, str]:
    """What Airflow's API says of such a connection."""
    options = guarded.options(**PATIENT, **changed)
    body = {
        "connection_id": "guarded",
        "conn_type": "rocketmq",
        "host": nameserver,
        "login": options.pop("access_key"),
        "password": options.pop("secret_key"),
        "extra": json.dumps(options),
    }
    answer = api.post("/api/v2/connections/test", json=body)
    assert answer.status_code == 200, answer.text
    assert guarded.secret_key not in answer.text
    assert "wrong-and-not-to-be-told" not in answer.text
    said = answer.json()
    return said["status"], said["message"]


@pytest.mark.real_cluster
@pytest.mark.slow
def test_testing_a_connection_says_who_answered_and_who_did_not(
    api: "TestClient", guarded_cluster: "GuardedCluster"
) -> None:
    nameserver = guarded_cluster.nameserver
    brokers = {name: address for (name, _), address in guarded_cluster.cluster.broker_addrs.items()}
    nobody = "127.0.0.1:1"
    assert result_of_testing(api, guarded_cluster, f"{nameserver};{nobody}") == (
        True,
        f"1 of 2 name servers answered (name server {nameserver}: answered, "
        f"name server {nobody}: cannot connect: Connection refused); cluster C1; 2 of 2 brokers answered "
        f"(broker-a 0 {brokers['broker-a']}: V5_3_3, broker-b 0 {brokers['broker-b']}: V5_3_3)",
    )
    refused = "answered code 16 (NO_PERMISSION): check signature failed."
    assert result_of_testing(api, guarded_cluster, nameserver, secret_key="wrong-and-not-to-be-told") == (
        False,
        f"1 of 1 name servers answered (name server {nameserver}: answered); cluster C1; 0 of 2 brokers answered "
        f"(broker-a 0 {brokers['broker-a']}: {refused}, broker-b 0 {brokers['broker-b']}: {refused})",
    )
    status, message = result_of_testing(api, guarded_cluster, nameserver, tls_ca_file=None)
    assert not status
    assert message.startswith(f"0 of 1 name servers answered (name server {nameserver}: cannot connect: ")
    assert "certificate verify failed" in message


@pytest.mark.real_cluster
@pytest.mark.slow
def test_the_file_for_the_spark_app_lets_in_and_is_gone_afterwards(
    guarded_cluster: "GuardedCluster", monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocketmq_capacity.client.options import read_connection
    from rocketmq_capacity.client.reach import reach
    from rocketmq_capacity.provider.connection_file import connection_file

    options = guarded_cluster.options(**PATIENT)
    keys = {"login": options.pop("access_key"), "password": options.pop("secret_key")}
    set_connection(monkeypatch, {"conn_type": "rocketmq", "host": guarded_cluster.nameserver, **keys, "extra": options})
    with connection_file("c1") as (nameservers, file):
        assert nameservers == guarded_cluster.nameserver
        assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)
        settings = read_connection(file)
    assert asyncio.run(reach([nameservers], settings)).is_enough
    assert not file.parent.exists()
