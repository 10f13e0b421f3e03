"""The servers of a run: PostgreSQL, Redis and two processes of the desk, each killed and restarted."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "examples/hosts/webhook-sender/faults"))
from postgres import SETTINGS, Postgres

# for which a stopped process may finish its requests; /readyz is 503 before
DRAIN = 1
SILENT = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


async def accepts(port, seconds=20):
    """Waits until a server accepts connections."""
    end = time.monotonic() + seconds
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
        await asyncio.sleep(0.02)


class Database(Postgres):
    """A PostgreSQL server as a child of this program, killed with its backends."""

    name = "PostgreSQL"

    def start(self):
        user = {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}
        words = [self.programs / "postgres", "-D", self.folder / "data"]
        words += SETTINGS.format(port=self.port).split(" ")
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(words, cwd=self.folder, stdout=log, stderr=log, **user)
        self.wait_until_ready()

    def wait_until_ready(self):
        end = time.monotonic() + 30
        ask = [self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        while subprocess.run(ask).returncode != 0:
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit(f"PostgreSQL does not start: {(self.folder / 'log').read_text()}")
            time.sleep(0.02)

    def kill(self):
        """Kills the server and every process of it by SIGKILL."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        children = [int(word) for word in path.read_text().split()]
        for process in (self.process.pid, *children):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    async def stop_hard(self):
        self.kill()

    async def restart(self):
        await asyncio.to_thread(self.start)

    def query(self, sql):
        """Rows of a query as lists of texts."""
        words = ["psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", self.url, "-c", sql]
        text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        return [line.split("\t") for line in text.splitlines()]

    def stop_immediately(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()


class Redis:
    """A Redis server without persistence: a restart loses everything."""

    name = "Redis"

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}"

    async def restart(self):
        words = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port)]
        words += ["--save", "", "--dir", self.folder]
        self.process = await asyncio.create_subprocess_exec(*words, **SILENT)
        await accepts(self.port)

    async def stop_hard(self):
        self.process.kill()
        await self.process.wait()


class Desk:
    """A process of the desk on a port of its own, restarted like by a supervisor when it exits."""

    program = None

    def __init__(self, name, base_url, stores, folder):
        self.name, self.port = name, free_port()
        self.words = ["--listen", f"127.0.0.1:{self.port}", "--base-url", base_url]
        self.words += [*stores, "--log", "warn", "--drain-delay", str(DRAIN)]
        self.log = folder / f"{name}.log"
        self.process, self.is_wanted = None, False

    async def restart(self):
        self.is_wanted = True
        await self.spawn()

    async def spawn(self):
        with self.log.open("ab") as log:
            output = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            self.process = await asyncio.create_subprocess_exec(self.program, *self.words, **output)

    async def supervise(self):
        """Starts the process again, for example after its database was missing at the start."""
        while True:
            if self.is_wanted and self.process.returncode is not None:
                await self.spawn()
            await asyncio.sleep(0.2)

    async def stop_hard(self):
        self.is_wanted = False
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    async def stop_gently(self, seconds=20):
        """Sends SIGTERM; returns the exit code, or `None` if the process does not end."""
        self.is_wanted = False
        self.process.terminate()
        try:
            return await asyncio.wait_for(self.process.wait(), seconds)
        except TimeoutError:
            await self.stop_hard()
            return None
