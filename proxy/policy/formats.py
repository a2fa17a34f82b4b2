"""Faults as other programs want them: JSON, SARIF 2.1.0 and JUnit XML. Pure.

May import: the standard library, proxy.policy.{faults,rules}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import PurePath
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from proxy.policy.faults import Fault
from proxy.policy.rules import TABLE, severity

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_text(faults: Sequence[Fault]) -> str:
    """A line a fault, as compilers write them; under the first of each rule, why it matters."""
    told: set[str] = set()
    return "\n".join(line for fault in faults for line in _lines(fault, told))


def _lines(fault: Fault, told: set[str]) -> Iterator[str]:
    mend = f"; {fault.mend}" if fault.mend else ""
    yield f"{fault.file}:{fault.line}:{fault.column}: {severity(fault)}: {fault.message}{mend} [{fault.rule}]"
    rule = TABLE.get(fault.rule)
    if rule is not None and rule.why and fault.rule not in told:
        told.add(fault.rule)
        yield f"    {rule.why}"


def as_json(faults: Sequence[Fault]) -> str:
    """An array of objects: the fields of `Fault`, with `severity` and `why`."""
    rows = [{**asdict(fault), "severity": severity(fault), "why": _why(fault)} for fault in faults]
    return json.dumps(rows, ensure_ascii=False, indent=2)


def _why(fault: Fault) -> str:
    return TABLE[fault.rule].why if fault.rule in TABLE else ""


def as_sarif(faults: Sequence[Fault]) -> str:
    """One run of SARIF 2.1.0. Columns count code points; the rules are those of the whole table."""
    order = {name: at for at, name in enumerate(TABLE)}
    driver = {
        "name": "caviardage check",
        "rules": [
            {
                "id": rule.id,
                "shortDescription": {"text": rule.what},
                "fullDescription": {"text": rule.why or rule.what},
                "help": {"text": f"docs/rules/{rule.id}.md"},
                "defaultConfiguration": {"level": rule.severity},
            }
            for rule in TABLE.values()
        ],
    }
    results = [_result(fault, order) for fault in faults]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2)


def _result(fault: Fault, order: dict[str, int]) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": quote(PurePath(fault.file).as_posix())},
        "region": {"startLine": fault.line, "startColumn": fault.column},
    }
    index = {"ruleIndex": order[fault.rule]} if fault.rule in order else {}
    text = fault.message + (f"; {fault.mend}" if fault.mend else "")
    return {
        "ruleId": fault.rule,
        **index,
        "level": severity(fault),
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


def as_junit(faults: Sequence[Fault], files: Sequence[str], *, strict: bool) -> str:
    """A test suite a file. An error, or with `strict` a warning, is a failure; else a warning is told and passes."""
    suites = ElementTree.Element("testsuites", name="caviardage check")
    for file in files:
        found = [fault for fault in faults if fault.file == file]
        suite = ElementTree.SubElement(suites, "testsuite", name=_xml(file))
        failures = 0
        for fault in found:
            case = ElementTree.SubElement(
                suite, "testcase", classname=_xml(file), name=f"{fault.rule} {fault.line}:{fault.column}"
            )
            fails = strict or severity(fault) == "error"
            failures += fails
            told = {"message": _xml(fault.message), "type": fault.rule} if fails else {}
            ElementTree.SubElement(case, "failure" if fails else "system-out", told).text = _xml(str(fault))
        if not found:
            ElementTree.SubElement(suite, "testcase", classname=_xml(file), name="loads")
        suite.set("tests", str(max(1, len(found))))
        suite.set("failures", str(failures))
        suite.set("errors", "0")
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode")


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
