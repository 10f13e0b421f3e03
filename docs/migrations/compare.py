#!/usr/bin/env python3
"""Compares the answers of a schema before and after its migration.

Usage: docs/migrations/compare.py juniper|async-graphql

The operations are those of `operations.json`, one operation for each type that selects all of its
fields, and one that introspects the schema. Both packages answer all of them. Differences that the
guide lists are removed and counted; any other difference is printed, and the exit status is 1. An
operation with `differs` must differ, for that reason. The statements that the loads of an operation
needed are compared too; with `statements` they must differ, for that reason.
"""

import difflib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, deque
from pathlib import Path

HERE = Path(__file__).parent

INTROSPECTION = """{ __schema {
  queryType { name } mutationType { name } subscriptionType { name }
  types {
    kind name description
    fields(includeDeprecated: true) { ...F }
    inputFields { name description defaultValue type { ...T } }
    interfaces { name } possibleTypes { name }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  }
} }
fragment F on __Field {
  name description isDeprecated deprecationReason type { ...T }
  args { name description defaultValue type { ...T } }
}
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }"""


BUILT_IN = {"Boolean", "Float", "ID", "Int", "String"}


def run(package, operations):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(operations, file)
        file.flush()
        command = ["cargo", "run", "--quiet", "--manifest-path", package / "Cargo.toml", "--", file.name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {answer["name"]: (answer["answer"], answer["statements"]) for answer in answers}


def named(ty):
    while ty.get("ofType"):
        ty = ty["ofType"]
    return ty["name"]


def own(types):
    return {ty["name"]: ty for ty in types if not ty["name"].startswith("__")}


def every_field(schema, arguments, left_out):
    """One operation per object type or interface: the shortest path to it, then all of its fields."""
    types = own(schema["types"])
    query = schema["queryType"]["name"]
    callable_ = lambda ty, field: (
        f"{ty}.{field['name']}" in arguments
        or not any(a["type"]["kind"] == "NON_NULL" and a["defaultValue"] is None for a in field["args"])
    )
    call = lambda ty, field: field["name"] + arguments.get(f"{ty}.{field['name']}", "")
    paths, todo = {query: []}, deque([query])
    while todo:
        ty = todo.popleft()
        steps = [(call(ty, f), named(f["type"])) for f in types[ty]["fields"] or [] if callable_(ty, f)]
        steps += [(f"... on {p['name']}", p["name"]) for p in types[ty]["possibleTypes"] or []]
        for step, target in steps:
            if target in types and types[target]["kind"] in ("OBJECT", "INTERFACE", "UNION") and target not in paths:
                paths[target] = paths[ty] + [step]
                todo.append(target)
    operations, selected = [], set()
    for ty, path in paths.items():
        text = "__typename"
        for field in types[ty]["fields"] or []:
            if callable_(ty, field) and f"{ty}.{field['name']}" not in left_out:
                leaf = types[named(field["type"])]["kind"] in ("SCALAR", "ENUM")
                text += f" {call(ty, field)}" + ("" if leaf else " { __typename }")
                selected.add((ty, field["name"]))
        for step in reversed(path):
            text = f"{step} {{ {text} }}"
        operations.append({"name": f"all of {ty}", "document": f"{{ {text} }}", "viewer": 1})
    return operations, selected


def sorted_schema(schema):
    """The schema by names, without the types of introspection and without unused scalars."""
    types = own(schema["types"])
    for name in BUILT_IN & types.keys():
        types[name]["description"] = None
    for ty in types.values():
        # an interface without interfaces
        ty["interfaces"] = ty["interfaces"] or None
    used = {query for query in (schema[root]["name"] for root in ("queryType", "mutationType", "subscriptionType") if schema[root])}
    for ty in types.values():
        for field in (ty["fields"] or []) + (ty["inputFields"] or []):
            used.add(named(field["type"]))
            used.update(named(argument["type"]) for argument in field.get("args", []))
        for other in (ty["interfaces"] or []) + (ty["possibleTypes"] or []):
            used.add(other["name"])
    def order(value):
        if isinstance(value, list):
            return sorted((order(item) for item in value), key=lambda item: item.get("name") or "")
        if isinstance(value, dict):
            return {key: order(item) for key, item in value.items()}
        return value
    return {name: order(ty) for name, ty in sorted(types.items()) if name in used}


def with_literals(before, after, notes):
    """Replaces defaults that differ only in the quotes around the values of enums."""
    pairs = zip(before, after) if isinstance(before, list) and isinstance(after, list) else []
    if isinstance(before, dict) and isinstance(after, dict):
        pairs = [(before[key], after.get(key)) for key in before]
        was, is_ = before.get("defaultValue"), after.get("defaultValue")
        if was and is_ and was != is_ and re.sub(r'"(\w+)"', r"\1", was) == is_:
            before["defaultValue"] = is_
            notes["default of an enum without quotes"] += 1
    for one, other in pairs:
        with_literals(one, other, notes)


def without_nulls(value):
    """The value as async-graphql writes it: failed fields are left out, empty objects are null."""
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    if isinstance(value, dict):
        kept = {key: without_nulls(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not None} or None
    return value


def normalize(before, after, notes):
    """Removes from `before` and `after` the differences that the guides list."""
    if isinstance(before, list) and isinstance(after, list) and all(isinstance(e, dict) and ("data" in e or "errors" in e) for e in before + after):
        pairs = [normalize(b, a, notes) for b, a in zip(before, after)]
        rest = len(pairs)
        return [b for b, _ in pairs] + before[rest:], [a for _, a in pairs] + after[rest:]
    before, after = json.loads(json.dumps(before)), json.loads(json.dumps(after))
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return before, after
    if before.get("errors") == []:
        del before["errors"]
        notes["no empty `errors` in an event"] += 1
    if before.get("data", 0) is None and "data" not in after:
        del before["data"]
        notes["refused operation has no `data`"] += 1
    if "data" in before and "data" in after and before["data"] != after["data"]:
        if before["data"] == without_nulls(before["data"]) == without_nulls(after["data"]):
            notes["failed field is null instead of left out, or an empty object instead of null"] += 1
            after["data"] = before["data"]
    indices = lambda error: [part for part in error.get("path", []) if isinstance(part, int)]
    if any(map(indices, after.get("errors", []))) and not any(map(indices, before.get("errors", []))):
        notes["paths have list indices"] += 1
        for error in after["errors"]:
            error["path"] = [part for part in error["path"] if not isinstance(part, int)]
    for errors in (before.get("errors", []), after.get("errors", [])):
        errors.sort(key=lambda error: json.dumps(error.get("path", [])) + error["message"])
    for one, other in zip(before.get("errors", []), after.get("errors", [])):
        code = other.get("extensions", {}).get("code")
        if "code" not in one.get("extensions", {}) and code:
            notes["error has a code"] += 1
            del other["extensions"]["code"]
            if not other["extensions"]:
                del other["extensions"]
        if "path" not in other and one["message"] != other["message"]:
            notes["message of a refused operation"] += 1
            del one["message"], other["message"]
        if "path" not in other and one.pop("path", None):
            notes["path of a refused operation"] += 1
        if "path" not in other and one.get("locations") != other.get("locations"):
            notes["location of a refused operation"] += 1
            one.pop("locations", None), other.pop("locations", None)
    return before, after


def show(name, before, after):
    text = lambda value: json.dumps(value, indent=1, ensure_ascii=False).splitlines()
    print(f"--- {name}")
    print("\n".join(list(difflib.unified_diff(text(before), text(after), "before", "after", lineterm="", n=2))[:60]))


def changed_lines(folder):
    command = ["git", "diff", "--no-index", "--shortstat", folder / "before/src", folder / "after/src"]
    stat = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip()
    total = sum(len(path.read_text().splitlines()) for path in (folder / "before/src").rglob("*.rs"))
    return f"{stat}; {total} lines before"


def main():
    folder = HERE / sys.argv[1]
    given = json.loads((folder / "operations.json").read_text())
    introspection = {"name": "introspection", "document": INTROSPECTION, "viewer": 1}
    schema = run(folder / "before", [introspection])["introspection"][0]["data"]["__schema"]
    generated, selected = every_field(schema, given["arguments"], given.get("left_out", []))
    operations = given["operations"] + generated + [introspection]
    before, after = run(folder / "before", operations), run(folder / "after", operations)
    notes, differences = Counter(), 0
    for operation in operations:
        (one, one_loads), (other, other_loads) = before[operation["name"]], after[operation["name"]]
        if operation is introspection:
            one, other = sorted_schema(one["data"]["__schema"]), sorted_schema(other["data"]["__schema"])
            with_literals(one, other, notes)
        else:
            one, other = normalize(one, other, notes)
        for reason in ("differs", "statements"):
            if reason in operation:
                notes[operation[reason]] += 1
        if (one_loads != other_loads) != ("statements" in operation) and "differs" not in operation:
            print(f"{operation['name']}: {one_loads} statements before, {other_loads} after")
            differences += 1
        if (one != other) != ("differs" in operation):
            differences += 1
            show(operation["name"], one, other)
    kinds = Counter()
    for ty in own(schema["types"]).values():
        kinds[ty["kind"]] += 1
        kinds["fields"] += len(ty["fields"] or [])
        kinds["input fields"] += len(ty["inputFields"] or [])
    print(dict(kinds))
    print(f"{len(operations)} operations, {len(selected)} fields selected by the generated ones, {differences} differ")
    print(dict(notes))
    print(changed_lines(folder))
    return int(differences > 0)


if __name__ == "__main__":
    sys.exit(main())
