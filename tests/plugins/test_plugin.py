"""The plugins as Airflow loads them: in every process, so lightly; in the API server with its pages."""

import subprocess
import sys

import pytest

from tests.fixtures.environment import ROOT

pytestmark = pytest.mark.airflow
LOADED = """
import sys
from airflow import plugins_manager
before = set(sys.modules)
plugins, errors = plugins_manager._get_plugins()
assert not errors, errors
for name in ("rocketmq_capacity_reports", "rocketmq_capacity_forms"):
    assert [p.name for p in plugins].count(name) == 1, name
print(*sorted(set(sys.modules) - before), sep="\\n")
"""


def test_loading_the_plugins_loads_no_page_and_no_web_framework():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "rocketmq_capacity_reports" in loaded
    heavy = ("rocketmq_capacity_pages", "rocketmq_capacity.", "fastapi", "starlette", "jinja2", "msgspec", "vl_convert")
    ours = ("airflow.api_fastapi",)
    assert [name for name in loaded if name.startswith((*heavy, *ours))] == ["rocketmq_capacity.provider.form_plugin"]
    stems = {path.stem for path in (ROOT / "plugins" / "rocketmq_capacity_pages").glob("*.py")}
    assert stems.isdisjoint(loaded)  # a page's module under its bare name could hide another's


def test_airflow_lists_the_app_and_its_two_places_in_the_interface(api):
    told = api("admin").get("/api/v2/plugins").json()["plugins"]
    (ours,) = [plugin for plugin in told if plugin["name"] == "rocketmq_capacity_reports"]

    assert [app["url_prefix"] for app in ours["fastapi_apps"]] == ["/rocketmq-capacity"]
    places = {view["destination"]: view for view in ours["external_views"]}
    assert set(places) == {"nav", "dag_run"}
    for view in places.values():
        assert view["name"] == "Capacity"
        assert not view["href"].startswith(("/", "http"))  # behind a URL prefix the host's root is not Airflow's


def test_the_app_has_no_page_that_describes_it(api):
    for name in ("docs", "redoc", "openapi.json"):
        assert api("admin").get(f"/rocketmq-capacity/{name}").status_code == 404
