"""A what-if whose fields describe no scenario together, at Airflow's own API."""

from http import HTTPStatus
from typing import Any

import pytest

pytestmark = pytest.mark.airflow

WHAT_IFS = "/api/v2/dags/rocketmq_what_if/dagRuns"
LOST: dict[str, Any] = {"change": "lose_broker", "broker_name": "b"}


@pytest.mark.parametrize(
    ("conf", "reason"),
    [
        (None, "the form: expected a scenario as YAML, or a change: it names neither"),
        ({"consumer_group": "g"}, "the form: expected a scenario as YAML, or a change: it names neither"),
        ({**LOST, "room": "hz"}, "changes[0].room: is not a known key"),
        ({"change": "set_queues", "topic": "t"}, "changes[0].read_queue_nums: is missing"),
    ],
)
def test_fields_that_contradict_each_other_are_refused_with_the_reason(api, conf, reason) -> None:
    answer = api("admin").post(WHAT_IFS, json={"logical_date": None, "conf": conf})

    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert reason in answer.json()["detail"]


def test_a_scenario_reaches_airflow_with_everything_that_was_sent(api) -> None:
    answer = api("admin").post(WHAT_IFS, json={"logical_date": None, "conf": LOST, "dag_run_idd": "unknown to Airflow"})

    # Airflow read the body, and named what it does not know in it.
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.json()["detail"][0]["loc"] == ["body", "dag_run_idd"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"conf": 1}'])
def test_what_is_no_request_is_refused_by_airflow(api, body) -> None:
    answer = api("admin").post(WHAT_IFS, content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


def test_other_dags_and_those_who_only_read_pass_as_they_are(api) -> None:
    admin = api("admin")

    assert admin.post("/api/v2/dags/another/dagRuns", json={"logical_date": None}).status_code == HTTPStatus.NOT_FOUND
    assert admin.get(WHAT_IFS).status_code in {HTTPStatus.OK, HTTPStatus.NOT_FOUND}
    assert api().post(WHAT_IFS, json={"logical_date": None, "conf": LOST}).status_code == HTTPStatus.UNAUTHORIZED
