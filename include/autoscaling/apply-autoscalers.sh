#!/bin/sh
# Applies an autoscalers.yaml with kubectl, or refuses it if it is too old. For a CronJob or a pipeline of your own:
#   apply-autoscalers.sh plan/autoscalers.yaml
set -eu

file=${1:?expected the path of an autoscalers.yaml}
until=$(sed -n '1s/^# .* Not after \([0-9TZ:-]*\)\.$/\1/p' "$file")
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)

case $until in
  [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*Z) ;;
  *)
    echo "$file: its first line does not say until when it holds; nothing is applied" >&2
    exit 2
    ;;
esac
# Times of one form are in the order of their texts.
if [ "$(printf '%s\n%s\n' "$now" "$until" | LC_ALL=C sort | tail -n 1)" = "$now" ]; then
  echo "$file: holds until $until, and it is $now; nothing is applied: plan the cluster again" >&2
  exit 3
fi
kubectl apply --server-side --filename "$file"
