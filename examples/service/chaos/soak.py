"""Ten minutes of calm load: failures, durations and memory at the begin and at the end."""

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path

READERS = 2
QUERY = "{ charges(first: 5) { nodes { id amount status } } }"
# allowed ratios of the end to the start
SLOWER, LARGER = 1.5, 1.1
# a process may grow by this much whatever its size, in MB
GROWTH = 8


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
    token = await traffic.service_token()
    body = json.dumps({"query": QUERY}).encode()
    while not traffic.is_over:
        await traffic.send("GET", "/v1/charges?limit=5", token)
        await traffic.send("POST", "/graphql", token | {"content-type": "application/json"}, body)
        await traffic.pause(0.1, 0.4)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Soak:
    """Compares the second tenth of a run, after the caches are filled, with the last tenth."""

    def __init__(self, run, seconds):
        self.run, self.seconds = run, seconds
        self.samples = {desk.name: [] for desk in run.desks}

    async def take(self):
        run = self.run
        run.traffic.failures.clear()
        run.traffic.durations.clear()
        run.load += [asyncio.create_task(read(run.traffic)) for _ in range(READERS)]
        run.background += [asyncio.create_task(watch(desk, self.samples[desk.name])) for desk in run.desks]
        self.began = time.monotonic()
        await asyncio.sleep(self.seconds)
        self.ended = time.monotonic()

    def tenths(self, found, at):
        """The values of the second and of the last tenth."""
        tenth = (self.ended - self.began) / 10
        starts = [self.began + tenth, self.ended - tenth]
        return [[value for value in found if start <= at(value) < start + tenth] for start in starts]

    def figures(self):
        """What is compared: a name, its value at the start and at the end, and the allowed end."""
        durations = self.tenths(self.run.traffic.durations, lambda duration: duration[0])
        for name, share in [("p50", 0.5), ("p99", 0.99)]:
            start, end = [1000 * percentile([value for _, value in tenth], share) for tenth in durations]
            yield f"{name} in ms", start, end, SLOWER * start
        for desk, samples in self.samples.items():
            tenths = self.tenths(samples, lambda taken: taken.at)
            start, end = [percentile([taken.rss for taken in tenth], 0.5) for tenth in tenths]
            yield f"memory of {desk} in MB", start, end, max(LARGER * start, start + GROWTH)
            start, end = [percentile([taken.files for taken in tenth], 0.5) for tenth in tenths]
            yield f"open files of {desk}", start, end, start + 20

    def violations(self):
        for failure in self.run.traffic.failures:
            yield f"soak: failed: {failure}"
        for name, start, end, allowed in self.figures():
            if end > allowed:
                yield f"soak: {name}: {start:.1f} at the start, {end:.1f} at the end"

    def summary(self):
        requests = [value for at, value in self.run.traffic.durations if self.began <= at < self.ended]
        seconds = self.ended - self.began
        yield f"soak: {len(requests)} requests in {seconds:.0f} s, {len(requests) / seconds:.0f} a second"
        for name, start, end, allowed in self.figures():
            yield f"{name}: {start:.1f} at the start, {end:.1f} at the end, at most {allowed:.1f}"
