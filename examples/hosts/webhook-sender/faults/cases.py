"""The cases: each yields the numbers of its line, and raises `Missed` if they miss their goal."""

import random
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from postgres import Postgres
from proxy import Proxy
from sender import Sender, has_faketime, wait_for
from sink import Sink

# bounds of the specification, in seconds
FREED = 15
THAWED = 30
DRAINED = 40


class Missed(Exception):
    """A number misses its goal."""


class Skipped(Exception):
    """A case cannot run on this machine."""


class Faults:
    """Settings of a run, its folder and its PostgreSQL server."""

    def __init__(self, folder, quick):
        self.folder, self.quick = folder, quick
        self.servers, self.shared, self.lock = [], None, threading.Lock()

    def own_server(self):
        server = Postgres()
        self.servers.append(server)
        return server

    def shared_server(self):
        with self.lock:
            self.shared = self.shared or self.own_server()
            return self.shared

    def on_each_store(self, name, case):
        """Runs a case on an SQLite file and on a PostgreSQL database at the same time."""
        stores = [self.folder / f"{name}.sqlite", self.shared_server().database(name)]
        with ThreadPoolExecutor() as threads:
            lines = threads.map(lambda store: case(self, store), stores)
            yield from (f"{kind}: {line}" for kind, line in zip(["SQLite", "PostgreSQL"], lines))

    def end(self):
        for sender in list(Sender.running):
            sender.kill()
        for server in self.servers:
            server.remove()


def require(condition, text):
    if not condition:
        raise Missed(text)


def require_all(stored, sinks, seconds=90):
    """Waits until each sink has acknowledged all events; returns the seconds of the wait."""
    begun = time.monotonic()
    stored = set(stored)

    def lost():
        return sum(len(stored - sink.acknowledged.keys()) for sink in sinks)

    wait_for(lambda: not lost(), seconds)
    require(not lost(), f"{lost()} of {len(stored)} events lost")
    forged = sum(sink.counts["forged"] for sink in sinks)
    require(not forged, f"{forged} signatures are wrong")
    return time.monotonic() - begun


def kills(faults):
    """kill -9 of senders in a row"""
    yield from faults.on_each_store("kills", kills_on)


def kills_on(faults, store):
    number = 6 if faults.quick else 60
    sink, stored = Sink(delay=0.02), {}
    for life in range(number):
        sender = Sender(store, [sink.url], rate=100)
        require(sender.has_stored(), f"no charge was stored: {sender.errors}")
        # one in ten lives long enough to free the leases of those before it
        time.sleep(11 if life % 10 == 9 else random.uniform(0.02, 0.4))
        sender.kill()
        stored |= sender.stored
    left = len(stored.keys() - sink.acknowledged.keys())
    last = Sender(store, [sink.url])
    seconds = require_all(stored, [sink])
    code, _ = last.terminate(DRAINED)
    require(code == 0, f"the last sender exits with {code}: {last.errors}")
    return (
        f"{number} kills, {len(stored)} stored, {left} open after the last kill and delivered in"
        f" {seconds:.1f} s, 0 lost, {sink.counts['repeated']} repeated"
    )


def processes(faults):
    """three senders on one PostgreSQL, one killed now and then"""
    number = 2 if faults.quick else 12
    # a process must live for 11 s to free the leases of a killed one
    pause = (2, 3) if faults.quick else (6, 8)
    sink, stored = Sink(delay=0.4), {}
    store = faults.shared_server().database("processes")

    def start():
        return Sender(store, [sink.url], rate=2)

    senders = [start() for _ in range(3)]
    require(all(sender.has_stored() for sender in senders), "a sender does not start")
    for index in range(number):
        time.sleep(random.uniform(*pause))
        killed = senders[index % 3]
        killed.kill()
        stored |= killed.stored
        time.sleep(0.1 if index % 2 else 1.5)
        senders[index % 3] = start()
    for sender in senders:
        sender.rate = 0
    for sender in senders:
        stored |= sender.stored
    require_all(stored, [sink])
    waits = [sink.acknowledged[event] - at for event, at in sink.interrupted.items()]
    since = [max(0, sink.acknowledged[event] - at) for event, at in stored.items()]
    codes = [sender.terminate(DRAINED)[0] for sender in senders]
    require(codes == [0, 0, 0], f"exit codes {codes}")
    require(waits or faults.quick, "no exchange was open at a kill")
    longest = max(waits, default=0)
    require(longest <= FREED, f"work of a killed process waited {longest:.1f} s")
    require(max(since) <= FREED, f"an event waited {max(since):.1f} s")
    yield (
        f"{number} kills, {len(stored)} stored, 0 lost; {len(waits)} open exchanges cut off and delivered"
        f" in at most {longest:.1f} s; longest delivery of all {max(since):.1f} s"
    )


def server_stops(faults):
    """immediate stops of the PostgreSQL server"""
    number = 2 if faults.quick else 6
    server = faults.own_server()
    sink, resumed = Sink(delay=0.02), []
    sender = Sender(server.database("stops"), [sink.url], rate=100)
    require(sender.has_stored(), "no charge was stored")
    for _ in range(number):
        time.sleep(random.uniform(0.5, 1.5))
        server.stop_immediately()
        time.sleep(random.uniform(0, 2))
        server.start()
        begun = time.monotonic()
        resumes = lambda: max(sink.arrived.values()) > begun + 0.05
        require(wait_for(resumes, THAWED), "deliveries do not resume")
        resumed.append(max(0, time.monotonic() - begun))
    sender.rate = 0
    time.sleep(0.2)
    require_all(sender.stored, [sink])
    code, _ = sender.terminate(DRAINED)
    require(code == 0, f"exit code {code}: {sender.errors[-3:]}")
    yield (
        f"{number} stops, {len(sender.stored)} stored, 0 lost; deliveries resume in at most"
        f" {max(resumed):.1f} s, {sink.counts['repeated']} repeated"
    )


def frozen_link(faults):
    """TCP connections to PostgreSQL that freeze, while new ones work"""
    number = 1 if faults.quick else 4
    server = faults.shared_server()
    proxy, sink, resumed, frozen = Proxy(server.port), Sink(delay=0.02), [], 0
    store = server.database("frozen", proxy.port)
    sender = Sender(store, [sink.url], rate=100)
    require(sender.has_stored(), "no charge was stored")
    for _ in range(number):
        time.sleep(random.uniform(0.5, 1.5))
        begun = time.monotonic()
        frozen += proxy.freeze()
        # arrivals of the first second were leased before
        resumes = lambda: max(sink.arrived.values()) > begun + 1
        require(wait_for(resumes, 2 * THAWED), "deliveries do not resume in 60 s")
        resumed.append(max(sink.arrived.values()) - begun)
        require(resumed[-1] <= THAWED, f"deliveries resume after {resumed[-1]:.1f} s")
    sender.rate = 0
    time.sleep(0.2)
    require_all(sender.stored, [sink])
    sender.rate = 100
    time.sleep(1)
    proxy.freeze()
    time.sleep(0.5)
    code, seconds = sender.terminate(2 * DRAINED)
    require(code is not None and seconds <= DRAINED, f"SIGTERM ends it after {seconds:.1f} s")
    last = Sender(store, [sink.url])
    require_all({**sender.stored, **last.stored}, [sink])
    last.terminate(DRAINED)
    yield (
        f"{number} freezes of {frozen} connections, {len(sender.stored)} stored, 0 lost; deliveries"
        f" resume in at most {max(resumed):.1f} s; SIGTERM while frozen exits with {code} in {seconds:.1f} s"
    )


def clock_steps(faults):
    """the clock +1 day and -1 hour around a crash"""
    if not has_faketime():
        raise Skipped("libfaketime is not installed (Debian: faketime)")
    yield from faults.on_each_store("clocks", clock_steps_on)


def clock_steps_on(faults, store):
    sink, stored, longest = Sink(delay=0.3), {}, 0
    clocks = ["+1d", "-1h"] if faults.quick else ["+1d", "-1h", None, "+1d", "-1h"]
    sender = Sender(store, [sink.url], rate=5)
    require(sender.has_stored(), f"no charge was stored: {sender.errors}")
    for clock in clocks:
        time.sleep(1)
        sender.kill()
        stored |= sender.stored
        pending = stored.keys() - sink.acknowledged.keys()
        begun = time.monotonic()
        sender = Sender(store, [sink.url], rate=5, clock=clock)
        require(sender.has_stored(), f"no charge was stored: {sender.errors}")
        require_all(pending | set(list(sender.stored)[:1]), [sink])
        longest = max(longest, time.monotonic() - begun)
        require(longest <= FREED, f"{len(pending)} pending after {longest:.1f} s at {clock}")
    sender.rate = 0
    time.sleep(0.2)
    stored |= sender.stored
    require_all(stored, [sink])
    code, _ = sender.terminate(DRAINED)
    require(code == 0, f"exit code {code}")
    return (
        f"{len(clocks)} crashes, each with a new clock: {', '.join(clock or '0' for clock in clocks)};"
        f" {len(stored)} stored, 0 lost; pending and new events delivered in at most {longest:.1f} s"
    )


def wrong_clock(faults):
    """a sender whose clock is minutes off, and receivers that verify timestamps"""
    if not has_faketime():
        raise Skipped("libfaketime is not installed (Debian: faketime)")
    # a hold of a clock that was ahead ends when the right clock has reached its end
    for clock, seconds in [("-10m", 15)] if faults.quick else [("-10m", 15), ("+6m", 450)]:
        yield refused(faults, clock)
        yield held(faults, clock, seconds)


def skewed_sinks():
    return [Sink(f"127.0.0.{host}", tolerance=300) for host in (1, 2, 3)]


def held(faults, clock, seconds):
    sinks = skewed_sinks()
    urls = [sink.url for sink in sinks]
    store = faults.folder / f"held{clock}.sqlite"
    wrong = Sender(store, urls, amounts=20, clock=clock, flags=["--hold-skew"])
    require(wait_for(lambda: len(wrong.stored) == 20, 20), f"nothing stored: {wrong.errors}")
    require(wait_for(lambda: wrong.dispositions, 20), "no delivery was attempted")
    time.sleep(3)
    code, _ = wrong.terminate(DRAINED)
    require(code == 0, f"exit code {code}")
    require(wrong.dispositions.keys() == {"Held"}, f"not held: {dict(wrong.dispositions)}")
    right = Sender(store, urls)
    seconds = require_all(wrong.stored, sinks, seconds)
    right.terminate(DRAINED)
    return (
        f"{clock} with --hold-skew: 20 events for 3 receivers held"
        f" ({wrong.dispositions['Held']} attempts), all delivered {seconds:.1f} s after a restart"
        " with the right clock"
    )


def refused(faults, clock):
    sinks = skewed_sinks()
    store = faults.folder / f"refused{clock}.sqlite"
    sender = Sender(store, [sink.url for sink in sinks], amounts=20, clock=clock)
    settled = wait_for(lambda: sender.dispositions.total() == 60, 30)
    require(settled, f"not settled: {dict(sender.dispositions)}")
    code, _ = sender.terminate(DRAINED)
    require(code == 0, f"exit code {code}")
    alarms = [line for line in sender.errors if line.startswith("clock.skewed: ")]
    require(alarms, "the operator is not told")
    with closing(sqlite3.connect(store)) as database:
        select = "SELECT state, count(*) FROM webhook_delivery GROUP BY state"
        states = dict(database.execute(select).fetchall())
    require(sum(states.values()) == 60, f"states {states}")
    return f"{clock} without: 60 deliveries replayable as {states}; {len(alarms)} lines `{alarms[-1]}`"


def hung_receivers(faults):
    """20 hung receivers beside 20 healthy ones"""
    number, warm, measured = (20, 11, 5) if faults.quick else (20, 25, 40)
    rate = 4
    alone, beside = ([Sink() for _ in range(number)] for _ in range(2))
    hung = [Sink(hangs=True) for _ in range(number)]
    # at the same time, so that both see the same machine
    senders = [
        Sender(faults.folder / "alone.sqlite", [sink.url for sink in alone], rate=rate),
        Sender(faults.folder / "beside.sqlite", [sink.url for sink in hung + beside], rate=rate),
    ]
    require(all(sender.has_stored() for sender in senders), "a sender does not start")
    time.sleep(warm)
    # a stall of the disk meets one of the two, so a miss is measured again
    for _ in range(3):
        begun = time.monotonic()
        time.sleep(measured)
        (median, p99), (hung_median, hung_p99) = (percentiles(sinks, begun) for sinks in (alone, beside))
        if hung_p99 <= 2 * p99:
            break
    for sender in senders:
        sender.rate = 0
    time.sleep(1)
    require_all(senders[0].stored, alone)
    require_all(senders[1].stored, beside)
    attempts = sum(len(sink.arrived) + sink.counts["repeated"] for sink in hung)
    for sender in senders:
        sender.kill()
    line = (
        f"p50 {median:.1f} ms and p99 {p99:.1f} ms alone, p50 {hung_median:.1f} ms and p99"
        f" {hung_p99:.1f} ms beside {number} hung receivers ({attempts} attempts)"
    )
    require(hung_p99 <= 2 * p99, line)
    yield line


def percentiles(sinks, begun):
    """Median and 99th percentile in milliseconds, of the deliveries since `begun`."""
    latencies = sorted(1000 * wait for sink in sinks for at, wait in sink.latencies if at > begun)
    require(len(latencies) >= 100, f"{len(latencies)} deliveries")
    return latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]
