"""Builds the two programs of a migration, and judges their outcomes by its listed differences."""

import json
import subprocess
from collections import Counter


def build(folder):
    """Builds the package of a folder; returns the path of its program."""
    command = ["cargo", "build", "--quiet", "--locked", "--message-format=json"]
    command += ["--manifest-path", folder / "Cargo.toml"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    artifacts = [json.loads(line) for line in done.stdout.splitlines()]
    return [artifact["executable"] for artifact in artifacts if artifact.get("executable")][-1]


class Judge:
    """The result of a run. `differences.json` in `folder` has both outcomes of each case that differs, with
    the reason, and the guide of the folder has a row for each reason."""

    def __init__(self, folder, cases, arguments):
        self.folder, self.cases = folder, cases
        self.has_update = "--update" in arguments
        self.wanted = next((argument for argument in arguments if not argument.startswith("--")), "")
        self.path = folder / "differences.json"
        self.listed = json.loads(self.path.read_text())
        self.reasons, self.failures, self.ran = Counter(), 0, 0

    def chosen(self):
        """The cases with the text of the command line in their names."""
        return {name: case for name, case in self.cases.items() if self.wanted in name}

    def judge(self, name, one, other, is_allowed=True, logs=((), ())):
        """Compares the outcomes of a case; prints them if they are not as listed, or were asked for."""
        self.ran += 1
        is_expected = one == other and is_allowed
        if entry := self.listed.get(name):
            if self.has_update:
                entry |= {"before": one, "after": other}
            self.reasons[entry["reason"]] += 1
            is_expected = one != other and (entry["before"], entry["after"]) == (one, other)
        self.failures += not is_expected
        if self.wanted or not is_expected:
            print(f"--- {name}{'' if is_expected else ': not as listed'}")
            for program, outcome, log in zip(("before", "after"), (one, other), logs):
                print(program, *outcome, *(f"  log: {line}" for line in log), sep="\n  ")

    def end(self):
        """Prints the summary; returns the exit status."""
        guide = self.folder.with_suffix(".md").read_text()
        for reason in self.reasons:
            if f"| {reason} |" not in guide:
                print(f"the guide lacks this row: {reason}")
                self.failures += 1
        if not self.wanted and (stale := self.listed.keys() - self.cases.keys()):
            print(f"no such case: {sorted(stale)}")
            self.failures += 1
        if self.has_update:
            self.path.write_text(json.dumps(self.listed, indent=1, ensure_ascii=False) + "\n")
        listed = len(self.listed.keys() & self.chosen().keys())
        print(f"{self.ran} cases, {listed} with listed differences, {self.failures} failures")
        print(*(f"{count:3} {reason}" for reason, count in self.reasons.most_common()), sep="\n")
        print(*self.changed_lines(), sep="\n")
        return int(self.failures > 0)

    def changed_lines(self):
        for part in ("src", "Cargo.toml"):
            sides = [self.folder / side / part for side in ("before", "after")]
            command = ["git", "diff", "--no-index", "--numstat", *sides]
            for row in subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines():
                added, removed, path = row.split("\t")
                yield f"-{removed} +{added} {path.replace(str(self.folder), '')}"
