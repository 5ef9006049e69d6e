"""Forms and questions in Airflow, which everybody sees alike: they are in the language of the deployment's policy."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from airflow.sdk import Param

from rocketmq_capacity.provider.acceptance import acceptance_params
from rocketmq_capacity.provider.approval import answer_fields, questions
from rocketmq_capacity.provider.every_dag import every_dag
from rocketmq_capacity.provider.form import policy_params, replaces_param
from rocketmq_capacity.provider.source import cluster_param, clusters_param, inventory_param
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from rocketmq_capacity.store.lake import Lake
from tests.fixtures.environment import ROOT
from tests.plugins.stored_reports import LAST, put, rows_of

pytestmark = pytest.mark.airflow
HAN = re.compile("[\u4e00-\u9fff]")
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,} ")
NAMES = {"Topic", "Broker"}


@pytest.fixture
def chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("language: zh-CN\n")
    monkeypatch.setenv("RMQC_POLICY", str(policy))


def fields() -> dict[str, Param]:
    places = DeploymentPlaces.of(ROOT)
    forms = (
        {"clusters": clusters_param(places), "cluster": cluster_param(places), "inventory": inventory_param()},
        policy_params() | {"replaces_plan": replaces_param()},
        {f"{name} of a risk": param for name, param in acceptance_params().items()},
        answer_fields("ab" * 32),
    )
    return {name: param for form in forms for name, param in form.items()}


def texts(param: Param) -> Iterator[str]:
    yield from (text for name in ("title", "description", "section") if (text := param.schema.get(name)))
    yield str(param.schema.get("description_md") or "").partition("```")[0]


@pytest.mark.usefixtures("chinese")
def test_every_text_of_a_form_is_in_the_deployments_language() -> None:
    shown = [text for param in fields().values() for text in texts(param) if text and text not in NAMES]
    assert len(shown) > 25
    assert [text for text in shown if not HAN.search(text) or ENGLISH.search(text)] == []


@pytest.mark.usefixtures("chinese")
def test_a_form_has_the_same_fields_values_and_limits_in_every_language(monkeypatch: pytest.MonkeyPatch) -> None:
    told = ("title", "description", "description_md", "section")

    def rules() -> dict[str, object]:
        return {
            name: [one.value, {k: v for k, v in one.schema.items() if k not in told}] for name, one in fields().items()
        }

    chinese = rules()
    monkeypatch.delenv("RMQC_POLICY")
    assert chinese == rules()
    assert [text for param in fields().values() for text in texts(param) if HAN.search(text)] == []


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("file", sorted((ROOT / "dags").glob("*.py")), ids=lambda file: file.stem)
def test_what_a_dag_says_of_itself_is_chinese_with_the_names_as_they_are(file: Path) -> None:
    english = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    told = every_dag(str(file), english)

    assert HAN.search(told["description"])
    assert told["doc_md"].startswith(f"{told['description']}。")
    for paragraph in told["doc_md"].split("\n\n"):
        assert HAN.search(paragraph), paragraph
    assert sorted(re.findall(r"`[^`]+`|\]\([^)]+\)", told["doc_md"])) == sorted(
        re.findall(r"`[^`]+`|\]\([^)]+\)", english)
    )


@pytest.mark.usefixtures("chinese")
def test_the_question_about_a_plan_is_chinese_with_the_names_and_options_as_they_are(tmp_path: Path) -> None:
    rows = rows_of(LAST)
    put(tmp_path / "lake", "r1", rows).inventory.touch()

    (question,) = questions(["r1"], Lake(tmp_path / "lake"), LAST)

    assert re.fullmatch(r"是否批准集群 prod-eu-1 的 \d+ 条建议？", question.subject)
    assert "- **Approve** 批准全部" in question.body
    assert "[报告](/rocketmq-capacity/reports/plans/prod-eu-1/r1/)" in question.body
    assert re.search(r"(?m)^### Critical：给 g\\_order\\_worker 的每个消费者设置自己的客户端 ID$", question.body)


def test_an_english_deployment_reads_no_catalogue_to_make_its_forms() -> None:
    code = (
        "import sys; from rocketmq_capacity.provider.form import policy_params; policy_params();"
        "sys.exit('babel' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
