"""Runs an example of a crate as a program of its own, and counts its lines.

Used by `.ci/examples` and by `oauth-core/examples/run`.
"""

import os
import re
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# seconds
WAIT = 30


def check(name, found, wanted):
    if found != wanted:
        raise SystemExit(f"{name}: {found!r} instead of {wanted!r}")
    print(f"{name}: {found}")


def own_lines(text):
    """Lines that are not blank, `use`, comments, attributes or lone braces."""
    count, skipped = 0, None
    for line in map(str.strip, text.splitlines()):
        if skipped:
            skipped = None if line.endswith(skipped) else skipped
        elif line.startswith(("use ", "#[", "#![")):
            end = ";" if line.startswith("use ") else "]"
            skipped = None if line.endswith(end) else end
        elif line and not line.startswith("//") and line not in ("{", "}"):
            count += 1
    return count


def check_lines(package, limits):
    """Compares the lines of each example with its limits: of all lines, and of its own."""
    folder = ROOT / package / "examples"
    check(f"examples of {package}", sorted(file.stem for file in folder.glob("*.rs")), sorted(limits))
    for name, (most, most_own) in limits.items():
        text = (folder / f"{name}.rs").read_text()
        lines, own = len(text.splitlines()), own_lines(text)
        print(f"{name}: {lines} lines, {own} of its own")
        if lines > most or own > most_own:
            raise SystemExit(f"{name}: more than {most} lines, or {most_own} of its own")


def build(*packages):
    """Builds the examples of the packages, and returns their folder."""
    options = [word for package in packages for word in ("-p", package)]
    command = ["cargo", "build", "--locked", "--quiet", *options, "--examples"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "debug/examples"


class Example:
    """A started example; its output is in a file."""

    def __init__(self, built, folder, name, *arguments, **environment):
        self.log = folder / f"{name}.log"
        self.name = name
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [built / name, *arguments], stdout=log, stderr=log, env={**os.environ, **environment}
            )

    def said(self, text):
        """Waits for a text in the output, for at most 30 s."""
        for _ in range(WAIT * 10):
            if text in self.log.read_text():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit(f"{self.name} did not say `{text}`:\n{self.log.read_text()}")

    def address(self):
        """Address that the example listens on, as `host:port`."""
        self.said("listening on http://")
        return re.search(r"listening on http://([^\s/]+)", self.log.read_text())[1]

    def stop(self):
        self.process.kill()
        self.process.wait()
