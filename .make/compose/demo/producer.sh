#!/bin/sh
# Sends to the demo's topics for ever, gently: a burst for each topic, then a pause. /tmp/sent holds something once the
# consumers have had time to share the queues, which clients do every 20 s.
# Runs in the image of RocketMQ, in the folder of its programs.
set -eu
: >/tmp/sent
while :; do
  for load in demo_orders:160 demo_payments:40 demo_invoices:40; do
    java -Xmx128m -Xss512k -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$ROCKETMQ_HOME/conf:$ROCKETMQ_HOME/lib/*" \
      -Drmq.logback.configurationFile="$ROCKETMQ_HOME/conf/rmq.client.logback.xml" \
      org.apache.rocketmq.example.benchmark.Producer \
      -n rocketmq-namesrv:9876 -t "${load%:*}" -q "${load#*:}" -w 2 -s 200 || true
  done
  sleep 5
  [ -s /tmp/sent ] || sleep 25
  echo sent >/tmp/sent
done
