"""What every test may ask for; each fixture stands in a module of ``tests/fixtures``."""

from tests.fixtures.environment import set_environment

# Before anything imports Airflow or starts a JVM: both read their environment once.
set_environment()

pytest_plugins = [
    "tests.fixtures.judges",
    "tests.fixtures.no_skips",
    "tests.fixtures.plan_dag",
    "tests.fixtures.spark",
]
