"""Load without faults for minutes: failures, and the durations, memory and open files of the second
tenth and of the last tenth."""

import asyncio
import json
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from web import BROKEN

# shorter runs have too few requests to compare
LEAST = 100
READERS = 2
QUERY = "{ charges(first: 5) { edges { node { id amount status } } } }"
# hashing a password takes longer than any other work
HASHING = "POST /login"
# requests in a tenth of the run from which the median of a route is compared
FREQUENT = 200
# how much slower the end may be, how much larger in MB, and with how many more open files
SLOWER, GROWTH, FILES = 1.5, 5, 20


@dataclass
class Sample:
    """Memory and open files of a process."""

    at: float
    rss: float  # MB
    files: int


def sample(process):
    folder = Path(f"/proc/{process.pid}")
    status = (folder / "status").read_text()
    kilobytes = int(status.split("VmRSS:")[1].split()[0])
    return Sample(time.monotonic(), kilobytes / 1000, len(list((folder / "fd").iterdir())))


async def watch(desk, samples):
    while True:
        samples.append(sample(desk.process))
        await asyncio.sleep(1)


async def read(traffic):
    """A client that lists charges over REST and GraphQL."""
    body = json.dumps({"query": QUERY}).encode()
    while not traffic.is_over:
        token = await traffic.service_token()
        requests = [("GET", "/v1/charges?limit=5", token, b"")]
        requests.append(("POST", "/graphql", token | {"content-type": "application/json"}, body))
        for request in requests:
            try:
                answer = await traffic.send(*request)
            except BROKEN:
                continue  # counted as a failure
            if answer.status != 200 or "errors" in answer.json():
                traffic.failures.append(f"{request[1]}: {answer.status} {answer.body[:300]}")
        await traffic.pause(0.1, 0.4)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Soak:
    """Compares the second tenth of a run, after the caches are filled, with the last tenth."""

    def __init__(self, traffic, samples, began, ended):
        self.traffic, self.samples = traffic, samples
        self.began, self.ended = began, ended

    @classmethod
    async def take(cls, run, seconds):
        run.traffic.failures.clear()
        run.traffic.durations.clear()
        samples = {desk.name: [] for desk in run.desks}
        run.load += [asyncio.create_task(read(run.traffic)) for _ in range(READERS)]
        run.background += [asyncio.create_task(watch(desk, samples[desk.name])) for desk in run.desks]
        began = time.monotonic()
        await asyncio.sleep(seconds)
        return cls(run.traffic, samples, began, time.monotonic())

    def tenths(self, found, at):
        """The values of the second and of the last tenth."""
        tenth = (self.ended - self.began) / 10
        starts = [self.began + tenth, self.ended - tenth]
        return [[value for value in found if start <= at(value) < start + tenth] for start in starts]

    def figures(self):
        """What is compared: a name, its value at the start and at the end, and the allowed end."""
        durations = [taken for taken in self.traffic.durations if taken[1] != HASHING]
        tenths = self.tenths(durations, lambda taken: taken[0])
        start, end = [1000 * percentile([seconds for *_, seconds in tenth], 0.99) for tenth in tenths]
        yield "p99 in ms", start, end, SLOWER * start
        routes = [defaultdict(list), defaultdict(list)]
        for tenth, by_route in zip(tenths, routes):
            for _, route, seconds in tenth:
                by_route[route].append(seconds)
        for route in sorted(routes[0]):
            if min(len(by_route[route]) for by_route in routes) >= FREQUENT:
                start, end = [1000 * percentile(by_route[route], 0.5) for by_route in routes]
                yield f"median of {route} in ms", start, end, SLOWER * start
        for desk, samples in self.samples.items():
            tenths = self.tenths(samples, lambda taken: taken.at)
            # the floor: a password that is being hashed takes tens of MB for a moment
            for name, of, growth in [("memory in MB", "rss", GROWTH), ("open files", "files", FILES)]:
                start, end = [percentile([getattr(taken, of) for taken in tenth], 0.1) for tenth in tenths]
                yield f"{name} of {desk}", start, end, start + growth

    def violations(self):
        for failure in self.traffic.failures:
            yield f"soak: failed: {failure}"
        for name, start, end, allowed in self.figures():
            if end > allowed:
                yield f"soak: {name}: {start:.1f} at the start, {end:.1f} at the end"

    def summary(self):
        requests = [taken for taken in self.traffic.durations if self.began <= taken[0] < self.ended]
        seconds = self.ended - self.began
        yield f"soak: {len(requests)} requests in {seconds:.0f} s, {len(requests) / seconds:.0f} a second"
        for name, start, end, allowed in self.figures():
            yield f"{name}: {start:.1f} at the start, {end:.1f} at the end, at most {allowed:.1f}"


class Calm:
    """A made-up run of 1,000 s without a violation, which a test damages."""

    def __init__(self):
        self.failures = []
        self.durations = [(at / 4, "GET /v1/charges", 0.010 + at % 7 / 1000) for at in range(4000)]
        self.samples = {"one": [Sample(at, 80.0, 40) for at in range(1000)]}

    def violations(self):
        return list(Soak(self, self.samples, 0, 1000).violations())

    def slow_down(self, share):
        late = range(3600, 4000)
        for index in [index for index in late if index % 100 < 100 * share]:
            at, route, seconds = self.durations[index]
            self.durations[index] = (at, route, 3 * seconds)


def damages():
    """Yields a damage, and a text of the violation that must be found."""
    yield "p99", lambda calm: calm.slow_down(0.05)
    yield "median of GET", lambda calm: calm.slow_down(1)
    for name, late in [("memory", Sample(0, 85.5, 40)), ("open files", Sample(0, 80.0, 61))]:
        yield name, lambda calm, late=late: calm.samples["one"].extend(
            Sample(900 + at / 10, late.rss, late.files) for at in range(1000)
        )
    yield "failed", lambda calm: calm.failures.append("GET /: 500")


def self_test():
    """Returns what is wrong with the checks of a soak."""
    if found := Calm().violations():
        return found
    for name, damage in damages():
        damage(calm := Calm())
        found = [violation for violation in calm.violations() if name in violation]
        if not found:
            return [f"soak: {name} is not found"]
        print(f"found: {found[0]}", flush=True)
    return []
