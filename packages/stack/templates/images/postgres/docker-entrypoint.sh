#!/usr/bin/env bash
# Runs the command, as in the official image. postgres runs as user postgres, who owns its data. The first start creates a superuser and a database.
set -euo pipefail
if [ "${1:0:1}" = - ]; then set -- postgres "$@"; fi
if [ "$1" != postgres ]; then exec "$@"; fi

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  find "$PGDATA" ! -user postgres -exec chown postgres {} +
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?is not set, and a superuser without a password would let anyone in}"
  user=${POSTGRES_USER:-postgres}
  database=${POSTGRES_DB:-$user}
  # Removes the files of an interrupted first start.
  find "$PGDATA" -mindepth 1 -delete
  initdb --username="$user" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256 --no-instructions
  printf "listen_addresses = '*'\n" >>"$PGDATA/postgresql.conf"
  printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  if [ "$database" != postgres ]; then
    # Creates the database before other clients can connect.
    pg_ctl --silent --wait --options='-c listen_addresses=' start
    createdb --username="$user" --maintenance-db=postgres "$database"
    pg_ctl --silent --wait --mode=fast stop
  fi
fi
unset POSTGRES_PASSWORD
exec "$@"
