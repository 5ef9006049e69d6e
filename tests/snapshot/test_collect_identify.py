"""Names mean what RocketMQ means by them, and secrets are left out."""

import pytest

from rocketmq_capacity.snapshot.identify import cluster_name, group_of_retry_topic, logical_broker, without_secrets
from rocketmq_capacity.snapshot.kinds import is_system_group, is_system_topic


@pytest.mark.parametrize(
    ("topic", "is_system"),
    [
        ("TBW102", True),
        ("BenchmarkTest", True),
        ("rmq_sys_REVIVE_LOG_C1", True),
        ("C1", True),
        ("C1_REPLY_TOPIC", True),
        ("broker-a", True),
        ("room1@broker-c", True),
        ("pay", False),
        ("C2", False),
        ("pay_REPLY_TOPIC", False),
        ("%RETRY%g", False),
        ("%DLQ%g", False),
        ("my_rmq_sys_topic", False),
    ],
)
def test_rocketmqs_own_topics_are_known(topic: str, is_system: bool) -> None:
    assert is_system_topic(topic, {"C1"}, {"broker-a", "room1@broker-c"}) is is_system


@pytest.mark.parametrize(
    ("group", "is_system"),
    [
        ("TOOLS_CONSUMER", True),
        ("CID_RMQ_SYS_TRANS", True),
        ("CID_ONSAPI_OWNER", True),
        ("g_pay", False),
        ("CID_X", False),
    ],
)
def test_rocketmqs_own_groups_are_known(group: str, is_system: bool) -> None:
    assert is_system_group(group) is is_system


@pytest.mark.parametrize(
    ("topic", "group"),
    [
        ("%RETRY%g_pay", "g_pay"),
        ("%RETRY%g_gone", "g_gone"),
        ("%RETRY%g_pay_ship", "g_pay"),  # POP, version 1
        ("%RETRY%g_pay+ship", "g_pay"),  # POP, version 2
        ("%RETRY%g_pay_no_topic", "g_pay_no_topic"),
        ("%RETRY%", None),
        ("%DLQ%g_pay", None),
        ("pay", None),
    ],
)
def test_a_retry_topic_names_its_group_and_pops_own_ones_name_no_new_group(topic: str, group: str | None) -> None:
    assert group_of_retry_topic(topic, {"g_pay"}, {"ship", "pay"}) == group


@pytest.mark.parametrize(
    ("clusters", "name"),
    [
        (["C1"], "C1"),
        (["C2", "C1"], "C1_C2"),
        (["my cluster/ä"], "my_cluster__"),
        ([], "unknown"),
        (["x" * 300], "x" * 255),
        ([""], "unknown"),
    ],
)
def test_clusters_have_one_name_that_an_inventory_allows(clusters: list[str], name: str) -> None:
    assert cluster_name(clusters) == name


@pytest.mark.parametrize(("scope", "broker"), [("__global__", "__syslo__global__"), ("x", "__syslo__x")])
def test_logical_queues_have_the_name_that_clients_see(scope: str, broker: str) -> None:
    assert logical_broker(scope) == broker


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("initAuthenticationUser", '{"username":"a"}'),
        ("innerClientAuthenticationCredentials", "{}"),
        ("objectStoreAccessKey", "x"),
        ("objectStoreSecretKey", ""),
        ("metricsPromPassword", "x"),
        ("anything", '{"secretKey":"x"}'),
        ("ACCESSKEY", "x"),
        ("someToken", "x"),
        ("ldapPasswd", "x"),
        ("keystorePass", "x"),
        ("db_pwd", "x"),
        ("apiKey", "x"),
        ("api-key", "x"),
        ("jdbcUrl", "jdbc:mysql://root:hunter2@10.0.0.1/acl"),
        ("redis", "redis://:hunter2@10.0.0.1:6379/0"),
        ("slash", "mysql://root:hunt/er2@10.0.0.1/acl"),
        ("oracle", "jdbc:oracle:thin:scott/tiger@10.0.0.1:1521:orcl"),
    ],
)
def test_a_setting_that_may_hold_a_secret_is_left_out(name: str, value: str) -> None:
    assert without_secrets({name: value, "fileReservedTime": "72"}) == {"fileReservedTime": "72"}


def test_settings_about_access_control_that_are_no_secret_are_kept_in_order() -> None:
    config = {
        "authorizationEnabled": "false",
        "aclEnable": "false",
        "authenticationEnabled": "true",
        "brokerName": "room1@broker-c",
        "namesrvAddr": "10.0.0.1:9876;10.0.0.2:9876",
        "metricsGrpcExporterTarget": "http://10.0.0.1:4317/v1",
    }
    assert list(without_secrets(config).items()) == sorted(config.items())
