"""Reads lines {"check": "full", "base64": "..."} and writes a line {"code", "pointers"} for each. The conformance test uses this."""

import base64
import json
import sys

from envelope import check

for line in sys.stdin:
    given = json.loads(line)
    code, pointers = check(base64.b64decode(given["base64"]), given["check"])
    print(json.dumps({"code": code, "pointers": pointers}))
