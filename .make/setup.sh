#!/bin/sh
# One step of the set-up:  .make/setup.sh python|package|dev|java|maven|postgres|browser|s3|gcs|archive|airflow
# Each is called once by the Makefile, which keeps a stamp of it, and runs two steps at once where neither needs the
# other. Each says what it does and how long that took, and ends in one clear line where it cannot go on.
set -eu
home=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$home"
unset PYTHONDONTWRITEBYTECODE
step=${1:-}

say() { printf '%s\n' "set-up, $step: $*"; }
stop() {
  say "$*" >&2
  exit 1
}

# as_root COMMAND…: runs it as root, or with sudo; fails where neither is to be had.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    return 1
  fi
}

# apt_install PACKAGE…: on Debian and Ubuntu, as root or with sudo; fails elsewhere.
apt_install() {
  command -v apt-get >/dev/null 2>&1 && as_root true 2>/dev/null || return 1
  say "installing $* with apt-get"
  mkdir -p .cache
  {
    # Two steps at once may come here, and apt-get takes one at a time.
    flock 9 &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@"
  } 9>.cache/apt.lock >>.cache/apt.log 2>&1 || return 1
}

install_packages() {
  .venv/bin/python .make/uv.py install -q --python .venv/bin/python "$@" ||
    stop "the packages could not be installed; pip's own settings (index, certificates, proxy) are used: pip config list"
}

python_of_machine() {
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

setup_python() {
  case $home in
  *[[:space:]]*) stop "the path $home holds a blank, which Spark's own scripts do not survive: move the project" ;;
  esac
  python=$(python_of_machine) || stop "Python 3.11 or later is needed; name one with: make PYTHON=/path/to/python3"
  if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    # Debian and Ubuntu ship the module apart.
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    apt_install "python$version-venv" ||
      stop "$python has no venv module: install it (on Debian and Ubuntu: apt-get install python$version-venv)"
  fi
  say "making .venv with $("$python" --version) from requirements.txt, by uv"
  "$python" -m venv .venv
  # Its pin, up to the last of its hashes.
  sed -n '/^uv==/,/[^\\]$/p' requirements-dev.txt >.venv/uv.txt
  .venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r .venv/uv.txt ||
    stop "pip could not install uv, which installs everything else"
  # Spark comes as source, 450 MB of jars that do not get smaller: its wheel is only unpacked again.
  install_packages --require-hashes -r requirements.txt \
    --config-settings-package 'pyspark:--build-option=--compression=stored'
}

setup_dev() {
  say "adding requirements-dev.txt to .venv"
  install_packages --compile-bytecode --require-hashes -r requirements-dev.txt
}

setup_package() {
  say "installing the package itself, editable"
  install_packages --no-deps --build-constraints requirements-build.txt -e .
}

# java_version HOME: prints its feature version, such as 17; fails where there is no Java that starts.
java_version() {
  [ -x "$1/bin/java" ] || return 1
  "$1/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.specification\.version = //p' | grep .
}

is_usable_java() {
  case $(java_version "$1") in
  17 | 21) return 0 ;;
  *) return 1 ;;
  esac
}

find_java() {
  on_path=$(command -v java 2>/dev/null || true)
  if [ -n "$on_path" ]; then
    on_path=$("$on_path" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p')
  fi
  for candidate in "${JAVA_HOME:-}" "$on_path" /usr/lib/jvm/java-17-openjdk-* /usr/lib/jvm/java-21-openjdk-*; do
    if [ -n "$candidate" ] && is_usable_java "$candidate"; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

setup_java() {
  mkdir -p .cache
  java=$(find_java) || {
    # Some releases ship only one of the two.
    apt_install openjdk-17-jre-headless || apt_install openjdk-21-jre-headless || true
    java=$(find_java) || stop "Java 17 or 21 is needed: install one (such as openjdk-17-jre-headless) or set JAVA_HOME to it"
  }
  printf '%s\n' "$java" >.cache/java-home
  say "Java $(java_version "$java") at $java"
}

# The tests that ask the official RocketMQ classes and a real broker need a compiler and Maven. They skip without.
setup_maven() {
  java=$(cat .cache/java-home)
  missing=""
  command -v mvn >/dev/null 2>&1 || missing="maven"
  [ -x "$java/bin/javac" ] || missing="$missing openjdk-$(java_version "$java")-jdk-headless"
  # shellcheck disable=SC2086 # a list of packages
  if [ -n "$missing" ] && ! apt_install $missing; then
    say "no Maven or no JDK here ($missing): the tests against the official RocketMQ classes and a real cluster will skip"
    return 0
  fi
  say "building the Java programs that ask them"
  JAVA_HOME="$java" PATH="$java/bin:$PATH" "$(python_of_machine)" -m tests.oracle.build ||
    say "they could not be built; the tests that need them will try again"
}

# The test of the whole stack runs Airflow on a PostgreSQL server of its own. It skips without.
setup_postgres() {
  for server in /usr/lib/postgresql/*/bin/initdb "$(command -v initdb 2>/dev/null || true)"; do
    [ ! -x "$server" ] || return 0
  done
  # Debian's package would start a server at once, and at every boot; only its programs are wanted.
  settings=/etc/postgresql-common/createcluster.conf
  if [ ! -e "$settings" ] && command -v apt-get >/dev/null 2>&1; then
    as_root sh -c "mkdir -p ${settings%/*} && echo 'create_main_cluster = false' >$settings" 2>/dev/null || true
  fi
  apt_install postgresql ||
    say "no PostgreSQL server here (Debian: apt-get install postgresql): the test of the whole stack will skip"
}

# The tests of a lake in an object store ask real servers, which are built once.
setup_s3() { build_server versitygw github.com/versity/versitygw/cmd/versitygw@v1.8.0; }

setup_gcs() { build_server fake-gcs-server github.com/fsouza/fake-gcs-server@v1.56.1; }

build_server() { # its name, its Go module
  go=$(command -v go 2>/dev/null || true)
  if [ -z "$go" ]; then
    say "no Go here: the tests of a lake in this store will skip"
    return 0
  fi
  say "building the server $1"
  GOBIN="$home/.cache/bin" "$go" install -ldflags "-s -w" "$2" >>".cache/go-$step.log" 2>&1 ||
    say "it could not be built (.cache/go-$step.log): the tests of a lake in this store will skip"
}

# What people read is looked at in a real browser. Its tests skip without one.
setup_browser() {
  missing="chromium"
  for browser in chromium chromium-browser google-chrome; do
    ! command -v "$browser" >/dev/null 2>&1 || missing=""
  done
  # Without a font for it, Chinese has no width of its own.
  [ -n "$(fc-list :lang=zh-cn 2>/dev/null)" ] || missing="$missing fontconfig fonts-wqy-zenhei"
  # Playwright, which leads the browser, needs a library that comes with compilers and not with a bare system.
  "$(python_of_machine)" -c 'import ctypes; ctypes.CDLL("libatomic.so.1")' 2>/dev/null || missing="$missing libatomic1"
  # shellcheck disable=SC2086 # a list of packages
  if [ -n "$missing" ] && ! apt_install $missing; then
    say "not here (Debian: apt-get install $missing): the tests of the pages and of the whole stack will skip or fail"
  fi
}

# A plan of the sample touches what every plan touches. Its report is the first one, and is told at once. Its JVM leaves
# class data at its end, which every later JVM of Spark maps instead of parsing: 10 s for a Spark app become 5 s.
setup_archive() {
  say "planning the recorded cluster, for a first report and for class data that let Spark start quicker"
  archive="$home/.venv/share/rocketmq-capacity/spark.jsa"
  plan="$home/.cache/first-plan"
  mkdir -p "${archive%/*}"
  rm -rf "$archive" "$plan"
  quick="-XX:TieredStopAtLevel=1 -Xlog:cds=off -Xlog:cds+dynamic=off"
  # In the foreground, so that Ctrl-C ends the plan too.
  SPARK_SUBMIT_OPTS="$quick -XX:ArchiveClassesAtExit=$archive" timeout --foreground 300 \
    "$home/.make/env.sh" spark-submit --master 'local[2]' "$home/include/rocketmq_capacity/__main__.py" \
    plan --inventory "$home/include/sample/inventory.json" --out "$plan" 2>&1 | tell_plan
  if [ ! -s "$plan/report.html" ] || [ ! -s "$archive" ]; then
    rm -f "$archive"
    say "no class archive could be made (.cache/archive.log); Spark starts slower without it"
  fi
}

# Of what the command plan says: a line for each step, and the summary. The whole is in the log.
tell_plan() {
  while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    case $line in
    *" INFO snapshot: done in"* | *" INFO allocate: done in"* | *" INFO assess: done in"* | *" INFO recommend: done in"*)
      line=${line#* INFO }
      say "${line%% s:*} s"
      ;;
    *" INFO "* | WARNING:*) ;;
    *) printf '%s\n' "$line" ;;
    esac
  done 3>.cache/archive.log
}

setup_airflow() {
  say "making Airflow's database under .airflow"
  mkdir -p .airflow
  is_new=$([ -e .airflow/airflow.db ] && echo no || echo yes)
  "$home/.make/env.sh" airflow db migrate >.airflow/migrate.log 2>&1 || {
    tail -n 20 .airflow/migrate.log >&2
    stop "Airflow's database could not be made (.airflow/migrate.log)"
  }
  # How many clusters are planned at once; kept as somebody has set it in the meantime. A new database has none.
  { [ "$is_new" = no ] && "$home/.make/env.sh" airflow pools get rocketmq_capacity >/dev/null 2>&1; } ||
    "$home/.make/env.sh" airflow pools set rocketmq_capacity 2 "Spark drivers of plans at once" >.airflow/pool.log 2>&1 || {
    tail -n 20 .airflow/pool.log >&2
    stop "Airflow's pool rocketmq_capacity could not be made (.airflow/pool.log)"
  }
}

case $step in
python | package | dev | java | maven | postgres | browser | s3 | gcs | archive | airflow)
  started=$(date +%s)
  "setup_$step"
  say "done in $(($(date +%s) - started)) s"
  ;;
*) stop "expected one of python, package, dev, java, maven, postgres, browser, s3, gcs, archive, airflow" ;;
esac
