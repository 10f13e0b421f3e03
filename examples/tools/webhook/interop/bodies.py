"""Writes the bodies of the comparison into a folder: JSON all, as the reference libraries insist on it."""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
bodies = {
    "small": '{"test": 2432232314}',
    "empty": "{}",
    "unicode": json.dumps({"text": "Grüße, 世界, 😀, \u202e, e\u0301"}, ensure_ascii=False),
    "escaped": json.dumps({"text": "Grüße, 世界, 😀"}),
    "indented": json.dumps({"a": [1, {"b": None}]}, indent=2) + "\n",
    "crlf": '{\r\n  "a": 1.50e3\r\n}\r\n',
    "dots": '{"a":"1.2.3.","b":"..."}',
    "large": json.dumps({"text": "é😀x" * 150_000}, ensure_ascii=False),
}
for name, body in bodies.items():
    (folder / f"{name}.json").write_bytes(body.encode())
