"""Processes of `webhook-sender`, and clocks that are wrong."""

import glob
import os
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter

from sink import SECRET

LIBRARY = "/usr/lib/*/faketime/libfaketimeMT.so.1"
INSTALLATION = threading.Lock()


def has_faketime():
    """Returns `True` if libfaketime is installed, or could be."""
    # a second apt-get beside the first one would fail
    with INSTALLATION:
        if not glob.glob(LIBRARY) and os.getuid() == 0 and shutil.which("apt-get"):
            apt = ["apt-get", "install", "-qqy", "--no-install-recommends", "faketime"]
            subprocess.run(apt, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return bool(glob.glob(LIBRARY))


def environment(clock=None):
    """Environment of a sender whose wall clock is off, for example by `+1d`."""
    variables = dict(os.environ, WEBHOOK_SECRET=SECRET)
    if clock:
        wrong = {"LD_PRELOAD": glob.glob(LIBRARY)[0], "FAKETIME": clock}
        variables |= wrong | {"DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return variables


class Sender:
    """A running sender; `rate` charges a second are given to it."""

    program = None
    running = set()

    def __init__(self, store, urls, *, rate=0, amounts=0, clock=None, flags=()):
        words = [self.program, *flags, str(store), *urls, *["1"] * amounts, "-"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(words, env=environment(clock), text=True, **pipes)
        self.running.add(self)
        self.stored = {}  # id: monotonic time
        self.dispositions = Counter()
        self.errors = []
        self.rate = rate
        self.readers = [
            threading.Thread(target=self.read_output, daemon=True),
            threading.Thread(target=self.read_errors, daemon=True),
        ]
        self.feeder = threading.Thread(target=self.feed, daemon=True)
        for thread in (*self.readers, self.feeder):
            thread.start()

    def read_output(self):
        for line in self.process.stdout:
            word, _, event = line.strip().rpartition(" ")
            if word == "stored":
                self.stored[event] = time.monotonic()
            else:
                self.dispositions[word.split(" ")[0]] += 1

    def read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.strip())

    def feed(self):
        begun, given = time.monotonic(), 0
        try:
            while self.process.poll() is None:
                now = time.monotonic()
                while self.rate and given < (now - begun) * self.rate:
                    given += 1
                    # the amount is the time of the charge, in microseconds
                    self.process.stdin.write(f"{int(now * 1e6) % 2**32}\n")
                self.process.stdin.flush()
                if not self.rate:
                    begun, given = now, 0
                time.sleep(0.01)
        except OSError:
            pass  # the process has ended

    def has_stored(self, seconds=20):
        """Waits for the first charge."""
        return wait_for(lambda: self.stored or self.process.poll() is not None, seconds) and self.stored

    def kill(self):
        self.process.kill()
        self.end(5)

    def terminate(self, seconds):
        """Sends SIGTERM; returns the exit code and the seconds until the end."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return self.end(seconds), time.monotonic() - begun

    def end(self, seconds):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = None
        for thread in (*self.readers, self.feeder):
            thread.join(5)
        self.running.discard(self)
        return code


def wait_for(condition, seconds):
    """Polls a condition; returns `False` after a timeout."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
