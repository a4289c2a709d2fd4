#!/bin/sh
# Runs the command. If the first argument is not a program, runs node with all arguments, as in the official image.
set -e
if [ "${1#-}" != "$1" ] || ! command -v "$1" >/dev/null 2>&1 || { [ -f "$1" ] && [ ! -x "$1" ]; }; then
  set -- node "$@"
fi
exec "$@"
