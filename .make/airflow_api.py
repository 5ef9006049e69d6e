"""Airflow's public REST API, as far as it is needed to start it; only the standard library is used."""

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Final

PATIENCE_S: Final = 30.0
# The API server is on this machine or in the next container, so no proxy is used.
_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Unanswered(Exception):
    """The API refused, or did not answer at all; the text is its reason.

    Attributes:
        status: the HTTP status, or None if nothing answered.
    """

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


class AirflowApi:
    """One API server; calls are made as whoever has logged in last."""

    def __init__(self, address: str) -> None:
        """Of an address such as ``http://127.0.0.1:8080``; nothing is asked yet."""
        self.address = address.rstrip("/")
        self._headers = {"Content-Type": "application/json"}

    def log_in(self, user: str, password: str) -> None:
        """Make the calls that follow in this user's name.

        Errors: Unanswered (401) for a wrong password.
        """
        answer = self._call("POST", "/auth/token", {"username": user, "password": password})
        self._headers["Authorization"] = f"Bearer {answer['access_token']}"

    def get(self, path: str, **query: str | int) -> Any:
        """The JSON at a path of ``/api/v2``."""
        return self._call("GET", f"/api/v2{path}" + (f"?{urllib.parse.urlencode(query)}" if query else ""))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Create something at a path of ``/api/v2``."""
        return self._call("POST", f"/api/v2{path}", body)

    def patch(self, path: str, body: dict[str, Any], **query: str | int) -> Any:
        """Change what is at a path of ``/api/v2``."""
        return self._call("PATCH", f"/api/v2{path}" + (f"?{urllib.parse.urlencode(query)}" if query else ""), body)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return fetched(self.address + path, method, self._headers, body)


def fetched(address: str, method: str = "GET", headers: dict[str, str] | None = None, body: object = None) -> Any:
    """The JSON that an address answers with.

    Errors: Unanswered if it refuses, does not answer, or answers without JSON.
    """
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(  # noqa: S310  # the address comes from whoever starts Airflow
        address, content, headers or {}, method=method
    )
    try:
        with _OPENER.open(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        reason = refusal.read(2000).decode(errors="replace")
        raise Unanswered(f"{method} {address}: {refusal.code} {reason}", refusal.code) from refusal
    except (OSError, ValueError) as silence:
        raise Unanswered(f"{method} {address}: {silence}") from silence
