# One image for Airflow and for Spark, so that the driver's Python, Spark and libraries are the executors'.
# Pinned to what docker-library/repo-info records of this tag on 1 September 2026, for all its platforms. To move it on:
#   docker buildx imagetools inspect python:3.11-slim-bookworm
ARG PYTHON=python:3.11.16-slim-bookworm@sha256:c425d915a89a6dcd3183b1797ad9bd8878caff5a417f6371c8df93c8ea8b727f

FROM ${PYTHON} AS wheel
WORKDIR /source
COPY requirements-build.txt ./
RUN pip install --no-cache-dir --require-hashes --requirement requirements-build.txt
COPY pyproject.toml README.md LICENSE ./
COPY include/ include/
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM ${PYTHON}
SHELL ["/bin/bash", "-o", "pipefail", "-c"]

# Debian's own updates are wanted, so that its version is not pinned; slim images lack the folder of man pages, which
# the Java package links into.
# hadolint ignore=DL3008
RUN mkdir -p /usr/share/man/man1 \
    && apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/*

# The layer that is large and seldom changes comes before those that are small and often do.
COPY requirements.txt /tmp/requirements.txt
RUN pip install --no-cache-dir --require-hashes --requirement /tmp/requirements.txt

RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-deps /wheels/*.whl

# A named volume that is empty takes its owner from the folder in the image that it is mounted over.
RUN groupadd --gid 50000 capacity \
    && useradd --uid 50000 --gid capacity --create-home capacity \
    && install --directory --owner=capacity --group=capacity --mode=0750 \
      /var/lib/airflow /var/lib/airflow/logs \
      /var/lib/rocketmq-capacity /var/lib/rocketmq-capacity/lake \
      /var/lib/rocketmq-capacity/what_ifs /var/lib/rocketmq-capacity/inventories

ENV PROJECT_HOME=/opt/rocketmq-capacity \
    RMQC_LAKE=/var/lib/rocketmq-capacity/lake \
    RMQC_WHAT_IFS=/var/lib/rocketmq-capacity/what_ifs \
    RMQC_INVENTORIES=/var/lib/rocketmq-capacity/inventories \
    PYSPARK_PYTHON=/usr/local/bin/python \
    SPARK_CONF_DIR=/opt/rocketmq-capacity/spark-conf \
    AIRFLOW_HOME=/var/lib/airflow \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/rocketmq-capacity/dags \
    AIRFLOW__CORE__PLUGINS_FOLDER=/opt/rocketmq-capacity/plugins \
    AIRFLOW__CORE__LOAD_EXAMPLES=false \
    AIRFLOW__CORE__EXECUTOR=LocalExecutor \
    AIRFLOW__LOGGING__BASE_LOG_FOLDER=/var/lib/airflow/logs

# Owned by root and readable whatever the checkout's rights: what runs cannot change its own program.
WORKDIR /opt/rocketmq-capacity
COPY --chmod=0755 include/rocketmq_capacity/spark/log4j2.properties .make/compose/spark-defaults.conf spark-conf/
COPY --chmod=0755 .make/airflow_api.py .make/compose/*.py .make/compose/*.sh start/
COPY --chmod=0755 spark_apps/ spark_apps/
COPY --chmod=0755 plugins/ plugins/
COPY --chmod=0755 dags/ dags/

USER 50000:50000
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=10s --start-period=90s --retries=4 \
  CMD ["python", "/opt/rocketmq-capacity/start/healthy.py", "api-server"]
CMD ["sh", "/opt/rocketmq-capacity/start/api_server.sh"]
