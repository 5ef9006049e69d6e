"""What answers the question about a plan at Airflow's own API: an answer that cannot be kept is not stored."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import pytest

from rocketmq_capacity.plan_file.plan import Plan, read_plan
from rocketmq_capacity.provider.answer_form import SHOWN_WITH_ITS_REASON
from rocketmq_capacity.provider.approval import answer_fields, questions
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.selection import asked_about
from rocketmq_capacity.store.lake import Lake, Run
from tests.plugins.asked_at import QUESTION
from tests.plugins.stored_reports import LAST, put, rows_of

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def dag_run(airflow_database: None, dag_bag: "DagBag") -> Any:
    """A run of the approval's Dag, as the scheduler makes it."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import sync_bag_to_db
    from airflow.utils.session import create_session

    from tests.plugins.asked import asking_task

    DagBundlesManager().sync_bundles_to_db()
    sync_bag_to_db(dag_bag, "dags-folder", None)
    with create_session() as session:
        return asking_task(session).id


@pytest.fixture
def plan(own_lakes: Any, dag_run: Any) -> Iterator[Plan]:
    """A plan of this hour, and the question about it as Airflow stores it."""
    from airflow.models.hitl import HITLDetail
    from airflow.utils.session import create_session

    now = datetime.now(UTC)
    run = stored(own_lakes[0], now)
    (question,) = questions([run.folder.name], Lake(own_lakes[0]), now)
    fields = {name: param.serialize() for name, param in answer_fields(question.digest).items()}
    with create_session() as session:
        asked = {"options": ["Approve", "Reject"], "subject": question.subject, "body": question.body}
        session.add(HITLDetail(ti_id=dag_run, params=fields, defaults=["Reject"], **asked))
    yield read_plan(run.report / "plan.json")
    with create_session() as session:
        session.delete(session.get(HITLDetail, dag_run))


def stored(lake: Any, moment: datetime, run_id: str = "r1") -> Run:
    rows = rows_of(LAST)
    rows["cluster"][0] |= {"taken_at": f"{moment:%Y-%m-%dT%H:%M:%SZ}", "fingerprint": run_id}
    run = put(lake, run_id, rows)
    run.inventory.touch()
    return run


def alternatives(plan: Plan) -> str:
    """The numbers of two recommendations that replace each other, as the question has them."""
    number = {one.recommendation.id: str(one.number) for one in asked_about(plan, needing_approval(plan))}
    both = next(them for them in plan.alternatives if all(one in number for one in them[:2]))
    return ", ".join(sorted((number[one] for one in both[:2]), key=int))


def answered(client: Any, option: str = "Approve", **fields: Any) -> tuple[int, str]:
    body = json.dumps({"chosen_options": [option], "params_input": fields})  # with half a character as an escape
    answer = client.patch(QUESTION, content=body, headers={"Content-Type": "application/json"})
    return answer.status_code, str(answer.json().get("detail", ""))


def is_open(client: Any) -> bool:
    return not client.get(QUESTION).json()["response_received"]


def test_two_alternatives_in_one_answer_are_refused_and_the_question_stays_open(api, plan) -> None:
    both = alternatives(plan)

    status, reason = answered(api("admin"), approve_only=both)

    assert status == HTTPStatus.BAD_REQUEST
    first, second = both.split(", ")
    named = {f"{first} and {second}", f"{second} and {first}"}
    assert reason in {
        f"approve_only: names {words}, which are alternatives; expected one of them at most" for words in named
    }
    assert is_open(api("admin"))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"approve_only": "EXPAND_QUEUE"}, "approve_only: 'EXPAND_QUEUE' names no recommendation of this question"),
        ({"approve_only": "1", "reject_these": "1"}, "and reject_these names it too; expected one of the two"),
        ({"aprove_only": "1"}, "is not a known field; the nearest known field is 'approve_only'"),
        ({"why": "\ud800"}, "params_input.why: has half a character"),
    ],
    ids=["unknown word", "both", "unknown field", "half a character"],
)
def test_an_answer_that_approves_nothing_is_refused_with_the_reason(api, plan, fields, reason) -> None:
    status, said = answered(api("admin"), **fields)

    assert status == HTTPStatus.BAD_REQUEST
    assert reason in said
    assert is_open(api("admin"))


def test_a_page_gets_a_status_whose_reason_airflows_form_shows(api, plan) -> None:
    answer = api("admin").patch(
        QUESTION,
        json={"chosen_options": ["Approve"], "params_input": {"approve_only": "one"}},
        headers={"Origin": "http://testserver", "Host": "testserver"},
    )

    assert answer.status_code == SHOWN_WITH_ITS_REASON
    assert "'one' names no recommendation of this question" in answer.json()["detail"]
    with pytest.raises(ValueError, match="not a valid HTTPStatus"):
        HTTPStatus(SHOWN_WITH_ITS_REASON)
    assert is_open(api("admin"))


def test_a_rejection_with_a_word_that_names_nothing_is_refused(api, plan) -> None:
    status, reason = answered(api("admin"), "Reject", reject_these="one: it costs too much")

    assert (status, reason.partition(" names")[0]) == (HTTPStatus.BAD_REQUEST, "reject_these: 'one'")
    assert answered(api("admin"), "Reject", reject_these="1: it costs too much")[0] == HTTPStatus.OK


def test_a_plan_whose_cluster_has_a_later_snapshot_cannot_be_approved_but_rejected(api, plan, own_lakes) -> None:
    stored(own_lakes[0], datetime.now(UTC) + timedelta(hours=1), "r2")

    status, reason = answered(api("admin"))

    assert status == HTTPStatus.BAD_REQUEST
    assert reason.startswith("The plan cannot be approved: the cluster has a later snapshot, of ")
    assert answered(api("admin"), "Reject")[0] == HTTPStatus.OK


@pytest.mark.parametrize("option", ["Approve", "Reject"])
def test_an_answer_to_a_plan_that_has_other_recommendations_now_is_refused(api, plan, own_lakes, option) -> None:
    rows = rows_of(LAST)
    taken_at, fingerprint = plan.taken_at, plan.fingerprint
    rows["cluster"][0] |= {"taken_at": taken_at, "fingerprint": fingerprint}
    rows["recommendation"][0]["commands"] = ["mqadmin updateTopic -n … -t pay -r 64"]
    put(own_lakes[0], "r1", rows)

    status, reason = answered(api("admin"), option, approve_only="1")

    assert status == HTTPStatus.BAD_REQUEST
    assert "its recommendations are not those of this question any more" in reason
    assert is_open(api("admin"))


def test_an_answer_from_a_page_that_shows_an_earlier_question_is_refused(api, plan) -> None:
    status, reason = answered(api("admin"), seen="of an earlier question")

    assert status == HTTPStatus.BAD_REQUEST
    assert reason.startswith("The question has been asked again since, about other recommendations.")
    assert is_open(api("admin"))
    assert answered(api("admin"), seen=plan.recommendations_digest)[0] == HTTPStatus.OK


@pytest.mark.parametrize("option", ["Approve", "Reject"])
def test_an_answer_that_can_be_kept_is_stored(api, plan, option) -> None:
    assert answered(api("admin"), option, approve_only="1", why="it is needed") == (HTTPStatus.OK, "")
    assert not is_open(api("admin"))


def test_who_may_not_answer_learns_nothing(api, plan) -> None:
    assert answered(api(), approve_only="x")[0] == HTTPStatus.UNAUTHORIZED
    assert answered(api("viewer"), approve_only="x") == (HTTPStatus.FORBIDDEN, "Forbidden")
    assert is_open(api("admin"))
