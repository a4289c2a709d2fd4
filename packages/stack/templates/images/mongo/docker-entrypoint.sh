#!/usr/bin/env bash
# Runs the command, as in the official image. mongod runs as the user mongodb, who owns the data.
set -euo pipefail
if [ "${1:0:1}" = - ]; then set -- mongod "$@"; fi
if [ "$1" = mongod ]; then
  for script in /docker-entrypoint-initdb.d/*.{sh,js}; do
    [ ! -e "$script" ] || { echo "error: $script: the stand-in runs no scripts at first start" >&2 && exit 1; }
  done
  if [ "$(id -u)" = 0 ]; then
    find /data/configdb /data/db ! -user mongodb -exec chown mongodb {} +
    set -- setpriv --reuid=mongodb --regid=mongodb --clear-groups "$@"
  fi
fi
exec "$@"
