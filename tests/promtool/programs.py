"""promtool, Prometheus and a reader of Grafana's schema, built once with Go into .cache.

They have no packages that can be installed. To build them takes minutes and some GB of Go modules: too much for every
run of the tests.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

PROMETHEUS_MODULE: Final = "github.com/prometheus/prometheus@v0.313.5"
GRAFANA_MODULE: Final = "github.com/grafana/grafana-foundation-sdk/go@v0.0.22"
CACHE: Final = Path(__file__).parents[2] / ".cache"
PROMTOOL: Final = CACHE / "promtool"
PROMETHEUS: Final = CACHE / "prometheus"
GRAFANA_SCHEMA: Final = CACHE / "grafana-schema"
SOURCE: Final = Path(__file__).with_name("grafana_schema.go")
LIMIT_S: Final = 3_600
GO: Final = {"GOWORK": "off", "GOFLAGS": "-mod=mod"}


def build() -> None:
    """Build what is not there. Errors: CalledProcessError with what Go says."""
    CACHE.mkdir(exist_ok=True)
    missing = [one for one in (PROMTOOL, PROMETHEUS) if not one.exists()]
    if missing:
        _build_prometheus(missing)
    if not GRAFANA_SCHEMA.exists():
        _build_grafana_schema()


def _build_prometheus(programs: list[Path]) -> None:
    """In a copy of the module, whose ``replace`` lines hold only there; without what finds targets in clouds."""
    told = _go("mod", "download", "-json", PROMETHEUS_MODULE)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        shutil.copytree(json.loads(told)["Dir"], source, copy_function=shutil.copyfile)
        for inside in (source, *(path for path in source.rglob("*") if path.is_dir())):
            inside.chmod(0o755)
        for program in programs:
            _go("build", "-tags", "remove_all_sd", "-o", str(program), f"./cmd/{program.name}", cwd=source)


def _build_grafana_schema() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(SOURCE, Path(folder) / "main.go")
        _go("mod", "init", "grafana_schema", cwd=Path(folder))
        _go("get", GRAFANA_MODULE, cwd=Path(folder))
        _go("build", "-o", str(GRAFANA_SCHEMA), ".", cwd=Path(folder))


def _go(*arguments: str, cwd: Path | None = None) -> str:
    environment = {**os.environ, **GO}
    done = subprocess.run(
        ["go", *arguments], check=True, stdout=subprocess.PIPE, text=True, cwd=cwd, env=environment, timeout=LIMIT_S
    )
    return done.stdout
