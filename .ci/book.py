"""Checks the built guide: python3 .ci/book.py FOLDER

- Each page of docs/guide is in docs/SUMMARY.md, and one with Rust code is in docs/guide/src/lib.rs,
  by which its code is compiled.
- Each relative link of the book leads to a file of it, and a fragment to an id of that page.
- A link to a file of the repository outside of docs/ becomes text, because the file is not in the
  book. `.ci/prose` checks these links in the sources.
"""

import re
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r'<a\b[^>]*?\bhref="(?P<target>[^"]+)"[^>]*>(?P<text>.*?)</a>', re.DOTALL)


def lists():
    """Faults of the two lists of pages."""
    summary = (ROOT / "docs/SUMMARY.md").read_text()
    tested = (ROOT / "docs/guide/src/lib.rs").read_text()
    for page in sorted((ROOT / "docs/guide").glob("*.md")):
        if f"(guide/{page.name})" not in summary:
            yield f"docs/SUMMARY.md does not list guide/{page.name}"
        has_code = re.search(r"^```rust", page.read_text(), re.MULTILINE) is not None
        if has_code != (f'"../{page.name}"' in tested):
            yield f"docs/guide/src/lib.rs must include {page.name} if it has Rust code, and only then"


def without_outer_links(file, book):
    """HTML of the page; links out of the book are replaced by their text."""

    def keep(link):
        target = link["target"]
        if re.match(r"\w+:|#", target):
            return link[0]
        place = (file.parent / unquote(target.partition("#")[0])).resolve()
        return link[0] if place.is_relative_to(book) else link["text"]

    return LINK.sub(keep, file.read_text())


def links(file, text, ids):
    """Faults of the links of a page."""
    for link in LINK.finditer(text):
        target, _, fragment = link["target"].partition("#")
        if re.match(r"\w+:", target):
            continue
        place = (file.parent / unquote(target)).resolve() if target else file
        if not place.exists():
            yield f"{file.name}: `{link['target']}` leads to no file"
        elif fragment and place.suffix == ".html" and unquote(fragment) not in ids[place]:
            yield f"{file.name}: `{link['target']}` leads to no heading"


def main():
    book = Path(sys.argv[1]).resolve()
    pages = {}
    for file in sorted(book.rglob("*.html")):
        pages[file] = without_outer_links(file, book)
        file.write_text(pages[file])
    ids = {file: set(re.findall(r'\bid="([^"]+)"', text)) for file, text in pages.items()}
    faults = [*lists()]
    checked = 0
    for file, text in pages.items():
        # the page of a wrong address has links from the root of its site
        if file.name != "404.html":
            checked += sum(1 for _ in LINK.finditer(text))
            faults += links(file, text, ids)
    print("\n".join(faults) or f"{len(pages)} pages, {checked} links")
    sys.exit(bool(faults))


main()
