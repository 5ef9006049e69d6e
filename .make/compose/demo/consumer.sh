#!/bin/sh
# A consumer of the demo: consumer.sh GROUP TOPIC [RATE OF FAILURE].
# Runs in the image of RocketMQ, in the folder of its programs.
set -eu
exec java -Xmx128m -cp "$ROCKETMQ_HOME/conf:$ROCKETMQ_HOME/lib/*" \
  -Drmq.logback.configurationFile="$ROCKETMQ_HOME/conf/rmq.client.logback.xml" \
  org.apache.rocketmq.example.benchmark.Consumer \
  -n rocketmq-namesrv:9876 -g "$1" -t "$2" -w 2 -r "${3:-0}" -ri 60000
