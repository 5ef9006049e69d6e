"""The form of a what-if: changes chosen from lists, one after another, and the run that tries them."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import msgspec
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse

from rocketmq_capacity.errors import BadInput, cut, shown
from rocketmq_capacity.one_at_a_time import LARGE, SMALL
from rocketmq_capacity.provider.change_form import change_forms, change_of_fields, in_words  # noqa: TID251  # as the Dag
from rocketmq_capacity.provider.latest_names import names_of, places_of_deployment  # noqa: TID251  # as the Dag
from rocketmq_capacity.provider.scenario_form import PAGE, changes_problem, scenario_of_changes  # noqa: TID251  # as the Dag
from rocketmq_capacity.provider.source import inventory_problem, starts  # noqa: TID251  # as the Dag
from rocketmq_capacity_pages.access import Trier, TrierOnThePage, sends_its_origin
from rocketmq_capacity_pages.airflow_run import Start, start_run
from rocketmq_capacity_pages.form_body import body_of, pairs_of
from rocketmq_capacity_pages.kinds import WHAT_IFS
from rocketmq_capacity_pages.responses import READING, page

router: Final = APIRouter()
LARGEST_BODY: Final = 384 << 10
"""Bytes of a form: a scenario has at most 60,000 characters, most of which take one byte, and some three or nine."""
LONGEST_NAME: Final = 255
MOST_FIELDS: Final = 32
"""Those of any change, and those that every form has."""
MOST_NAMES: Final = 20_000
"""Names of a kind to choose from; any other one can be typed."""
Changes = list[dict[str, str | int | float | list[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialForm:
    """What the form holds.

    Attributes:
        start: what the run starts from, as the page names it.
        changes: those that were added, in their order.
        name: of the what-if; empty for that of its changes.
        once: the same form starts one run.
        chosen: the change whose fields are open.
        texts: what they hold.
        problem: what is wrong with it.
    """

    start: str
    changes: Changes = field(default_factory=list)
    name: str = ""
    once: str = ""
    chosen: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    def conf(self) -> dict[str, str]:
        """The fields of the run that say what it starts from."""
        return starts(places_of_deployment())[self.start]


@router.api_route(PAGE, methods=READING)
async def form(request: Request, _by: Trier, start: str = "", inventory: str = "", cluster: str = "") -> HTMLResponse:
    """The form without a change."""
    begun = await SMALL.run(partial(_begun, start, inventory, cluster))
    return await _shown(request, begun)


@router.post(PAGE)
async def changed(request: Request, by: TrierOnThePage) -> HTMLResponse:
    """The form with a change more or less, or the run that tries all changes, in the name of the user."""
    pressed, tried, fields = _sent(await body_of(request, LARGEST_BODY))
    if pressed == "add":
        return await _shown(request, await LARGE.run(partial(_with, tried, fields)))
    if pressed == "try":
        return await _run(request, by, tried)
    return await _shown(request, _without(tried, pressed))


def _begun(start: str, inventory: str, cluster: str) -> TrialForm:
    """The empty form. Errors: HTTPException 400 for a start that there is not."""
    places = places_of_deployment()
    if reason := inventory_problem(inventory, places):
        raise HTTPException(HTTPStatus.BAD_REQUEST, reason)
    there = starts(places)
    start = (
        start
        or (inventory and f"inventory file {inventory}")
        or next((name for name, conf in there.items() if cluster and conf.get("cluster") == cluster), next(iter(there)))
    )
    if start not in there:
        raise HTTPException(HTTPStatus.BAD_REQUEST, _no_start(start))
    return TrialForm(start=start, once=secrets.token_hex(8))


def _no_start(start: str) -> str:
    return f"A what-if cannot start from {shown(start)}. Choose a cluster or an inventory file from the list."


def _sent(body: bytes) -> tuple[str, TrialForm, dict[str, str]]:
    """The button that was pressed, the form, and the fields of the change. Errors: HTTPException 400."""
    pairs = pairs_of(body, MOST_FIELDS)
    if pairs is None or len(dict(pairs)) < len(pairs):
        said = f"The form cannot be read. Expected at most {MOST_FIELDS} fields, each once, as UTF-8."
        raise HTTPException(HTTPStatus.BAD_REQUEST, said)
    fields = dict(pairs)
    start = fields.pop("start", "")
    if start not in starts(places_of_deployment()):
        raise HTTPException(HTTPStatus.BAD_REQUEST, _no_start(start))
    tried = TrialForm(
        start=start,
        changes=_changes(fields.pop("changes", "[]")),
        name=fields.pop("name", "").strip()[:LONGEST_NAME],
        once=fields.pop("once", "")[:LONGEST_NAME],
        chosen=_change(fields.pop("change", "")),
    )
    return fields.pop("press", ""), tried, fields


def _change(name: str) -> str:
    """The name of a change, or empty. Errors: HTTPException 400 for another one."""
    if name and name not in change_forms():
        said = f"There is no change {shown(name)}. Expected one of {', '.join(change_forms())}."
        raise HTTPException(HTTPStatus.BAD_REQUEST, said)
    return name


def _changes(text: str) -> Changes:
    """The changes so far. Errors: HTTPException 400 for what this page did not write."""
    try:
        changes = msgspec.json.decode(text, type=Changes)
    except ValueError:
        changes = [{}]
    if not all(change.get("change") in change_forms() for change in changes):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "The changes so far cannot be read. Begin again.")
    return changes


def _with(tried: TrialForm, texts: Mapping[str, str]) -> TrialForm:
    """The form with one more change; it stays as it is, with the reason, if the change does not fit."""
    try:
        added = [*tried.changes, change_of_fields(tried.chosen, texts)]
    except BadInput as error:
        return replace(tried, texts=texts, problem=str(error))
    if problem := changes_problem(added, tried.conf(), places_of_deployment()):
        return replace(tried, texts=texts, problem=problem)
    return replace(tried, changes=added, chosen="")


def _without(tried: TrialForm, pressed: str) -> TrialForm:
    """The form without the change that the button names. Errors: HTTPException 400 for another button."""
    left_out = [str(index) for index in range(len(tried.changes))]
    action, _, index = pressed.partition("-")
    if action != "remove" or index not in left_out:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "The form has no such button.")
    return replace(tried, changes=[one for number, one in enumerate(tried.changes) if str(number) != index], chosen="")


async def _run(request: Request, by: str, tried: TrialForm) -> HTMLResponse:
    if not tried.changes:
        return await _shown(request, replace(tried, problem="There is no change to try yet. Add one first.", chosen=""))
    problem = await LARGE.run(partial(changes_problem, tried.changes, tried.conf(), places_of_deployment()))
    if problem:
        return await _shown(request, replace(tried, problem=problem, chosen=""))
    fields = {**tried.conf(), "scenario": scenario_of_changes(tried.changes, tried.name)}
    start = Start(dag_id=WHAT_IFS.dag_id, fields=fields, by=by, what="what-if", once=tried.once)
    return await SMALL.run(partial(_started, request, tried, start))


def _started(request: Request, tried: TrialForm, start: Start) -> HTMLResponse:
    run = start_run(start)
    status = HTTPStatus.CREATED if run.is_new else HTTPStatus.OK
    values = {"run": run, "by": start.by, "dag_id": start.dag_id, "start": tried.start}
    return page(request, "tried.html.j2", status, changes=_in_words(tried.changes), **values)


async def _shown(request: Request, tried: TrialForm) -> HTMLResponse:
    names = await LARGE.run(partial(names_of, tried.conf(), places_of_deployment()))
    return await SMALL.run(partial(_page, request, tried, names))


def _page(request: Request, tried: TrialForm, names: Any) -> HTMLResponse:
    forms = change_forms()
    kinds = sorted({one.names for each in forms.values() for one in each.fields if one.names})
    lists = {kind: getattr(names, kind) for kind in kinds}
    return page(
        request,
        "try.html.j2",
        HTTPStatus.BAD_REQUEST if tried.problem else HTTPStatus.OK,
        tried=tried,
        so_far=msgspec.json.encode(tried.changes).decode(),
        changes=_in_words(tried.changes),
        forms=forms.values(),
        starts=starts(places_of_deployment()),
        lists={kind: held[:MOST_NAMES] for kind, held in lists.items()},
        left_out={kind: len(held) - MOST_NAMES for kind, held in lists.items() if len(held) > MOST_NAMES},
        can_send=sends_its_origin(request),
        dag_id=WHAT_IFS.dag_id,
    )


def _in_words(changes: Sequence[Mapping[str, Any]]) -> list[str]:
    return [cut(in_words(change), LONGEST_NAME) for change in changes]
