#!/bin/sh
# The daily Dag, once, on the recorded inventory; then where its report is, and a summary.
set -eu
cd "$PROJECT_HOME"
marker=.airflow/run-started
touch "$marker"
echo "make run: planning the recorded cluster with the daily Dag (log: .airflow/run.log)"
started=$(date +%s)
airflow dags test rocketmq_capacity_plan >.airflow/run.log 2>&1 &
dag=$!
trap 'kill "$dag" 2>/dev/null || true' INT TERM
said=""
# A step is done once its manifest is in the lake.
tell() {
  for step in snapshot allocate assess recommend publish; do
    case "$said" in *" $step"*) continue ;; esac
    found=$(find data/lake -name "$step.json" -path '*/steps/*' -newer "$marker" 2>/dev/null | head -n 1)
    [ -n "$found" ] || return 0
    said="$said $step"
    echo "make run: $step is done, after $(($(date +%s) - started)) s"
  done
}
while kill -0 "$dag" 2>/dev/null; do
  sleep 1
  tell
done
tell
if ! wait "$dag"; then
  tail -n 40 .airflow/run.log >&2
  echo "make run: the Dag failed; its whole log is .airflow/run.log" >&2
  exit 1
fi
echo "make run: planned in $(($(date +%s) - started)) s"
plan=$(find data/lake -name plan.json -path '*/report/*' -newer "$marker" | sort | tail -n 1)
python -m rocketmq_capacity.report.summary "$plan"
