"""Lines of errors, refusals and doctor, said in Chinese: our words, and the usual ones of others."""

import subprocess
import sys
from pathlib import Path

import pytest

from rocketmq_capacity.cli import arguments
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.language.current import error_words, speaking
from rocketmq_capacity.provider.known_fields import unknown_field
from rocketmq_capacity.settings.address import parse_nameservers
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.simulation.scenario import read_scenario
from rocketmq_capacity.snapshot.inventory_file import read_inventory


def said(error: str) -> str:
    with speaking("zh-CN"):
        return error_words(error)


@pytest.mark.parametrize(
    ("policy", "chinese"),
    [
        ("thresholdz: {}", "thresholdz: 不是已知的键；最接近的已知键是 'thresholds'"),
        ("strategies: []", "strategies: 为空；至少应有一种策略；当前为 []"),
        ("language: [", "第 1 行: 不是 YAML（应有内容，实际为 '<stream end>'）"),
        ("exclude: 3", "exclude: 应为键的映射；当前为 3"),
        (
            "accepted: [{rule: HOT_QUEU, consumer_group: g, by: li, why: x, until: 2027-03-01}]",
            "accepted[0].rule: 不是已知的规则；最接近的已知规则是 'HOT_QUEUE'",
        ),
    ],
)
def test_what_is_wrong_with_a_policy(policy: str, chinese: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(policy)
    with pytest.raises(BadInput) as refused:
        read_policy(file)
    assert said(str(refused.value)).startswith(f"{file}: {chinese}")


def test_what_is_wrong_with_a_scenario_an_inventory_and_an_address(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("name: x\nchanges: [{change: add_clientz}]")
    with pytest.raises(BadInput) as scenario:
        read_scenario(file)
    assert said(str(scenario.value)) == (
        f"{file}: changes[0].change: 'add_clientz' 不是已知的变更；最接近的已知变更是 'add_clients'"
    )
    with pytest.raises(BadInput) as inventory:
        read_inventory(tmp_path / "not there")
    assert said(str(inventory.value)) == (f"{tmp_path}/not there: 无法读取（没有那个文件或目录）；应为清单文件")
    with pytest.raises(BadInput) as address:
        parse_nameservers(["10.0.9.1"])
    assert said(str(address.value)).endswith("'10.0.9.1' 不是地址；应为 HOST:PORT，端口为 1 至 65535")


def test_what_is_wrong_with_arguments() -> None:
    with pytest.raises(BadInput) as unknown:
        arguments(["plan", "--out", "x", "--polcy", "y"])
    assert said(str(unknown.value)) == "plan: 没有这个参数：--polcy；可用的是 --policy"
    with pytest.raises(BadInput) as missing:
        arguments(["plan"])
    assert said(str(missing.value)) == ("plan: 缺少必需的参数：--out；rocketmq-capacity plan --help 说明用法")


def test_what_is_wrong_with_a_form() -> None:
    assert said(unknown_field({"cluster_s": 1}, ["clusters"])) == (
        "参数 cluster_s 的输入无效：不是已知的字段；最接近的已知字段是 'clusters'"
    )
    assert said("Change 2, Broker name: is 'b', which is not there; the nearest broker is 'a'") == (
        "变更 2，Broker 名称: 为 'b'，它不存在；最接近的 Broker 是 'a'"
    )
    assert said("The plan cannot be approved: the snapshot is older than 24 hours.") == (
        "该规划无法批准：快照已超过 24 小时。"
    )


@pytest.mark.parametrize(
    "line",
    [
        "policy.yaml: a.b: Input should be purple",
        "is wrong; expected everything",
        "the broker said: no",
        "plan",
        "",
        "x: " * 1_500,
        "is a; " * 700,
    ],
)
def test_what_is_not_known_stays_english(line: str) -> None:
    assert said(line) == line
    assert error_words(line) == line


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["plan", "--language", "zh-CN"], "plan: 缺少必需的参数：--out；"),
        (["plan", "--language=zh-CN", "--out", "o"], "--inventory, --nameserver: 必须且只能给出其中一个"),
        (["plan", "--language", "en", "--out", "o", "--policy", "zh.yaml"], "expected exactly one of them"),
        (["plan", "--out", "o", "--policy", "zh.yaml"], "必须且只能给出其中一个"),
        (["plan", "--language"], "expected one argument; rocketmq-capacity plan --help says what is expected"),
    ],
)
def test_the_command_says_errors_in_the_language_that_it_is_asked_for(
    arguments: list[str], line: str, tmp_path: Path
) -> None:
    (tmp_path / "zh.yaml").write_text("language: zh-CN\n")
    command = [sys.executable, "-m", "rocketmq_capacity", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    assert ended.returncode == 2
    assert line in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_doctor_says_what_it_found_in_the_language_that_it_is_asked_for() -> None:
    command = [sys.executable, "-m", "rocketmq_capacity", "doctor", "--language", "zh-CN"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False).stdout
    assert "如何解决" in told
    assert "未指定；请用 --nameserver HOST:PORT" in told
    assert "nothing" not in told
