#!/bin/sh
# A consumer of the demo: consumer.sh GROUP TOPIC. One that ends starts again, as it would under any supervisor.
# Runs in the image of RocketMQ, in the folder of its programs.
set -eu
while :; do
  java -Xmx128m -Xss512k -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$ROCKETMQ_HOME/conf:$ROCKETMQ_HOME/lib/*" \
    -Drmq.logback.configurationFile="$ROCKETMQ_HOME/conf/rmq.client.logback.xml" \
    org.apache.rocketmq.example.benchmark.Consumer \
    -n rocketmq-namesrv:9876 -g "$1" -t "$2" -w 2 -ri 60000 || true
  sleep 3
done
