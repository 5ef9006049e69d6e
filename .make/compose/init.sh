#!/bin/sh
# Once before Airflow's services start: the database in its newest form, and the pool that bounds how many Spark drivers
# of plans run at once. Safe to repeat; a pool that somebody has resized is left as it is.
set -eu
airflow db migrate
airflow pools get rocketmq_capacity >/dev/null 2>&1 ||
  airflow pools set rocketmq_capacity 2 "Spark drivers of plans at once"
