"""A PostgreSQL server of the faults' own, in a temporary folder."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

VERSIONS = Path("/usr/lib/postgresql")
SETTINGS = "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=100 -p {port}"


class Postgres:
    """A server that starts with an empty cluster. Commits wait for the disk."""

    def __init__(self):
        versions = [path for path in VERSIONS.glob("*/bin") if (path / "initdb").exists()]
        if not versions:
            raise SystemExit("no PostgreSQL programs in /usr/lib/postgresql: install `postgresql`")
        self.programs = max(versions, key=lambda path: int(path.parent.name))
        self.folder = Path(tempfile.mkdtemp(prefix="faults-postgres-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "--username", "postgres", "--auth", "trust", "--no-sync", "--no-locale")
        self.start()

    def run(self, program, *words):
        # PostgreSQL refuses to run as root
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        command = [*user, self.programs / program, "-D", self.folder / "data", *words]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, check=True, cwd=self.folder, **quiet)

    def start(self):
        settings = SETTINGS.format(port=self.port)
        self.run("pg_ctl", "start", "-w", "-l", self.folder / "log", "-o", settings)

    def stop_immediately(self):
        self.run("pg_ctl", "stop", "-m", "immediate")

    def database(self, name, port=None):
        """Creates a database; returns its URL, through another port if given."""
        server = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        subprocess.run([self.programs / "createdb", *server, name], check=True)
        return f"postgres://postgres@127.0.0.1:{port or self.port}/{name}"

    def remove(self):
        try:
            self.stop_immediately()
        except subprocess.CalledProcessError:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)
