"""Adds mongod's rs.initiate() and its effects to SecantusDB.

SecantusDB is always the primary of a replica set of one, at its own address. mongod waits until a client initiates the set.
The client also sets the address for drivers. SecantusDB lacks a public interface for commands, so requirements.txt pins its version.
"""

import json
import os
import socket

from secantus import commands, rbac
from secantus.stepdown import StepDownState


class ReplicaSet(StepDownState):
    """The set's configuration in `file`. Without a configuration the node refuses writes, like a node that has stepped down."""

    def __init__(self, name: str, port: int, file: str) -> None:
        super().__init__()
        self.name = name
        self._port = port
        self._file = file
        self.config: dict | None = None
        if os.path.exists(file):
            with open(file, encoding="utf-8") as stream:
                self.config = json.load(stream)
            if self.config["_id"] != name:
                raise SystemExit(f"error: --replSet {name}: this data belongs to replica set {self.config['_id']}")

    def is_stepped_down(self) -> bool:
        return self.config is None or super().is_stepped_down()

    def address(self) -> tuple[str, int]:
        """Returns host and port of the only member in the configuration. Drivers connect to these."""
        host, _, port = self.config["members"][0]["host"].rpartition(":")
        return host, int(port)

    def initiate(self, request: dict, _context) -> dict:
        if self.config is not None:
            return refusal(23, "AlreadyInitialized", "already initialized")
        config = request["replSetInitiate"] or {"_id": self.name, "members": [{"_id": 0, "host": socket.gethostname()}]}
        if config.get("_id") != self.name:
            return invalid(f"the set's name is {self.name} (--replSet), not {config.get('_id')}")
        members = config.get("members", [])
        if len(members) != 1 or not members[0].get("host"):
            return invalid("this stand-in is a set of exactly one member, which needs a host")
        host = str(members[0]["host"])
        member = {"_id": int(members[0].get("_id", 0)), "host": host if ":" in host else f"{host}:{self._port}"}
        self._save({"_id": self.name, "version": 1, "members": [member]})
        return {"ok": 1.0}

    def _save(self, config: dict) -> None:
        partial = f"{self._file}.partial"
        with open(partial, "w", encoding="utf-8") as stream:
            json.dump(config, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.rename(partial, self._file)
        self.config = config
        self.step_down_for(0)  # increases the topology's counter, because drivers ignore a change without a higher counter

    def get_config(self, _request: dict, _context) -> dict:
        return NOT_YET if self.config is None else {"config": self.config, "ok": 1.0}

    def install(self) -> None:
        """Adds the commands to SecantusDB's tables, and lets hello and replSetGetStatus report an uninitiated set."""
        handlers = commands._HANDLERS
        status, hello = handlers["replSetGetStatus"], handlers["hello"]
        handlers["replSetGetStatus"] = lambda request, context: NOT_YET if self.config is None else status(request, context)
        for name in ("hello", "isMaster", "ismaster"):
            handlers[name] = lambda request, context: self._hello(hello(request, context))
        handlers["replSetInitiate"] = self.initiate
        handlers["replSetGetConfig"] = self.get_config
        for name in ("replSetInitiate", "replSetGetConfig"):
            commands._COMMAND_ACTIONS[name] = (rbac.A_SET_PARAMETER, rbac.SCOPE_CLUSTER)

    def _hello(self, reply: dict) -> dict:
        if self.config is not None:
            return reply
        kept = {key: value for key, value in reply.items() if key not in MEMBER_FIELDS}
        return {**kept, "secondary": False, "isreplicaset": True, "info": "Does not have a valid replica set config"}


MEMBER_FIELDS = {"setName", "setVersion", "hosts", "passives", "arbiters", "me", "primary", "electionId", "lastWrite"}


def refusal(code: int, name: str, message: str) -> dict:
    return {"ok": 0.0, "errmsg": message, "code": code, "codeName": name}


def invalid(message: str) -> dict:
    return refusal(93, "InvalidReplicaSetConfig", message)


NOT_YET = refusal(94, "NotYetInitialized", "no replset config has been received")
