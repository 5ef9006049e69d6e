"""Metrics for Prometheus: the deployment's token opens them, and nothing else; without one they need a login."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.plugins.stored_reports import CLUSTER, LAST, run_id_of
from tests.plugins.test_access import OF_PLANS, ROOT

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

pytestmark = pytest.mark.airflow
METRICS = f"{ROOT}/metrics/{CLUSTER}"
TOKEN = "t0ken-of-the-test-0123456789abcdef"
Api = Callable[..., "TestClient"]


@pytest.fixture
def token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the deployment names."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    monkeypatch.setenv("RMQC_METRICS_TOKEN_FILE", str(file))
    return file


def asked(api: Api, given: str, address: str = METRICS, scheme: str = "Bearer") -> int:
    return int(api().get(address, headers={"Authorization": f"{scheme} {given}"}).status_code)


def test_the_token_opens_the_metrics_of_the_latest_plan(api: Api, lakes: tuple[Path, Path], token: Path) -> None:
    answer = api().get(METRICS, headers={"Authorization": f"Bearer {TOKEN}"})

    assert answer.status_code == 200
    assert answer.content == (lakes[0] / CLUSTER / run_id_of(LAST) / "report" / "metrics.prom").read_bytes()
    assert asked(api, TOKEN, f"{ROOT}/metrics/nowhere") == 404


def test_the_token_opens_nothing_else(api: Api, lakes: tuple[Path, Path], token: Path) -> None:
    others = [one for one in (*OF_PLANS, f"{ROOT}/", f"{ROOT}/style.css", "/api/v2/dags") if one != METRICS]

    assert {asked(api, TOKEN, address) for address in others} <= {401, 403}


@pytest.mark.parametrize("given", ["", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "\u00e9" * 34, "junk"])
def test_another_token_opens_nothing(api: Api, lakes: tuple[Path, Path], token: Path, given: str) -> None:
    header = b"Bearer " + given.encode("latin-1")
    assert api().get(METRICS, headers={b"Authorization": header}).status_code in {401, 403}


def test_it_is_a_bearer_token_and_no_password(api: Api, lakes: tuple[Path, Path], token: Path) -> None:
    assert asked(api, TOKEN, scheme="Basic") == 401
    assert api().get(f"{METRICS}?token={TOKEN}").status_code == 401


def test_a_login_opens_them_as_before(api: Api, lakes: tuple[Path, Path], token: Path) -> None:
    assert [api(user).get(METRICS).status_code for user in ("viewer", "planner", "dreamer", "")] == [200, 200, 403, 401]


def test_without_the_setting_no_token_opens_them(api: Api, lakes: tuple[Path, Path]) -> None:
    assert asked(api, TOKEN) == 403
    assert asked(api, "") == 401


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"short", b"two words of a token, which is none", b"\xff" * 40, b"x" * 5_000]
)
def test_a_file_that_holds_no_token_opens_nothing_and_is_one_line_in_the_log(
    api: Api, lakes: tuple[Path, Path], token: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    token.write_bytes(content)
    given = content.decode("latin-1").strip()

    assert api().get(METRICS, headers={b"Authorization": b"Bearer " + content.strip()}).status_code in {401, 403}
    lines = [one.getMessage() for one in caplog.records if "metrics need a login" in one.getMessage()]
    assert all(
        line.startswith(f"metrics need a login: RMQC_METRICS_TOKEN_FILE: {token} holds no token") for line in lines
    )
    assert not given or not any(given in line for line in lines)


def test_a_new_token_counts_at_once_and_one_that_cannot_be_read_is_none(
    api: Api, lakes: tuple[Path, Path], token: Path
) -> None:
    token.write_text(TOKEN.swapcase())
    assert (asked(api, TOKEN), asked(api, TOKEN.swapcase())) == (403, 200)

    token.unlink()
    assert asked(api, TOKEN.swapcase()) == 403


def test_the_token_is_in_no_log(
    api: Api, lakes: tuple[Path, Path], token: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    asked(api, TOKEN)
    asked(api, TOKEN, f"{ROOT}/")

    assert TOKEN not in caplog.text
