#!/bin/sh
# Runs a command in the project's own environment:  .make/env.sh COMMAND [ARGUMENT…]
# The virtual environment comes first on PATH; Java, Spark and Airflow get the settings of a laptop. A deployment sets its own.
set -eu
home=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# Without byte code every airflow command compiles all of Airflow again (7 s instead of 2.6 s).
unset PYTHONDONTWRITEBYTECODE
export PROJECT_HOME="$home"
export PATH="$home/.venv/bin:$PATH"
export VIRTUAL_ENV="$home/.venv"

# Java and Spark: loopback only, few log lines, and a quick start of the JVM that only puts a command together (its class
# archive is optional). What the driver is started with goes by the size of the plan: see spark/jvm.py.
if [ -s "$home/.cache/java-home" ]; then
  JAVA_HOME=$(cat "$home/.cache/java-home")
  export JAVA_HOME PATH="$JAVA_HOME/bin:$PATH"
fi
quick="-XX:TieredStopAtLevel=1"
archive="$home/.venv/share/rocketmq-capacity/spark.jsa"
if [ -s "$archive" ]; then
  quick="$quick -XX:SharedArchiveFile=$archive -Xlog:cds=off -Xlog:cds+dynamic=off"
fi
export SPARK_LOCAL_IP=127.0.0.1
export SPARK_LAUNCHER_OPTS="${SPARK_LAUNCHER_OPTS-$quick}"
logs="$home/include/rocketmq_capacity/spark/log4j2.properties"
export SPARK_SUBMIT_OPTS="${SPARK_SUBMIT_OPTS-} -Dlog4j2.configurationFile=file:$logs"
export PYSPARK_PYTHON="$home/.venv/bin/python"
unset SPARK_HOME SPARK_CONF_DIR PYSPARK_DRIVER_PYTHON

# Airflow: SQLite and everything it writes under a folder that git ignores, whatever Airflow the caller has elsewhere.
export AIRFLOW_HOME="$home/.airflow"
export AIRFLOW__DATABASE__SQL_ALCHEMY_CONN="sqlite:///$home/.airflow/airflow.db"
export AIRFLOW__CORE__EXECUTOR=LocalExecutor
export AIRFLOW__CORE__DAGS_FOLDER="$home/dags"
export AIRFLOW__CORE__PLUGINS_FOLDER="$home/plugins"
export AIRFLOW__CORE__LOAD_EXAMPLES=false
# What is triggered on a paused Dag waits for ever.
export AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION=false
export AIRFLOW__API__HOST=127.0.0.1
export AIRFLOW__LOGGING__LOGGING_LEVEL="${AIRFLOW__LOGGING__LOGGING_LEVEL-WARNING}"
# Without a readable connection the Spark hook quietly goes to YARN, so one is always there.
local_spark='{"conn_type": "spark", "host": "local[*]", "extra": {"deploy-mode": "client"}}'
export AIRFLOW_CONN_SPARK_DEFAULT="${AIRFLOW_CONN_SPARK_DEFAULT-$local_spark}"

exec "$@"
