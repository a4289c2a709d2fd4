#!/usr/bin/env -S bash -p
# Publishes the events of a file through event-gateway: ./publish.sh event.json
# The file contains an envelope or a list of envelopes. A file *.ndjson has one envelope in each line.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo 'usage: publish.sh event.json' >&2
  exit 2
fi
if [ ! -r "$1" ]; then
  echo "cannot read $1" >&2
  exit 1
fi
type=application/json
case $1 in *.ndjson) type=application/x-ndjson ;; esac
# Passes the key to curl through a pipe. Every program on this machine can read arguments, and older versions of bash write a here-string to a file.
header=''
if [ -n "${API_KEY-}" ]; then header="header = \"X-API-Key: $API_KEY\""; fi
# The gateway returns a result for each event, and the status 202 if it published all events, or 207 if it published only some.
answer=$(curl --silent --show-error --config - --header "Content-Type: $type" --data-binary "@$1" --write-out '\n%{http_code}' \
  "${GATEWAY:-http://localhost:5020}/v1/events/orderevents" < <(printf '%s\n' "$header"))
printf '%s\n' "${answer%$'\n'*}"
case ${answer##*$'\n'} in
202) ;;
207) echo 'only some are published' >&2 && exit 1 ;;
*) echo 'not published' >&2 && exit 1 ;;
esac
