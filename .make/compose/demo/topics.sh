#!/bin/sh
# Makes the demo's topics and groups once both brokers have registered; safe to repeat.
# Runs in the image of RocketMQ, in the folder of its programs.
set -eu
namesrv=rocketmq-namesrv:9876

if [ -z "${COMPOSE_PROFILES:-}" ]; then
  echo "set COMPOSE_PROFILES=demo in .env instead of --profile: Airflow has to be told of this cluster too" >&2
  exit 1
fi

admin() {
  # The tools report an error and end with status 0: what they say is what counts.
  java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$ROCKETMQ_HOME/conf:$ROCKETMQ_HOME/lib/*" \
    -Drmq.logback.configurationFile="$ROCKETMQ_HOME/conf/rmq.tools.logback.xml" \
    org.apache.rocketmq.tools.command.MQAdminStartup "$@" -n "$namesrv" 2>&1
}

# made WORD COMMAND…: repeats the command until it says the word, or the time is up.
made() {
  word=$1
  shift
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    said=$(admin "$@" || true)
    case $said in
    *"$word"*) return 0 ;;
    esac
    sleep 3
  done
  printf '%s\n' "$* did not succeed:" "$said" >&2
  exit 1
}

made broker-a clusterList
made broker-b clusterList
# Queues for each of the two brokers.
made success updateTopic -c demo -t demo_orders -r 8 -w 8
made success updateTopic -c demo -t demo_payments -r 2 -w 2
made success updateTopic -c demo -t demo_invoices -r 2 -w 4
for group in demo_shipping demo_audit demo_mixed demo_invoicing; do
  made success updateSubGroup -c demo -g "$group"
done
echo "the demo's topics and groups are there"
