"""Refuses a run of our Dags before it is made if its fields are wrong together.

That is a field that the Dag does not know, a risk to accept without a place, a reason or a day to come, a what-if
without a scenario, one that names what the latest snapshot of its cluster does not have, and an inventory file that is
not there. Airflow checks each field alone, and ignores one that it does not know.
Source: airflow.serialization.definitions.dag.SerializedDAG.create_dagrun, Airflow 3.3.2.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.core_api.security import requires_access_dag
from starlette.requests import Request

from rocketmq_capacity.one_at_a_time import LARGE, SMALL, OneAtATime
from rocketmq_capacity.provider.acceptance import acceptance_params
from rocketmq_capacity.provider.form import policy_params
from rocketmq_capacity.provider.form_formats import POLICY, check_ahead
from rocketmq_capacity.provider.known_fields import unknown_field
from rocketmq_capacity.provider.latest_names import places_of_deployment
from rocketmq_capacity.provider.request_check import RequestCheck
from rocketmq_capacity.provider.scenario_form import excess, scenario_params, scenario_problem
from rocketmq_capacity.provider.source import inventory_problem
from rocketmq_capacity.report.acceptance import DAG_ID as ACCEPT
from rocketmq_capacity.report.acceptance import problem_of

WHAT_IF: Final = "rocketmq_what_if"
FIELDS: Final = {
    "rocketmq_capacity_plan": frozenset({"clusters", "inventory", "replaces_plan", *policy_params()}),
    "rocketmq_capacity_approval": frozenset[str](),
    "rocketmq_capacity_sample": frozenset[str](),
    "rocketmq_capacity_retention": frozenset({"only_list", "any_number"}),
    ACCEPT: frozenset(acceptance_params()),
    WHAT_IF: frozenset({"cluster", "inventory", *scenario_params(), *policy_params()}),
}
"""The names of the Params of each Dag; the API server reads no Dag file."""
MAY_TRIGGER: Final = {dag_id: requires_access_dag("POST", DagAccessEntity.RUN, dag_id) for dag_id in FIELDS}


class TriggerForm(RequestCheck):
    """Checks the input of a run of one of our Dags, from the form or from a client of the API."""

    method = "POST"
    address = re.compile(rf"/api/v2/dags/(?P<dag_id>{'|'.join(FIELDS)})/dagRuns\Z")
    form = "conf"

    def permission(self, address: re.Match[str]) -> Callable[[Request, Any], None]:
        """To trigger the Dag."""
        return MAY_TRIGGER[address["dag_id"]]

    def lane(self, address: re.Match[str]) -> OneAtATime:
        """Of a what-if, a process of its own reads the latest snapshot."""
        return LARGE if address["dag_id"] == WHAT_IF else SMALL

    def refusal(self, fields: dict[str, Any], _body: dict[str, Any], address: re.Match[str]) -> str:
        """What is wrong with the input of the run."""
        if reason := unknown_field(fields, FIELDS[address["dag_id"]]):
            return reason
        if address["dag_id"] == ACCEPT:
            return problem_of(fields, datetime.now(UTC))
        if reason := excess(fields) or inventory_problem(fields.get("inventory"), places_of_deployment()):
            return reason
        check_ahead(fields.get("policy_changes"), POLICY)
        return scenario_problem(fields, places_of_deployment()) if address["dag_id"] == WHAT_IF else ""
