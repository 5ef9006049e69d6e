#!/bin/sh
# Prints an .env with new secrets:  sh .make/compose/new_env.sh > .env
# What each is for stands in .env.example.
set -eu
random_hex() { head -c "$1" /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

printf 'POSTGRES_PASSWORD=%s\n' "$(random_hex 24)"
printf 'AIRFLOW_FERNET_KEY=%s\n' "$(head -c 32 /dev/urandom | base64 | tr '+/' '-_')"
printf 'AIRFLOW_JWT_SECRET=%s\n' "$(random_hex 64)"
printf 'SPARK_SECRET=%s\n' "$(random_hex 32)"
printf 'AIRFLOW_ADMIN_PASSWORD=%s\n' "$(random_hex 12)"
