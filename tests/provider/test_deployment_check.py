"""What ``doctor --airflow`` says of a deployment: what is there, what is not, and how to mend it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketmq_capacity.provider.deployment_check import Checked, deployment_parts
from rocketmq_capacity.provider.spark_app import POOL
from tests.cli.program import run

pytestmark = pytest.mark.airflow

CLUSTER = {"conn_type": "rocketmq", "host": "10.0.9.1:9876"}
NOTICE = "connection rocketmq_capacity_notice"


@pytest.fixture
def environment(airflow_database: None, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """A deployment with a lake of its own, and without clusters, notice and pool."""
    from airflow.models.pool import Pool

    with pytest.MonkeyPatch.context() as patch:
        for name in [one for one in os.environ if one.startswith("RMQC_")]:
            patch.delenv(name)
        patch.setenv("RMQC_LAKE", str(tmp_path / "lake"))
        patch.setenv("RMQC_WHAT_IFS", str(tmp_path / "what_ifs"))
        yield patch
    if Pool.get_pool(POOL) is not None:
        Pool.delete_pool(POOL)


def checked() -> dict[str, Checked]:
    return {one.name: one for one in deployment_parts()}


def test_a_deployment_without_its_pool_is_told_how_to_make_it(environment: pytest.MonkeyPatch) -> None:
    from airflow.models.pool import Pool

    name = f"pool {POOL}"
    assert checked()[name] == Checked(
        name, "missing: every task would wait for ever", f'airflow pools set {POOL} 2 "clusters planned at once"'
    )

    Pool.create_or_update_pool(POOL, slots=3, description="", include_deferred=False)
    assert checked()[name] == Checked(name, "3 slots")


def test_each_cluster_needs_a_connection_of_its_type(environment: pytest.MonkeyPatch) -> None:
    assert checked()["clusters"].state == "none in RMQC_CLUSTERS: the recorded sample is planned"

    environment.setenv("RMQC_CLUSTERS", "shop,bank,lost")
    environment.setenv("AIRFLOW_CONN_SHOP", json.dumps(CLUSTER))
    environment.setenv("AIRFLOW_CONN_BANK", json.dumps({"conn_type": "http", "host": "bank"}))
    found = checked()

    assert found["connection shop"] == Checked("connection shop", "name servers 10.0.9.1:9876")
    assert found["connection bank"].mend == "connection bank: conn_type: is 'http'; expected 'rocketmq'"
    assert found["connection lost"].state == "missing"
    assert found["connection lost"].mend.startswith("airflow connections add lost --conn-type rocketmq")


def test_the_connection_of_spark_has_its_type_and_a_master(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    assert checked()["connection spark_default"] == Checked("connection spark_default", "spark, local[2]")

    environment.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "http", "host": "x"}))
    assert checked()["connection spark_default"].mend.startswith("make it one of the type spark")


def test_a_lake_is_a_place_that_can_be_used(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert checked()["RMQC_LAKE"] == Checked("RMQC_LAKE", str(tmp_path / "lake"))

    environment.setenv("RMQC_WHAT_IFS", "ftp://elsewhere")
    assert checked()["RMQC_WHAT_IFS"].state == "not reached"
    assert "ftp" in checked()["RMQC_WHAT_IFS"].mend


def test_a_notice_is_optional_but_must_be_right(environment: pytest.MonkeyPatch) -> None:
    assert checked()[NOTICE] == Checked(NOTICE, "none: no notice is sent")

    environment.setenv("AIRFLOW_CONN_ROCKETMQ_CAPACITY_NOTICE", json.dumps({"conn_type": "smtp", "host": "mail"}))
    assert checked()[NOTICE].mend.startswith("connection rocketmq_capacity_notice: extra.to: is missing")


def test_each_channel_of_the_policy_needs_its_connection(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    channels = {"pay": ("payments", "pay_chat"), "fee": ("fees", "pay_chat"), "ship": ("logistics", "ship_mail")}
    groups = [{"match": match, "owner": owner, "channel": told} for match, (owner, told) in channels.items()]
    policy.write_text(json.dumps({"groups": groups}))
    environment.setenv("RMQC_POLICY", str(policy))
    chat = {"conn_type": "generic", "password": "https://chat.example.org/robot/t0ken", "extra": {"webhook": "wecom"}}
    environment.setenv("AIRFLOW_CONN_PAY_CHAT", json.dumps(chat))
    found = checked()

    assert found["connection pay_chat"] == Checked("connection pay_chat", "sends by wecom")
    assert found["connection ship_mail"].state == "missing: no notice for logistics"
    assert found["connection ship_mail"].mend.startswith("airflow connections add ship_mail --conn-json")

    environment.setenv("AIRFLOW_CONN_PAY_CHAT", json.dumps(chat | {"password": "t0ken"}))
    mend = checked()["connection pay_chat"].mend
    assert mend == "connection pay_chat: password: is no address; expected that of the chat's robot, https://…"

    policy.write_text("groups: [{match: pay, channel: pay_chat}]")
    assert "has a channel without an owner" in checked()["RMQC_POLICY"].mend


def test_the_token_for_metrics_is_optional_but_must_be_one(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name, file = "RMQC_METRICS_TOKEN_FILE", tmp_path / "token"
    assert checked()[name] == Checked(name, "none: metrics need a login")

    environment.setenv(name, str(file))
    assert checked()[name].mend == f"{name}: {file} cannot be read: No such file or directory"
    file.write_text("too short")
    assert checked()[name].mend.startswith(f"{name}: {file} holds no token; expected one line of 32 to 4,096 letters")
    file.write_text("0123456789abcdef" * 4 + "\n")
    assert checked()[name] == Checked(name, str(file))


def test_the_doctor_says_it_in_its_table(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = run("doctor", "--airflow", cwd=tmp_path, env={"COLUMNS": "300"})

    assert done.returncode == 1
    assert done.stderr == ""
    assert f'airflow pools set {POOL} 2 "clusters planned at once"' in done.stdout
    assert "none: no notice is sent" in done.stdout
    assert "name server" in done.stdout


def test_an_airflow_that_cannot_be_asked_is_a_part_of_its_own(tmp_path: Path) -> None:
    broken = {"COLUMNS": "300", "AIRFLOW__CORE__EXECUTOR": "", "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "nonsense"}
    done = run("doctor", "--airflow", cwd=tmp_path, env=broken)

    assert done.returncode == 1
    assert "cannot be asked (" in done.stdout
    assert "run it where Airflow runs" in done.stdout


def test_both_plugins_are_looked_for(environment: pytest.MonkeyPatch) -> None:
    found = checked()

    assert {name for name in found if name.startswith("plugin ")} == {
        "plugin rocketmq_capacity_forms",
        "plugin rocketmq_capacity_reports",
    }
    assert found["plugin rocketmq_capacity_forms"] == Checked("plugin rocketmq_capacity_forms", "loaded")
