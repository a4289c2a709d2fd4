"""The program mongod of our mongo image: SecantusDB with the options, variables and start of the official image."""

import argparse
import logging
import os
import re
import signal
import stat
import sys

from secantus import SecantusDBServer, __version__
from secantus.commands import CommandContext, dispatch

from replica_set import ReplicaSet

NAME = f"mongo stand-in: SecantusDB {__version__}"
LIFETIME = "transactionLifetimeLimitSeconds"


class Server(SecantusDBServer):
    """A SecantusDB that reports to drivers the address from the configuration of the replica set.

    Otherwise SecantusDB reports the address on which it listens.
    """

    replica_set: ReplicaSet | None = None

    @property
    def address(self) -> tuple[str, int]:
        if self.replica_set is not None and self.replica_set.config is not None:
            return self.replica_set.address()
        return super().address


def parse(arguments: list[str]) -> argparse.Namespace:
    """Returns the supported options of mongod. Refuses all other options and names them."""
    parser = argparse.ArgumentParser("mongod", description=NAME, allow_abbrev=False)
    parser.add_argument("--replSet", metavar="NAME")
    parser.add_argument("--keyFile", metavar="FILE", help="checked like in mongod; switches on authentication")
    parser.add_argument("--auth", action="store_true")
    parser.add_argument("--bind_ip", metavar="ADDRESS", help="one address")
    parser.add_argument("--bind_ip_all", action="store_true")
    parser.add_argument("--port", type=int, default=27017)
    parser.add_argument("--dbpath", metavar="FOLDER", default="/data/db")
    parser.add_argument("--wiredTigerCacheSizeGB", type=float, default=0.25, metavar="GB")
    parser.add_argument("--setParameter", type=parameter, default=60.0, metavar=f"{LIFETIME}=SECONDS", dest="lifetime")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--version", action="version", version=NAME)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        fail(f"mongod {' '.join(unknown)}: the stand-in does not have this option")
    if options.bind_ip and "," in options.bind_ip:
        fail(f"--bind_ip {options.bind_ip}: the stand-in listens on one address; use --bind_ip_all")
    if options.keyFile:
        check_key_file(options.keyFile)
    return options


def parameter(text: str) -> float:
    name, _, value = text.partition("=")
    if name != LIFETIME:
        fail(f"--setParameter {text}: the stand-in does not have this parameter")
    if not re.fullmatch(r"[1-9]\d*", value):
        fail(f"--setParameter {text}: needs a number of seconds, 1 or more")
    return float(value)


def check_key_file(file: str) -> None:
    try:
        with open(file, encoding="utf-8") as stream:
            key = re.sub(r"\s", "", stream.read())
    except OSError as error:
        fail(f"--keyFile {file}: {error.strerror}")
    if stat.S_IMODE(os.stat(file).st_mode) & 0o077:
        fail(f"--keyFile {file}: permissions are too open; chmod 400")
    if not re.fullmatch(r"[A-Za-z0-9+/=]{6,1024}", key):
        fail(f"--keyFile {file}: needs 6 to 1024 base64 characters; openssl rand -base64 756")


def root_user() -> tuple[str, str] | None:
    """Removes MONGO_INITDB_ROOT_USERNAME and _PASSWORD from the environment, and returns both.

    The same variables with the ending _FILE name files that contain the values.
    """
    name, password = (secret(f"MONGO_INITDB_ROOT_{part}") for part in ("USERNAME", "PASSWORD"))
    if bool(name) != bool(password):
        fail("MONGO_INITDB_ROOT_USERNAME and MONGO_INITDB_ROOT_PASSWORD must both be set, or neither")
    return (name, password) if name and password else None


def secret(variable: str) -> str | None:
    file = os.environ.pop(f"{variable}_FILE", None)
    value = os.environ.pop(variable, None)
    if not file:
        return value
    if value:
        fail(f"both {variable} and {variable}_FILE are set")
    with open(file, encoding="utf-8") as stream:
        return stream.read().rstrip("\n")


def create_root_user(server: Server, name: str, password: str) -> None:
    """Creates the root user at the first start, when no user exists, before clients can connect."""
    context = CommandContext(connection_id=0, storage=server.storage, cursors=server.cursors, db_name="admin")
    if dispatch({"usersInfo": 1, "$db": "admin"}, context)["users"]:
        return
    roles = [{"role": "root", "db": "admin"}]
    reply = dispatch({"createUser": name, "pwd": password, "roles": roles, "$db": "admin"}, context)
    if not reply["ok"]:
        fail(f"MONGO_INITDB_ROOT_USERNAME: {reply['errmsg']}")
    print(f"created user {name} in admin", flush=True)


def fail(message: str) -> None:
    sys.exit(f"error: {message}")


def main() -> None:
    options = parse(sys.argv[1:])
    level = logging.WARNING if options.quiet else logging.INFO
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")
    print(f"{NAME} in place of MongoDB, on port {options.port}. For tests on machines without the real image.", flush=True)
    root = root_user()
    host = "0.0.0.0" if options.bind_ip_all or not options.bind_ip else options.bind_ip
    server = Server(
        host=host,
        port=options.port,
        storage_path=options.dbpath,
        replica_set_name=options.replSet,
        require_auth=bool(root or options.auth or options.keyFile),
        enable_test_commands=False,
        cache_size=f"{round(options.wiredTigerCacheSizeGB * 1024)}M",
        sync_on_commit=True,
        transaction_lifetime_seconds=options.lifetime,
    )
    if root:
        create_root_user(server, *root)
    if options.replSet:
        server.replica_set = ReplicaSet(options.replSet, options.port, os.path.join(options.dbpath, "replica-set.json"))
        server.replica_set.install()
        server.step_down_state = server.replica_set
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: sys.exit(0))
    try:
        server.start()
        print("Waiting for connections", flush=True)
        server.wait()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
