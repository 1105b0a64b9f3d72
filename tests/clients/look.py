"""Checks what a client printed or wrote: `look.py tools FILE`, `look.py found FILE`,
or `look.py conformance FOLDER`."""

import json
import pathlib
import re
import sys

# The only reasons for which a conformance check may fail: it calls something that
# the suite brings for its own server.
FIXTURES = [
    r"there is no (tool|prompt) '(test_\w+|greet|slow_compute|failing_job|protocol_error_job|confirm_delete|multi_input)'",
    r"Tool 'json_schema_2020_12_tool' not found",
    r"this is not an address of Kodiak",
    r"^Not testable: (server does not list the diagnostic tool 'test_\w+'|server exposes no tool with x-mcp-header|no task was created)",
    r"could not get initial InputRequiredResult|Expected InputRequiredResult",
    r"^capabilities\.extensions MUST be advertised$",
    r"^tasks/get MUST return -32021; got -32601",
    r"^expected -32602; got -32601",
    r"^routing-task fixture from Check 2 unavailable",
    r"^tools/call for failing_job returned error code -32602",
]


def tools(listed):
    names = {tool["name"] for tool in listed["tools"]}
    assert {"search", "get", "status"} <= names, names
    # Nothing that writes is listed by a server that only reads.
    for tool in listed["tools"]:
        assert tool["annotations"]["readOnlyHint"] is True, tool["name"]
        assert tool["annotations"]["openWorldHint"] is False, tool["name"]


def found(answer):
    answer = answer.get("result", answer)
    hits = answer["structuredContent"]["hits"]
    assert hits and "ramen" in hits[0]["path"], answer
    # Each form is complete by itself.
    text = answer["content"][0]["text"]
    assert hits[0]["id"] in text and hits[0]["title"] in text, text


def conformance(folder):
    checks = 0
    for file in sorted(pathlib.Path(folder).rglob("checks.json")):
        for check in json.loads(file.read_text(encoding="utf-8")):
            checks += 1
            reason = check.get("errorMessage") or ""
            if check["status"] == "FAILURE":
                known = any(re.search(pattern, reason) for pattern in FIXTURES)
                assert known, f"{file.parent.name}: {check['id']}: {reason}"
    assert checks > 20, checks


def last_json(text):
    """Returns the JSON of an output that may begin with other lines."""
    return json.loads(text[text.index("{") :])


what, path = sys.argv[1:]
if what == "conformance":
    conformance(path)
else:
    with open(path, encoding="utf-8") as file:
        {"tools": tools, "found": found}[what](last_json(file.read()))
