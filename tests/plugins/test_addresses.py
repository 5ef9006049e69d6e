"""What a running API server behind a URL prefix answers to addresses as people type them and to other programs."""

import http.client
from urllib.parse import urljoin

import pytest

from tests.plugins.api_server import ANSWERS_WITHIN_S, PREFIX, ApiServer
from tests.plugins.stored_reports import CLUSTER, LAST, run_id_of

pytestmark = [pytest.mark.airflow, pytest.mark.slow]
ROOT = f"{PREFIX}/rocketmq-capacity"
REPORT = f"{ROOT}/reports/plans/{CLUSTER}/{run_id_of(LAST)}/"


def asked(server: ApiServer, method: str, address: str, token: str = "") -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body as they come from the wire; redirects are not followed."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=ANSWERS_WITHIN_S)
    try:
        connection.request(method, address, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, headers, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("query", ["", "?kind=plans&text=a%20b%2F"])
def test_the_address_without_its_slash_leads_to_the_one_with_it(server, method, query):
    status, headers, _ = asked(server, method, ROOT + query)

    assert status == 307
    assert urljoin(server.url + "/rocketmq-capacity", headers["location"]) == f"{server.url}/rocketmq-capacity/{query}"


def test_what_only_begins_like_it_is_airflows(server):
    for address in (f"{ROOT}s", f"{PREFIX}/other/rocketmq-capacity", f"{PREFIX}/"):
        assert "location" not in asked(server, "GET", address)[1]


@pytest.mark.parametrize(
    "address",
    [
        f"{ROOT}/",
        f"{ROOT}/style.css",
        f"{ROOT}/difference?cluster={CLUSTER}",
        f"{ROOT}/trends/{CLUSTER}",
        REPORT,
        *(f"{REPORT}{name}" for name in ("report.html", "plan.json", "findings.csv")),
        f"{ROOT}/nothing",
    ],
)
@pytest.mark.parametrize("user", ["", "viewer"])
def test_head_has_the_headers_of_get_and_no_body(server, user, address):
    token = server.token(user) if user else ""
    status, headers, body = asked(server, "HEAD", address, token)
    whole_status, whole_headers, whole = asked(server, "GET", address, token)

    assert body == b""
    assert whole
    others_own = {"date": "", "vary": ""}  # Airflow's compression tells of itself where there is a body
    assert (status, headers | others_own) == (whole_status, whole_headers | others_own)
    if "content-length" in headers:
        assert int(headers["content-length"]) == len(whole)
