#!/bin/sh
# Runs a command with the secret that all of Spark shares:  spark.sh COMMAND [ARGUMENT…]
# Spark's master, its workers and its drivers take it from their settings. It is written where this container alone reads
# it, beside the image's settings, and taken out of the environment.
set -eu
: "${SPARK_SECRET:?is not set: Spark has no secret to share}"
settings=$(mktemp -d)
cp "$SPARK_CONF_DIR"/* "$settings"
printf '\nspark.authenticate.secret  %s\n' "$SPARK_SECRET" >>"$settings/spark-defaults.conf"
export SPARK_CONF_DIR="$settings"
unset SPARK_SECRET
exec "$@"
