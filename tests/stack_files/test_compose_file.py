"""What docker-compose.yml promises, read from what compose itself makes of it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from rocketmq_capacity.settings.deployment import DeploymentPlaces
from tests.fixtures.environment import ROOT
from tests.stack_files.compose_file import EXAMPLE, SECRETS, Service, config, is_one_shot, is_ours, services, variables

AIRFLOW: Final = (
    "airflow-api-server",
    "airflow-dag-processor",
    "airflow-init",
    "airflow-scheduler",
    "airflow-triggerer",
)
STARTED_IN_IMAGE: Final = "/opt/rocketmq-capacity/start/"
MAY_KNOW: Final = {
    "POSTGRES_PASSWORD": {"postgres", *AIRFLOW},
    "AIRFLOW_FERNET_KEY": {*AIRFLOW},
    "AIRFLOW_JWT_SECRET": {*AIRFLOW},
    "SPARK_SECRET": {"airflow-scheduler", "spark-master", "spark-worker"},
    "AIRFLOW_ADMIN_PASSWORD": {"airflow-api-server", "first-plan"},
}
WRITERS: Final = {
    "lake": {"airflow-init", "airflow-scheduler", "spark-worker"},
    "what-ifs": {"airflow-init", "airflow-scheduler", "spark-worker"},
    "inventories": {"airflow-init"},
    "airflow-logs": {*AIRFLOW},
    "postgres": {"postgres"},
}
"""Who may write to each volume."""
NETWORKS: Final = {
    "database": {"postgres", *AIRFLOW},
    "spark": {"airflow-scheduler", "spark-master", "spark-worker"},
    "airflow": {*AIRFLOW, "first-plan"} - {"airflow-init"},
}
"""Who is in each network; that of the demo has its services, and the two that ask a cluster."""
ASK_CLUSTERS: Final = {"airflow-api-server", "airflow-scheduler"}


@pytest.fixture
def stack(tmp_path: Path) -> dict[str, Service]:
    """The stack without the demo."""
    return services(tmp_path)


@pytest.fixture
def demo(tmp_path: Path) -> dict[str, Service]:
    """The stack with the demo."""
    return services(tmp_path, COMPOSE_PROFILES="demo")


def waits_for(all_of_them: dict[str, Service], name: str) -> Iterator[tuple[str, str]]:
    """The services, and in which condition, that have to be there first, also through others."""
    for other, how in (all_of_them[name].get("depends_on") or {}).items():
        if other in all_of_them:
            yield other, how["condition"]
            yield from waits_for(all_of_them, other)


def test_nothing_is_published_beyond_loopback(demo: dict[str, Service]) -> None:
    ports = [port for service in demo.values() for port in service.get("ports", [])]
    assert [port["host_ip"] for port in ports] == ["127.0.0.1"]
    assert not any(service.get("network_mode") == "host" for service in demo.values())


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("given", ["absent", "empty"])
def test_it_refuses_to_start_without(secret: str, given: str, tmp_path: Path) -> None:
    settings = {name: value for name, value in SECRETS.items() if name != secret}
    refused = config(tmp_path, settings if given == "absent" else settings | {secret: ""})
    assert refused.returncode != 0
    assert secret in refused.stderr
    assert ".env.example" in refused.stderr


def test_every_secret_comes_from_the_env_file(demo: dict[str, Service]) -> None:
    secret_name = re.compile(r"PASSWORD|SECRET|TOKEN|_KEY$|SQL_ALCHEMY_CONN")
    found = 0
    for name, service in demo.items():
        for variable, value in service.get("environment", {}).items():
            if secret_name.search(variable) and value:
                assert any(secret in value for secret in SECRETS.values()), (name, variable)
                found += 1
    assert found >= len(SECRETS)


@pytest.mark.parametrize("secret", SECRETS)
def test_only_those_who_need_it_get(secret: str, demo: dict[str, Service]) -> None:
    told = {name for name, service in demo.items() if SECRETS[secret] in json.dumps(service)}
    assert told == MAY_KNOW[secret]


def test_the_token_for_metrics_is_a_secret_of_the_api_server_alone(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0" * 32)
    resolved = json.loads(config(tmp_path, {**SECRETS, "RMQC_METRICS_TOKEN_FILE": str(token)}).stdout)
    readers = {name: one for name, one in resolved["services"].items() if one.get("secrets")}

    assert set(readers) == {"airflow-api-server"}
    (secret,) = readers["airflow-api-server"]["secrets"]
    assert resolved["secrets"][secret["source"]]["file"] == str(token)
    places = DeploymentPlaces.of(tmp_path, readers["airflow-api-server"]["environment"])
    assert places.metrics_token == Path("/run/secrets") / secret["source"]


def test_without_a_token_metrics_need_a_login(stack: dict[str, Service], tmp_path: Path) -> None:
    assert DeploymentPlaces.of(tmp_path, stack["airflow-api-server"]["environment"]).metrics_token is None


def test_no_secret_is_in_a_command(demo: dict[str, Service]) -> None:
    for service in demo.values():
        said = json.dumps([service.get(part) for part in ("command", "entrypoint", "healthcheck", "labels")])
        assert not any(secret in said for secret in SECRETS.values())


def test_every_service_has_a_health_check_or_is_meant_to_end(demo: dict[str, Service]) -> None:
    one_shots = {name for name, service in demo.items() if is_one_shot(service)}
    assert one_shots == {"airflow-init", "first-plan", "rocketmq-topics"}
    for name, service in demo.items():
        health = service["healthcheck"]
        assert bool(health.get("disable")) == (name in one_shots), name
        assert health.get("test", ["CMD"])[0] in {"CMD", "CMD-SHELL"}, name


def test_airflow_and_spark_run_in_one_image_that_is_built_here(stack: dict[str, Service]) -> None:
    ours = {name for name, service in stack.items() if is_ours(service)}
    assert ours == {*AIRFLOW, "first-plan", "spark-master", "spark-worker"}
    assert len({stack[name]["image"] for name in ours}) == 1
    (built,) = (service for service in stack.values() if "build" in service)
    assert Path(built["build"]["context"]) == ROOT


def test_what_is_not_ours_has_a_version(demo: dict[str, Service]) -> None:
    images = {service["image"] for service in demo.values()}
    assert all(re.search(r":[^:]*\d", image) for image in images), images


def test_what_is_not_ours_is_pinned_by_its_digest_except_the_demo(demo: dict[str, Service]) -> None:
    by_digest = {name for name, service in demo.items() if re.search(r"@sha256:[0-9a-f]{64}$", service["image"])}
    of_demo = {name for name, service in demo.items() if "demo" in service.get("profiles", [])}
    assert by_digest == {name for name, service in demo.items() if not is_ours(service)} - of_demo == {"postgres"}
    assert {demo[name]["image"] for name in of_demo} == {"apache/rocketmq:5.3.3"}


def test_every_file_that_a_command_starts_exists(demo: dict[str, Service]) -> None:
    started = re.findall(r'"(/(?:opt|demo)/[^"]+\.(?:sh|py))"', json.dumps(list(demo.values())))
    assert started
    for path in started:
        folder = ".make/compose/" if path.startswith(STARTED_IN_IMAGE) else ".make/compose/demo/"
        assert (ROOT / folder / Path(path).name).is_file(), path


def test_the_lake_is_one_folder_for_airflow_and_for_spark(stack: dict[str, Service]) -> None:
    def data(name: str) -> set[tuple[str, str]]:
        mounts = stack[name]["volumes"]
        return {(each["source"], each["target"]) for each in mounts if "rocketmq-capacity" in each["target"]}

    assert len(data("spark-worker")) == 3
    for name in AIRFLOW:
        assert data(name) == data("spark-worker"), name


def test_only_those_who_write_to_a_volume_may(demo: dict[str, Service]) -> None:
    writers: dict[str, set[str]] = {}
    for name, service in demo.items():
        for mount in service.get("volumes", []):
            if not mount.get("read_only"):
                writers.setdefault(mount["source"], set()).add(name)
    assert writers == WRITERS


def test_only_those_who_talk_to_one_another_share_a_network(tmp_path: Path, demo: dict[str, Service]) -> None:
    members: dict[str, set[str]] = {}
    for name, service in demo.items():
        for network in service["networks"]:
            members.setdefault(network, set()).add(name)
    of_demo = {name for name, service in demo.items() if "demo" in service.get("profiles", [])}
    assert members == NETWORKS | {"demo": of_demo | ASK_CLUSTERS}
    assert not of_demo & (NETWORKS["spark"] | NETWORKS["database"])


def test_only_airflows_network_leads_out(tmp_path: Path) -> None:
    resolved = json.loads(config(tmp_path, {**SECRETS, "COMPOSE_PROFILES": "demo"}).stdout)["networks"]
    assert {name for name, network in resolved.items() if not network.get("internal")} == {"airflow"}


def test_spark_starts_with_its_secret_and_its_settings_ask_for_it(stack: dict[str, Service]) -> None:
    for name, service in stack.items():
        has_secret = "SPARK_SECRET" in service.get("environment", {})
        assert has_secret == ((service["command"] or [])[:2] == ["sh", f"{STARTED_IN_IMAGE}spark.sh"]), name
    lines = (ROOT / ".make/compose/spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    settings = dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    assert settings["spark.authenticate"] == settings["spark.network.crypto.enabled"] == "true"
    assert settings["spark.network.crypto.saslFallback"] == settings["spark.master.rest.enabled"] == "false"


def test_the_first_plan_waits_until_everything_else_is_well(demo: dict[str, Service]) -> None:
    waited = dict(waits_for(demo, "first-plan"))
    assert waited.keys() == demo.keys() - {"first-plan"}
    for name, condition in waited.items():
        ended = is_one_shot(demo[name])
        assert condition == ("service_completed_successfully" if ended else "service_healthy"), name


def test_without_the_demo_the_recorded_sample_is_planned(stack: dict[str, Service]) -> None:
    assert not any("rocketmq:" in service["image"] for service in stack.values())
    assert {service["environment"]["RMQC_CLUSTERS"] for name, service in stack.items() if name in AIRFLOW} == {""}


def test_with_the_demo_its_cluster_is_planned(demo: dict[str, Service]) -> None:
    for name in AIRFLOW:
        environment = demo[name]["environment"]
        connection = json.loads(environment[f"AIRFLOW_CONN_{environment['RMQC_CLUSTERS'].upper()}"])
        assert connection["conn_type"] == "rocketmq"
        assert connection["host"].partition(":")[0] in demo


def test_clusters_of_ones_own_win(tmp_path: Path) -> None:
    named = services(tmp_path, COMPOSE_PROFILES="demo", RMQC_CLUSTERS="shop,pay")
    assert named["airflow-scheduler"]["environment"]["RMQC_CLUSTERS"] == "shop,pay"


def test_every_host_that_is_named_is_a_service(demo: dict[str, Service]) -> None:
    said = json.dumps(list(demo.values()))
    hosts = set(re.findall(r"(?:https?|spark)://([a-z][a-z-]*):\d", said)) | set(re.findall(r"@([a-z-]+):\d+/", said))
    assert {"airflow-api-server", "spark-master", "postgres"} <= hosts
    assert hosts <= demo.keys()
    for name, service in demo.items():
        asked = re.findall(r"//([a-z][a-z-]*):\d", json.dumps([service["command"], service["healthcheck"]]))
        for host in asked:
            assert service["networks"].keys() & demo[host]["networks"].keys(), (name, host)
    scripts = "".join(file.read_text(encoding="utf-8") for file in (ROOT / ".make/compose/demo").iterdir())
    assert set(re.findall(r"\b(rocketmq-[a-z-]+):\d{4,5}", scripts)) <= demo.keys()


def test_executors_reach_the_driver_by_a_name_of_sparks_network_alone(stack: dict[str, Service]) -> None:
    scheduler = stack["airflow-scheduler"]
    assert "hostname" not in scheduler
    named = {network: (how or {}).get("aliases", []) for network, how in scheduler["networks"].items()}
    driver = scheduler["environment"]["SPARK_LOCAL_HOSTNAME"]
    assert {network for network, aliases in named.items() if driver in aliases} == {"spark"}


@pytest.mark.airflow
def test_spark_runs_on_the_master_with_its_driver_in_airflow(
    stack: dict[str, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

    name = "AIRFLOW_CONN_SPARK_DEFAULT"
    monkeypatch.setenv(name, stack["airflow-scheduler"]["environment"][name])
    connection: dict[str, Any] = SparkSubmitHook()._connection
    assert (connection["master"], connection["deploy_mode"]) == ("spark://spark-master:7077", "client")


@pytest.mark.airflow
def test_every_setting_is_one_that_airflow_has(stack: dict[str, Service]) -> None:
    from airflow.configuration import retrieve_configuration_description

    known = retrieve_configuration_description()
    settings = {name for each in stack.values() for name in each.get("environment", {}) if "__" in name}
    assert len(settings) >= 7
    for setting in settings:
        _, section, option = setting.lower().split("__")
        assert option in known[section]["options"], setting


def test_every_setting_of_ours_is_one_that_the_code_reads(stack: dict[str, Service]) -> None:
    source = (ROOT / "include/rocketmq_capacity/settings/deployment.py").read_text(encoding="utf-8")
    named = {name for each in stack.values() for name in each.get("environment", {}) if name.startswith("RMQC_")}
    assert named
    assert named <= set(re.findall(r"\bRMQC_[A-Z_]+\b", source))


def test_the_example_has_every_variable_and_no_other() -> None:
    example = EXAMPLE.read_text(encoding="utf-8")
    assert set(re.findall(r"(?m)^#?([A-Z_]+)=", example)) == variables()
    assert set(re.findall(r"(?m)^([A-Z_]+)=$", example)) == {*SECRETS, "AIRFLOW_VIEWER_PASSWORD"}
