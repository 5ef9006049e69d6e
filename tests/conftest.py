"""The fixtures that every test may ask for; each is defined in a module of ``tests/fixtures``."""

from hypothesis import settings

from tests.fixtures.environment import set_environment

# Before anything imports Airflow or starts a JVM: both read their environment once.
set_environment()

pytest_plugins = [
    "tests.fixtures.judges",
    "tests.fixtures.no_skips",
    "tests.fixtures.groups",
    "tests.fixtures.left_out",
    "tests.fixtures.plan_dag",
    "tests.fixtures.plan_here",
    "tests.fixtures.s3",
    "tests.fixtures.gcs",
    "tests.fixtures.hdfs",
    "tests.fixtures.spark",
]

# How long an example takes says something about the machine, and nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
