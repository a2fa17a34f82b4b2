"""What is written about the program is what the program is: options, codes, fields, metrics, headers, links, bytes."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from proxy import audit, door, errors, headers, ingress, logs, routes, settings, verify
from proxy.metrics import Metrics
from proxy.model import Context, Finding, Leaf
from proxy.policy import load_policy, parse_policy
from proxy.restore import Restoration
from proxy.substitute import substitute
from proxy.vault import Vault, conversation_key, lookalikes, tenant_key
from proxy.wire import answers, responses_answers, responses_events, stream
from proxy.wire.base import parse_answer, parse_strict, serialise
from proxy.wire.chat import rewrite_request
from proxy.wire.dialects import NAMES
from proxy.wire.endpoints import ENDPOINTS, Aids
from proxy.wire.opening import opening
from proxy.wire.seals import NoSeals
from recognizers import ENTITIES
from recognizers.cards import card_recognizer

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
SOURCES = sorted((ROOT / "proxy").rglob("*.py"))


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_generate"] = module
    spec.loader.exec_module(module)
    return module


GENERATE = _generator()


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(text: str, head: str) -> str:
    """What stands under `## head`, up to the next heading of that level."""
    return re.split(r"^## ", text.split(f"\n## {head}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """The rows of all tables, without heads and rules; a cell is what stands between unescaped bars."""
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    rules = {at for at, row in enumerate(cells) if all(set(cell) <= {"-"} for cell in row)}
    return [row for at, row in enumerate(cells) if at not in rules and at + 1 not in rules]


def quoted(text: str) -> set[str]:
    """Everything in backquotes."""
    return set(re.findall(r"`([^`\n]+)`", text))


OPERATIONS, COVERAGE, README = page("docs/operations.md"), page("docs/coverage.md"), page("README.md")


# Generated parts


@pytest.mark.parametrize("name", GENERATE.FILES)
def test_generated_parts_are_up_to_date(name: str) -> None:
    text = page(name)
    parts = [match for match in GENERATE.PART.finditer(text) if match[2] != "reading"]
    assert "generated: " in text
    for match in parts:
        assert match[0] == match[1] + GENERATE.part(match[2]) + match[3], "run: python docs/generate.py"


def test_the_reading_guide_is_about_as_long_as_it_says() -> None:
    (match,) = [match for match in GENERATE.PART.finditer(README) if match[2] == "reading"]
    told = dict(re.findall(r"\[`([^`]+)`\]\([^)]+\) \((\d+)\)", match[0]))
    named = [name for _, names in GENERATE.READING for name in names]
    assert list(told) == named
    for name, lines in told.items():
        real = GENERATE.lines_of(name)
        assert abs(real - int(lines)) <= max(20, real * 0.15), f"{name}: run python docs/generate.py"


# Options and help


def _options() -> Iterator[tuple[str, str]]:
    from typer.main import get_command

    group: Any = get_command(GENERATE.command_line())
    for option in group.commands["serve"].params:
        if option.name != "help":
            yield option.opts[0], option.envvar


def test_every_option_of_serve_and_its_variable_are_explained() -> None:
    explained = {
        pair
        for row in rows(section(OPERATIONS, "Options"))
        for pair in zip(sorted(quoted(row[0])), sorted(quoted(row[1])), strict=True)
    }
    assert explained == set(_options())
    assert len(explained) > 15


def test_every_setting_can_be_set() -> None:
    assert {name.removeprefix("--").replace("-", "_") for name, _ in _options()} == {
        field.name for field in fields(settings.Settings)
    }


def test_variables_that_are_named_anywhere_exist() -> None:
    known = {variable for _, variable in _options()}
    for path in [*PAGES, ROOT / "Dockerfile"]:
        named = set(re.findall(r"CAVIARDAGE_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8")))
        assert named <= known, path.name


def test_the_commands_that_are_named_exist() -> None:
    known = {*GENERATE.names(), "--help"}
    for path in PAGES:
        shown = re.findall(
            r"(?:^|[\s`/$])caviardage ((?:--)?[a-z]+)", "\n".join(_code(path.read_text(encoding="utf-8")))
        )
        assert set(shown) <= known, path.name


def test_the_targets_of_make_that_are_named_exist() -> None:
    known = set(re.findall(r"^([a-z-]+):", page("Makefile"), re.MULTILINE))
    for path in PAGES:
        text = "\n".join(_code(path.read_text(encoding="utf-8")))
        named = set(re.findall(r"^`?make ([a-z-]+)", text, re.MULTILINE))
        assert named <= known, path.name


def _code(text: str) -> Iterator[str]:
    """What is code: fenced blocks and quoted words."""
    yield from re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    yield from re.findall(r"`[^`\n]+`", text)


# Refusals

CLASSES: dict[str, type[errors.Refusal]] = {
    name: made
    for name, made in vars(errors).items()
    if isinstance(made, type) and issubclass(made, errors.Refusal) and made is not errors.Refusal
}


def _calls(*names: str) -> Iterator[tuple[str, ast.Call]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in names:
                    yield name, node


def _constant(node: ast.expr | None) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _keyword(call: ast.Call, name: str) -> Any:
    return _constant(next((keyword.value for keyword in call.keywords if keyword.arg == name), None))


def refusals() -> dict[str, tuple[int, bool]]:
    """Every code in the source, with its status and whether a retry is said to help."""
    found = {made.code: (made.status, made.retry) for made in CLASSES.values() if "code" in vars(made)}
    slow = errors.UpstreamUnreachable("", timed_out=True)
    found[slow.code] = (slow.status, slow.retry)
    for name, call in _calls("Unavailable", "BadAnswer"):
        code = _keyword(call, "code")
        if code is not None:
            found[code] = (CLASSES[name].status, _keyword(call, "retry") is True)
    found.update({_constant(call.args[0]): (errors.BadAnswer.status, False) for _, call in _calls("Alarm")})
    return found


def test_every_refusal_is_in_the_table_and_every_row_is_a_refusal() -> None:
    table = {row[0].strip("`"): row[1:3] for row in rows(section(OPERATIONS, "Refusals"))}
    real = refusals()
    assert set(table) == set(real)
    assert len(real) > 20
    for code, (status, retry) in real.items():
        assert int(table[code][0]) == status, code
        assert table[code][1] == (
            "if no connection was made, or it closed unanswered" if code == "upstream_unreachable" else _yes(retry)
        ), code


def _yes(retry: bool) -> str:
    return "yes" if retry else "no"


def test_the_refusals_of_the_readme_exist_with_their_status() -> None:
    real = refusals()
    for row in rows(section(README, "Refusals")):
        statuses = {int(status) for status in row[0].split(", ")}
        for code in quoted(row[1]):
            if code == "upstream_...":
                assert {status for name, (status, _) in real.items() if name.startswith("upstream_")} > statuses
            else:
                assert real[code][0] in statuses, code


def test_the_context_length_error_has_the_words_that_clients_look_for() -> None:
    message = errors.ContextLengthExceeded(10, 9, 8).message
    assert message.startswith("This model's maximum context length is 10 tokens. However, you requested 17 tokens")


# Audit, metrics, log


def test_the_audit_line_is_described_field_by_field_in_its_order() -> None:
    named = [row[0].strip("`") for row in rows(section(OPERATIONS, "Audit line")) if len(row) == 3]
    event = audit.AuditEvent(request_id="r", verdict="release", status=200)
    assert named == list(json.loads(event.line()))


def test_the_types_of_the_audit_line_are_true() -> None:
    event = json.loads(audit.AuditEvent(request_id="r", verdict="release", status=200).line())
    kinds: dict[str, Any] = {"string": str, "number": int | float, "boolean": bool, "list": list, "object": dict}
    for name, kind, _ in [row for row in rows(section(OPERATIONS, "Audit line")) if len(row) == 3]:
        value = event[name.strip("`")]
        if value is None:
            assert kind.endswith("or null"), name
        else:
            assert isinstance(value, kinds[kind.removesuffix(" or null")]), name


def _strings(*names: str) -> set[Any]:
    return {
        node.value
        for name in names
        for node in ast.walk(ast.parse(page(f"proxy/{name}.py")))
        if isinstance(node, ast.Constant)
    }


def test_every_verdict_that_is_given_is_described() -> None:
    named = {row[0].strip("`") for row in rows(section(OPERATIONS, "Audit line")) if len(row) == 2}
    givers = ("pipeline", "answering", "closing", "app", "service", "ingress", "inspector/desk", "notes")
    assert named == set(audit.VERDICTS) & _strings(*givers)


def test_the_endpoints_and_stages_of_the_audit_line_are_named() -> None:
    named = quoted(section(OPERATIONS, "Audit line"))
    assert set(audit.ENDPOINTS) <= named
    assert {_constant(call.args[0]) for _, call in _calls("stage") if call.args} <= named


def _full_event() -> audit.AuditEvent:
    return audit.AuditEvent(
        request_id="r",
        verdict="release",
        status=200,
        alarms=("usage_mismatch",),
        entities={"PERSON": 1},
        tokens_before=1,
        tokens_after=1,
        held=1,
        stage_ms={"parse": 1.0},
    )


def test_every_metric_is_described_with_its_type_and_labels() -> None:
    metrics = Metrics()
    metrics.observe(_full_event())
    for _, call in _calls("tally"):
        metrics.tally(_constant(call.args[0]), _constant(call.args[1]), lambda: 0.0)
    for _, call in _calls("watch"):
        metrics.watch(_constant(call.args[0]), _constant(call.args[1]), lambda: 0.0)
    for _, call in _calls("shared"):
        metrics.shared(_constant(call.args[0]), _constant(call.args[1]), lambda: 0.0)
    real = {}
    for family in metrics.registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        if not name.endswith("_created"):
            labels = {label for sample in family.samples for label in sample.labels} - {"le"}
            real[name] = (family.type, labels)
    told = {row[0].strip("`"): (row[1], quoted(row[2])) for row in rows(section(OPERATIONS, "Metrics"))}
    assert told == real


def test_every_fault_of_a_trail_is_described() -> None:
    from proxy.trail import examine

    tree = ast.parse(Path(examine.__file__).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) == 4]
    made = {_constant(call.args[2]) for call in calls} - {None}
    told = {
        _constant(node.value.elts[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple)
    }
    assert {row[0].strip("`") for row in rows(section(OPERATIONS, "The trail"))} == made | told


def test_every_event_of_the_log_is_described() -> None:
    used = {_constant(call.args[0]) for _, call in _calls("info", "warning", "error") if call.args} & logs.EVENTS
    assert {row[0].strip("`") for row in rows(section(OPERATIONS, "Log"))} == used


# Coverage


def test_every_header_that_passes_is_listed() -> None:
    listed = section(COVERAGE, "Headers")
    to_upstream, to_client = listed.split("To the client:")
    stainless = {f"x-stainless-{name}" for name in headers.STAINLESS}
    assert {*headers.CHECKED, *headers.OPTIONAL} - stainless <= quoted(to_upstream)
    assert set(headers.STAINLESS) <= quoted(to_upstream)
    assert {*headers.ANSWER_NAMES, *headers.ANSWER_PREFIXES} <= quoted(to_client)
    for row in rows(to_client):
        if row[1] == "Passed.":
            assert quoted(row[0]) <= {*headers.ANSWER_NAMES, *headers.ANSWER_PREFIXES}


def test_the_headers_of_our_own_are_listed() -> None:
    own = {
        text
        for name in ("closing", "ingress")
        for text in _strings(name)
        if isinstance(text, str) and re.fullmatch(r"x-caviardage-[a-z-]+", text)
    }
    assert ingress.REQUEST_ID_HEADER in own
    assert own <= quoted(section(COVERAGE, "Headers"))
    assert own | {"x-should-retry"} == {row[0].strip("`") for row in rows(section(README, "What an answer says"))}


def test_every_endpoint_is_listed_and_none_more() -> None:
    listed = [entry for row in rows(section(COVERAGE, "Endpoints"))[:-1] for entry in sorted(quoted(row[0]))]
    real = set()
    for entry in listed:
        method, path = entry.split()
        route, _ = routes.find(method, re.sub(r"\{\w+\}", "gpt-4o", path).encode(), b"", NAMES)
        real.add(route)
    assert real == set(routes.ROUTES)


def _tables(name: str) -> set[str]:
    """The keys of every table of fields in a wire module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(page(f"proxy/wire/{name}.py"))):
        if isinstance(node, ast.Dict):
            found |= {key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fromkeys":
            found |= {_constant(item) for item in getattr(node.args[0], "elts", [])}
    return found


@pytest.mark.parametrize("name", ["chat", "schemas", "attachments", "responses", "responses_items", "responses_tools"])
def test_every_field_of_a_request_that_is_no_plain_text_is_listed(name: str) -> None:
    found = _tables(name)
    assert len(found) > 5
    assert found <= quoted(section(COVERAGE, "Request bodies"))


def test_every_field_of_an_answer_that_stays_is_listed() -> None:
    listed = quoted(section(COVERAGE, "Answers"))
    assert listed >= answers.PROTOCOL | answers.TOOL_TEXTS
    assert quoted(section(COVERAGE, "Streams")) >= stream._CHUNK_FIELDS | set(responses_events.GROWING)
    assert listed >= {tool for tool, _ in responses_answers.CALLS.values()}


@pytest.mark.parametrize("name", ["engines", "ollama"])
def test_every_field_of_a_dialect_is_listed(name: str) -> None:
    found = _tables(name)
    assert len(found) > 10
    assert found - {"max_tokens", "code", "object"} <= quoted(section(COVERAGE, "Other endpoints")) | quoted(
        section(COVERAGE, "Endpoints")
    )


def test_numbers_that_are_told_are_the_numbers_of_the_code() -> None:
    from proxy import detect, prompt, restore, trip
    from proxy.wire import hold, jsontext, sse, walk

    told, operations = " ".join(COVERAGE.split()), " ".join(OPERATIONS.split())
    assert f"less than {verify.USAGE_FLOOR:,}" in told
    assert f"less than {verify.EXACT_SHARE:.0%} where".replace("%", " %") in operations
    assert f"model's own, {verify.ESTIMATED_SHARE:.0%} where".replace("%", " %") in operations
    assert f"Over {verify.EXCESS_SHARE} times our upper bound and {verify.EXCESS_FLOOR:,} tokens more" in operations
    assert (trip._MOST_HELD >> 20, restore._MOST_READ) == (64, 4_000_000)
    assert "has over 64 MiB" in operations
    assert "over four million characters" in told
    assert f"At most {hold._MOST_EVENTS:,} events or {hold._MOST_BYTES >> 20} MiB wait" in told
    assert f"down to {jsontext.DEEPEST} levels" in told
    assert walk._FEWEST_DIGITS == 5
    assert "numbers of five digits or more" in told
    assert sse.LARGEST == 16 << 20
    assert operations.count("16 MiB") == 2
    assert prompt.MEASURE_SECONDS == 20
    assert "| Counting its tokens | 20 | `measure_timeout` |" in operations
    waiting = inspect.signature(detect.Detector).parameters["waiting"].default
    assert f"At most {waiting} requests wait for detection" in operations


def test_limits_that_are_admitted_are_still_there() -> None:
    told = " ".join(section(COVERAGE, "Known limits").split())
    assert ("looked for by check digits only" in told) == ("CHECKED" in page("proxy/detect.py"))
    with pytest.raises(errors.BadRequest):
        parse_strict(b'{"User": "a", "user": "b"}')
    with pytest.raises(errors.BadRequest):
        parse_strict(b'{"a": "\\ud800"}')
    with pytest.raises(errors.BadRequest):
        parse_answer(b'{"a": "\\ud800"}')
    number = "4539148803436467"
    card = card_recognizer()
    found = [card.analyze(f"{word}: {number}", ["CREDIT_CARD"]) for word in ("seed", "number")]
    assert [bool(spans) for spans in found] == [False, True]


# The example of the readme

BLOCKS = re.findall(r"^```json\n(.*?)\n```$", README, re.MULTILINE | re.DOTALL)
FOUND = (("PERSON", "Mira Tallow"), ("IBAN_CODE", "FR76 3000 6000 0112 3456 7890 189"))


def _example() -> tuple[bytes, Restoration]:
    """The example's request as the proxy rewrites it, with the secret and the key that the readme names."""
    secret, key = re.findall(r"`CAVIARDAGE_SECRET` set to\s+`([^`]+)`.*?the\s+key\s+`([^`]+)`", README, re.DOTALL)[0]
    body = parse_strict(BLOCKS[0].encode())
    tenant = tenant_key(secret.encode(), door.tenant_of([("authorization", f"Bearer {key}")], secret.encode()))
    leaves = ENDPOINTS["/v1/chat/completions"].leaves(body, frozenset(), Aids(None, NoSeals()))
    vault = Vault(conversation_key(tenant, opening(body)), lookalikes(leaf.text for leaf in leaves))

    def replaced(leaf: Leaf) -> str:
        places = [(leaf.text.find(value), value, entity) for entity, value in FOUND]
        findings = [
            Finding(at, at + len(value), entity, "replace", 1.0) for at, value, entity in sorted(places) if at >= 0
        ]
        return substitute(leaf, findings, vault, tenant)

    return serialise(rewrite_request(body, replaced)), Restoration(vault)


def test_the_example_is_what_the_provider_receives_byte_for_byte() -> None:
    sent, _ = _example()
    assert sent.decode() == BLOCKS[1]
    assert not any(value in BLOCKS[1] for _, value in FOUND)


def test_the_example_comes_back_as_it_was() -> None:
    sent, restoration = _example()
    told, _ = restoration.whole(json.loads(sent)["messages"][0]["content"], Context.PLAIN)
    assert told == json.loads(BLOCKS[2])["choices"][0]["message"]["content"]
    assert told == json.loads(BLOCKS[0])["messages"][0]["content"]


def test_a_policys_own_test_finds_what_the_example_shows() -> None:
    policy = load_policy(ROOT / "policies" / "default.yaml", entities=ENTITIES)
    text = json.loads(BLOCKS[0])["messages"][0]["content"]
    (trial,) = [trial for trial in policy.tests if trial.text == text]
    assert trial.finds is not None
    assert set(trial.finds) == {entity for entity, _ in FOUND}


# Policies, links, tests that are cited


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.name not in ("policy.md", "tenants.md")], ids=lambda path: path.name
)
def test_every_policy_that_is_shown_loads(path: Path) -> None:
    for block in re.findall(r"^```yaml\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        needed = {"version": "1", "limits": "{default: 9}", "entities": "{PERSON: replace}"}
        missing = [f"{key}: {value}\n" for key, value in needed.items() if not re.search(rf"^{key}:", block, re.M)]
        parse_policy(("".join(missing) + block).encode(), file="p.yaml", entities=ENTITIES)


def test_the_policy_of_the_readme_has_the_lines_that_it_promises() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", section(README, "A policy in five lines"), re.M | re.DOTALL)
    assert len(block.splitlines()) == 5
    assert block.startswith("extends: default\n")


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\[[^\]\n]+\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        linked = (path.parent / name) if name else path
        assert linked.exists(), f"{path.name} links to {target}"
        if anchor:
            heads = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(_anchor, heads), f"{path.name} links to {target}"


def test_every_test_that_is_cited_exists() -> None:
    cited = [
        (path.name, name, test)
        for path in PAGES
        for name, test in re.findall(r"`(tests/\w+\.py)::(\w+)`", path.read_text(encoding="utf-8"))
    ]
    assert len(cited) > 20
    for where, name, test in cited:
        assert re.search(rf"^\s*(?:async )?def {test}\(", page(name), re.MULTILINE), f"{where} cites {name}::{test}"


def test_files_that_are_named_exist() -> None:
    for path in PAGES:
        named = set(re.findall(r"`((?:proxy|recognizers|tests|docs|policies)/[\w./-]+\.\w+)`", path.read_text("utf-8")))
        assert not [name for name in named if not (ROOT / name).exists()], path.name


def test_the_changelog_speaks_of_this_version() -> None:
    version = re.findall(r'^version = "([^"]+)"$', page("pyproject.toml"), re.MULTILINE)
    assert version
    assert version[0] in page("CHANGELOG.md")


def test_python_versions_are_those_of_the_package() -> None:
    low, high = re.findall(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', page("pyproject.toml"))[0]
    told = re.search(r"Python ((?:3\.\d+(?:, | or )?)+), make", README)
    assert told is not None
    assert re.findall(r"3\.(\d+)", told[1]) == [str(minor) for minor in range(int(low), int(high))]
