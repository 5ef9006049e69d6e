#!/bin/sh
# Airflow's API server, with the logins that the environment names. They are written where this service alone reads them,
# and taken out of its environment.
set -eu
umask 077
passwords="$AIRFLOW_HOME/login.json"
python - "$passwords" <<'PYTHON'
import json
import os
import sys
from pathlib import Path

users = {"admin": "AIRFLOW_ADMIN_PASSWORD", "viewer": "AIRFLOW_VIEWER_PASSWORD"}
given = {user: os.environ[name] for user, name in users.items() if os.environ.get(name)}
if "admin" not in given:
    sys.exit("AIRFLOW_ADMIN_PASSWORD is not set: nobody could log in")
Path(sys.argv[1]).write_text(json.dumps(given))
PYTHON
# Whoever has no password here would get one that is printed.
AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS="admin:admin${AIRFLOW_VIEWER_PASSWORD:+,viewer:viewer}"
AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE="$passwords"
export AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE
unset AIRFLOW_ADMIN_PASSWORD AIRFLOW_VIEWER_PASSWORD
umask 027
exec airflow api-server
