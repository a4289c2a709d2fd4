#!/usr/bin/env -S bash -p
# Publishes the event of a file to orderevents: ./publish.sh event.json
set -euo pipefail

if [ $# -ne 1 ]; then
  echo 'usage: publish.sh event.json' >&2
  exit 2
fi
if ! command -v kcat >/dev/null; then
  echo 'kcat is missing: apt-get install kcat' >&2
  exit 1
fi
root=$(cd "$(dirname "$0")/../../.." && pwd)
if ! "$root/packages/cli/node" "$root/packages/envelope/src/cli/main.ts" validate "$1" >&2; then
  echo 'not published' >&2
  exit 1
fi
settings=(-b "${KAFKA_BROKERS:-localhost:9092}" -X message.timeout.ms=10000)
if [ -n "${KAFKA_USER-}" ]; then
  # Versions before 2.6.1 send a nonce that Kafka 4 refuses, and report no reason (confluentinc/librdkafka#4895).
  library=$(kcat -V | sed -n 's/.*librdkafka \([0-9.]*[0-9]\).*/\1/p')
  if [ "$(printf '%s\n' 2.6.1 "$library" | sort -V | head -n 1)" != 2.6.1 ]; then
    echo "not published: this kcat has librdkafka $library, but a user and password need 2.6.1 or newer" >&2
    exit 1
  fi
  # Passes the password through a pipe. Every program on this machine can read arguments, and a file would remain if this script were killed.
  : "${KAFKA_PASSWORD:?is not set}"
  exec 3< <(printf 'sasl.username=%s\nsasl.password=%s\n' "$KAFKA_USER" "$KAFKA_PASSWORD")
  settings+=(-F /dev/fd/3 -X security.protocol=SASL_SSL -X sasl.mechanism=SCRAM-SHA-512)
  settings+=(-X "ssl.ca.location=${KAFKA_CA:?is not set}")
fi
# kcat sends a file argument as one record, but standard input as one record for each line.
if ! kcat "${settings[@]}" -q -P -t orderevents "$1"; then
  echo 'not published' >&2
  exit 1
fi
echo 'published to orderevents'
