"""The blocks of documentation of a Rust source, and which of them are public.

It reads lines, as rustfmt lays them out: a `pub` item is public unless it is within a private
module or type; it does not follow re-exports. `pub(crate)` and `pub(super)` are private.
"""

import re
from collections import namedtuple

# line numbers begin with 1
Block = namedtuple("Block", "lines texts public")
# an enum, trait, struct, impl, inline module or macro call around an item
Container = namedtuple("Container", "indent kind public")


def is_kit(path):
    """Returns True where a `pub async fn` is a test case, which the macro of a kit runs."""
    return "conformance/src/" in path or "src/testing/" in path


def is_library(path):
    """Returns True for sources whose `pub` items get a page."""
    parts = path.split("/")
    private = {"tests", "benches", "fuzz", "bin", "docs", "main.rs"}
    return "src" in parts and private.isdisjoint(parts)


ITEM = re.compile(
    r"(?P<pub>pub )?(pub\([^)]*\) )?((const|async|unsafe|default|extern \"C\") )*"
    r"(?P<kind>fn|struct|enum|trait|type|const|static|mod|impl|macro_rules!|[a-z_]+! \{$)?"
)


def is_public_item(path, item, attributes, containers):
    if not is_library(path) or (is_kit(path) and item[0].startswith("pub async fn")):
        return False
    if any(container.kind == "mod" and not container.public for container in containers):
        return False
    inside = containers[-1].public if containers else True
    kinds = {container.kind for container in containers if container.public}
    member = inside and bool(kinds & {"enum", "trait", "macro"})
    return bool(member or (item["pub"] and inside) or "macro_export" in attributes)


def blocks(path, lines):
    """Yields the blocks of documentation; visibility by lines, as rustfmt lays them out."""
    numbers, texts, attributes, depth, containers = [], [], "", 0, []
    inner = [at for at, line in enumerate(lines, 1) if line.startswith("//!")]
    yield Block(inner, [lines[at - 1][3:].strip() for at in inner], is_library(path))
    for at, line in enumerate(lines, 1):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        written = re.match(r'(?:///(?!/)|#\[doc = (?:concat!\()?")(.*)', text)
        if written:
            numbers.append(at)
            texts.append(written[1].strip())
        elif depth or text.startswith("#["):
            attributes += text
            depth += text.count("[") - text.count("]")
        elif text and not text.startswith("//"):
            if text[0] == "}":
                while containers and containers[-1].indent >= indent:
                    containers.pop()
            item = re.match(ITEM.pattern + ".*", text)
            public = is_public_item(path, item, attributes, containers)
            if numbers:
                yield Block(numbers, texts, public)
            kind = item["kind"] or ""
            is_macro = kind.endswith("! {") and not indent and kind != "proptest! {"
            opens = kind in ("enum", "trait", "struct", "mod", "impl") or is_macro
            if opens and text[-1] not in ";}":
                shown = public or kind == "impl" or (is_macro and is_library(path))
                containers.append(Container(indent, "macro" if is_macro else kind, shown))
            numbers, texts, attributes = [], [], ""
