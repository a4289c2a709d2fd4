#!/bin/sh
# Runs the command. Options and plain files go to node, as in the official image.
set -e
if [ "${1#-}" != "$1" ] || ! command -v "$1" >/dev/null 2>&1 || { [ -f "$1" ] && [ ! -x "$1" ]; }; then
  set -- node "$@"
fi
exec "$@"
