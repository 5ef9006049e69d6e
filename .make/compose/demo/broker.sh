#!/bin/sh
# A broker of the demo: broker.sh BROKER_NAME HOST. HOST is the name under which the other containers reach this one.
# Runs in the image of RocketMQ, in the folder of its programs.
set -eu
cat >/tmp/broker.conf <<CONF
brokerClusterName=demo
brokerName=$1
brokerId=0
brokerIP1=$2
listenPort=10911
namesrvAddr=rocketmq-namesrv:9876
autoCreateTopicEnable=false
deleteWhen=04
fileReservedTime=2
mappedFileSizeCommitLog=67108864
CONF
exec sh mqbroker -c /tmp/broker.conf
