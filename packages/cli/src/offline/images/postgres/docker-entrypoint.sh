#!/usr/bin/env bash
# Runs the command; postgres as user postgres, who then owns its data, with a superuser and a database from the first start on, as in the
# official image.
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
  # Half of it must not count: what an interrupted first start left goes.
  find "$PGDATA" -mindepth 1 -delete
  initdb --username="$user" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256 --no-instructions
  printf "listen_addresses = '*'\n" >>"$PGDATA/postgresql.conf"
  printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  if [ "$database" != postgres ]; then
    # Before anybody else can reach it.
    pg_ctl --silent --wait --options='-c listen_addresses=' start
    createdb --username="$user" --maintenance-db=postgres "$database"
    pg_ctl --silent --wait --mode=fast stop
  fi
fi
unset POSTGRES_PASSWORD
exec "$@"
