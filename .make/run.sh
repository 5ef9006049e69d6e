#!/bin/sh
# The daily Dag, once, on the recorded inventory; then where its report is, and a summary.
set -eu
cd "$PROJECT_HOME"
marker=.airflow/run-started
touch "$marker"
echo "make run: planning the recorded cluster with the daily Dag (log: .airflow/run.log)"
started=$(date +%s)
if ! airflow dags test rocketmq_capacity_plan >.airflow/run.log 2>&1; then
  tail -n 40 .airflow/run.log >&2
  echo "make run: the Dag failed; its whole log is .airflow/run.log" >&2
  exit 1
fi
echo "make run: planned in $(($(date +%s) - started)) s"
plan=$(find data/lake -name plan.json -path '*/report/*' -newer "$marker" | sort | tail -n 1)
python -m rocketmq_capacity.report.summary "$plan"
echo "report: $PROJECT_HOME/${plan%plan.json}report.html"
