"""Who may read what. Airflow's own checks decide: a user must be logged in, and may read the Dag of the report."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Final

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from fastapi import Depends, HTTPException, Request

from rocketmq_capacity.report.acceptance import DAG_ID as ACCEPT
from rocketmq_capacity_pages.kinds import KINDS, PLANS, WHAT_IFS, Kind

MAY_NOT: Final = "You may not {what}. It needs the right to trigger the Dag {dag_id}; ask an administrator."
OTHER_ORIGIN: Final = (
    "Nothing is {done}: the request does not come from a page of this Airflow. Send the form from {page}, in a browser "
    "that reaches Airflow by https or as localhost, or trigger the Dag {dag_id}."
)


def require(kind: Kind, request: Request, user: GetUserDep) -> None:
    """Errors: HTTPException 403 if the user may not read the Dag."""
    requires_access_dag("GET", param_dag_id=kind.dag_id)(request, user)


def may_read(kind: Kind, request: Request, user: GetUserDep) -> bool:
    """Whether the user may read the Dag."""
    return _may(requires_access_dag("GET", param_dag_id=kind.dag_id), request, user)


def may_accept(request: Request, user: GetUserDep) -> bool:
    """Whether the user may trigger the Dag that accepts risks."""
    return _may_trigger(ACCEPT, request, user)


def _may_trigger(dag_id: str, request: Request, user: GetUserDep) -> bool:
    return _may(requires_access_dag("POST", DagAccessEntity.RUN, dag_id), request, user)


def _may(check: Callable[[Request, GetUserDep], None], request: Request, user: GetUserDep) -> bool:
    try:
        check(request, user)
    except HTTPException as refused:
        if refused.status_code != HTTPStatus.FORBIDDEN:
            raise
        return False
    return True


def sends_its_origin(request: Request) -> bool:
    """Whether the browser says from where it asks; it does so for https and for localhost alone.

    Source: Fetch Metadata Request Headers, section 2, "potentially trustworthy".
    """
    return "Sec-Fetch-Site" in request.headers


def readable_kinds(request: Request, user: GetUserDep) -> tuple[Kind, ...]:
    """The kinds that the user may read. Errors: HTTPException 403 if there are none."""
    kinds = tuple(kind for kind in KINDS.values() if may_read(kind, request, user))
    if not kinds:
        raise HTTPException(HTTPStatus.FORBIDDEN, "You may read neither the Dag of the plans nor that of the what-ifs.")
    return kinds


def kind_of_address(kind: str, request: Request, user: GetUserDep) -> Kind:
    """The kind in the address. Errors: HTTPException 404 for an unknown one, 403 if the user may not read it."""
    if kind not in KINDS:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    require(KINDS[kind], request, user)
    return KINDS[kind]


def dag_of_address(dag_id: str, request: Request, user: GetUserDep) -> str:
    """The Dag in the address. Errors: HTTPException 403 if the user may not read it."""
    requires_access_dag("GET", param_dag_id=dag_id)(request, user)
    return dag_id


def acceptor(request: Request, user: GetUserDep) -> str:
    """The name of a user who may accept risks of plans, and asks from a page of Airflow's own origin.

    Nothing of the request's body has been read then.

    Errors: HTTPException 403 for a user who may not, and for a page of another origin.
    """
    require(PLANS, request, user)
    if not may_accept(request, user):
        raise HTTPException(HTTPStatus.FORBIDDEN, MAY_NOT.format(what="accept risks", dag_id=ACCEPT))
    _from_a_page(request, done="accepted", page="the report's page", dag_id=ACCEPT)
    return str(user.get_name())


def trier(request: Request, user: GetUserDep) -> str:
    """The name of a user who may start what-ifs. Errors: HTTPException 403 for a user who may not."""
    require(WHAT_IFS, request, user)
    if not _may_trigger(WHAT_IFS.dag_id, request, user):
        raise HTTPException(HTTPStatus.FORBIDDEN, MAY_NOT.format(what="try changes", dag_id=WHAT_IFS.dag_id))
    return str(user.get_name())


def trier_on_the_page(request: Request, user: GetUserDep) -> str:
    """The same of a request from a page of Airflow's own origin; nothing of its body has been read then.

    Errors: HTTPException 403 for a user who may not, and for a page of another origin.
    """
    name = trier(request, user)
    _from_a_page(request, done="tried", page="the page that has it", dag_id=WHAT_IFS.dag_id)
    return name


def _from_a_page(request: Request, **said: str) -> None:
    if request.headers.get("Sec-Fetch-Site") != "same-origin":
        raise HTTPException(HTTPStatus.FORBIDDEN, OTHER_ORIGIN.format(**said))


def logged_in(request: Request, user: GetUserDep) -> None:
    """Keep in the request whether the user may try changes: every page links to the form.

    Errors: HTTPException 401 without a login.
    """
    request.state.may_try = _may_trigger(WHAT_IFS.dag_id, request, user)


ReadableKinds = Annotated[tuple[Kind, ...], Depends(readable_kinds)]
KindOfAddress = Annotated[Kind, Depends(kind_of_address)]
DagOfAddress = Annotated[str, Depends(dag_of_address)]
Acceptor = Annotated[str, Depends(acceptor)]
Trier = Annotated[str, Depends(trier)]
TrierOnThePage = Annotated[str, Depends(trier_on_the_page)]
