"""The pages of a lake in an object store show what they show of a folder, by the connection that its URL names."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.store.copies import copy_of
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.place import place_of
from rocketmq_capacity.store.writing import write_whole
from tests.fixtures.s3 import BUCKET, S3
from tests.plugins.stored_reports import CLUSTER, LAST, put_days, put_what_if, run_id_of
from tests.report.page_reader import elements, read_page

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

pytestmark = [pytest.mark.airflow, pytest.mark.slow]

PAGES: Final = "/rocketmq-capacity"
CONNECTION: Final = "the_store"
REPORT: Final = f"/reports/plans/{CLUSTER}/{run_id_of(LAST)}/"


@pytest.fixture
def lakes(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    """The settings of two deployments with the same reports: in folders, and in the store by a connection."""
    prefix, settings = uuid4().hex, {}
    for kind in ("folder", "store"):
        of_kind = {}
        for variable, put in (("RMQC_LAKE", put_plans), ("RMQC_WHAT_IFS", put_what_if)):
            folder = tmp_path / variable
            url = f"{BUCKET}/{prefix}/{variable.lower()}"
            put(folder if kind == "folder" else place_of(f"s3://{url}"))
            of_kind[variable] = str(folder) if kind == "folder" else f"s3://{CONNECTION}@{url}"
        settings[kind] = of_kind
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", s3.airflow_connection)
    for variable in s3.environment:
        monkeypatch.delenv(variable)  # only the connection opens the store
    return settings


def put_plans(lake: Path) -> None:
    put_days(lake, 3)


def use(settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)


@pytest.mark.parametrize(
    "address",
    [
        "/",
        REPORT,
        f"/trends/{CLUSTER}",
        f"/metrics/{CLUSTER}",
        f"/difference?cluster={CLUSTER}&before=plans/{run_id_of(LAST.replace(day=19))}&after=plans/{run_id_of(LAST)}",
        *(f"{REPORT}{name}" for name in ("report.html", "plan.json", "findings.csv", "runbook.md")),
    ],
)
def test_a_page_is_the_same(
    api: "Callable[[str], TestClient]",
    lakes: dict[str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    client, shown = api("admin"), {}
    for kind, settings in lakes.items():
        use(settings, monkeypatch)
        answer = client.get(PAGES + address)
        assert answer.status_code == 200, answer.text
        shown[kind] = answer.content
    assert shown["store"] == shown["folder"]


def test_every_link_of_a_report_in_the_store_leads_somewhere(
    api: "Callable[[str], TestClient]", lakes: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(lakes["store"], monkeypatch)
    client = api("admin")
    page = client.get(PAGES + REPORT).text
    files = {link for link in re.findall(r'href="([^"]+)"', page) if link.endswith((".csv", ".json", ".md", ".prom"))}
    assert len(files) > 4
    for link in files:
        assert client.get(PAGES + REPORT + link).status_code == 200, link


def test_the_form_of_a_what_if_offers_the_names_of_the_latest_snapshot(
    api: "Callable[[str], TestClient]", lakes: dict[str, dict[str, str]], s3: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RMQC_CLUSTERS", "eu")
    offered = {}
    for kind, settings in lakes.items():
        use(settings, monkeypatch)
        lake = place_of(settings["RMQC_LAKE"].replace(f"{CONNECTION}@", ""), s3.environment)
        run = Lake(lake).run(CLUSTER, run_id_of(LAST))
        write_whole(run.inventory, sample_inventory().read_bytes())
        run.commit("snapshot", [])
        answer = api("admin").get(f"{PAGES}/what-if?cluster=eu", headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == 200, answer.text
        lists = elements(read_page(answer.text), "datalist")
        offered[kind] = {one.get("id"): [name.get("value") for name in one] for one in lists}
    assert offered["store"] == offered["folder"]
    assert {"list-brokers", "list-groups", "list-topics"} <= {kind for kind, names in offered["store"].items() if names}


def test_a_report_that_is_published_again_is_shown_as_it_is_now(
    api: "Callable[[str], TestClient]",
    s3: S3,
    lakes: dict[str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(lakes["store"], monkeypatch)
    client = api("admin")
    assert "<h1" in client.get(PAGES + REPORT + "report.html").text
    lake = "s3://" + lakes["store"]["RMQC_LAKE"].partition("@")[2]
    report = place_of(lake, s3.environment) / CLUSTER / run_id_of(LAST) / "report"
    (report / "report.html").write_bytes(b"<h1>again</h1>")

    assert "again" in client.get(PAGES + REPORT + "report.html").text


def test_a_store_that_refuses_is_told_and_no_list_is_empty(
    api: "Callable[[str], TestClient]", lakes: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(lakes["store"], monkeypatch)
    monkeypatch.setenv("RMQC_LAKE", f"s3://{BUCKET}/plans")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "else")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    answer = api("admin").get(f"{PAGES}/")
    assert answer.status_code == 503
    assert "The store of the reports does not answer, or refuses." in answer.text


def test_copies_take_no_more_room_than_they_may(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = place_of(f"s3://{BUCKET}/{uuid4().hex}")
    for number in range(5):
        (place / f"{number}.json").write_bytes(b"x" * 100)
        copy = copy_of(place / f"{number}.json", most_bytes=250)
        assert copy.read_bytes() == b"x" * 100
    assert len(list(copy.parent.iterdir())) == 2
    assert copy_of(place / "4.json", most_bytes=250) == copy
