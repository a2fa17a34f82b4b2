"""Who may look at the inspector, what its answers forbid the browser, and what it writes down."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.inspector import access
from proxy.inspector.desk import HEADERS, MAX_BYTES
from tests.e2e import NAME, Service, found_in, serving
from tests.provider import Provider

KEY = "correct horse battery staple"
HOME = {"host": "localhost:8484"}


def basic(key: str) -> str:
    return f"Basic {base64.b64encode(f'anyone:{key}'.encode()).decode()}"


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["localhost", "localhost:8484", "127.0.0.1:8484", "[::1]:8484"])
def test_without_a_key_this_machine_may_look(peer: str, host: str) -> None:
    access.admit("GET", peer, {"host": host}, b"")
    access.admit("POST", peer, {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}, b"")


@pytest.mark.parametrize("peer", ["10.0.0.7", "192.168.1.2", "2001:db8::1", "::ffff:10.0.0.7", "", "unix:"])
def test_without_a_key_nobody_else_may(peer: str) -> None:
    with pytest.raises(access.Denied) as denied:
        access.admit("GET", peer, HOME, b"")
    assert denied.value.status == 403


@pytest.mark.parametrize(
    "host", ["", "evil.example", "localhost.evil.example", "10.0.0.7:8484", "127.0.0.1.nip.io", "["]
)
def test_a_name_that_was_rebound_to_this_machine_gets_nothing(host: str) -> None:
    with pytest.raises(access.Denied):
        access.admit("GET", "127.0.0.1", {"host": host}, b"")


@pytest.mark.parametrize("name", ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"])
def test_a_proxy_on_this_machine_does_not_make_the_world_local(name: str) -> None:
    with pytest.raises(access.Denied):
        access.admit("GET", "127.0.0.1", {**HOME, name: "203.0.113.9"}, b"")


@pytest.mark.parametrize(
    "more",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
@pytest.mark.parametrize("key", ["", KEY])
def test_another_page_cannot_post(more: Mapping[str, str], key: str) -> None:
    with pytest.raises(access.Denied):
        access.admit("POST", "127.0.0.1", {**HOME, "authorization": basic(KEY), **more}, key.encode())


def test_with_a_key_it_is_asked_for_from_everywhere_and_taken_from_everywhere() -> None:
    for offered in (basic(KEY), f"Bearer {KEY}", f"bearer {KEY}"):
        access.admit("GET", "203.0.113.9", {"host": "gateway.example", "authorization": offered}, KEY.encode())
    for headers in (HOME, {**HOME, "authorization": basic("wrong")}, {**HOME, "authorization": "Basic %%%"}):
        with pytest.raises(access.Unknown) as unknown:
            access.admit("GET", "127.0.0.1", headers, KEY.encode())
        assert unknown.value.status == 401


@given(st.text(alphabet=st.characters(codec="latin-1"), max_size=80))
def test_no_other_word_opens(offered: str) -> None:
    if offered.partition(" ")[2].strip() == KEY:
        return
    with pytest.raises(access.Unknown):
        access.admit("GET", "127.0.0.1", {**HOME, "authorization": offered}, KEY.encode())


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    policy = tmp_path_factory.mktemp("policy") / "two.yaml"
    policy.write_text("version: 1\nextends: default\nlanguages: [en, fr]\n")
    more = {"CAVIARDAGE_INSPECTOR": "1", "CAVIARDAGE_INSPECTOR_KEY": KEY}
    with Provider() as provider, serving(provider, "--policy", str(policy), **more) as running:
        yield running
        assert found_in(running.written, (NAME, KEY)) == []
        assert provider.received == []


def ask(service: Service, path: str, question: Any = None, **headers: str) -> httpx2.Response:
    with httpx2.Client(trust_env=False, timeout=60) as client:
        return client.request(
            "GET" if question is None else "POST",
            f"{service.url}/inspector{path}",
            headers={"authorization": basic(KEY), **headers},
            **({} if question is None else {"json": question}),
        )


def test_every_answer_forbids_the_browser_what_it_can(keyed: Service) -> None:
    answers = [ask(keyed, path) for path in ("", "/style.css", "/page.js", "/api/live", "/nothing")]
    answers.append(ask(keyed, "", authorization="Bearer no"))
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 400, 401]
    for answer in answers:
        assert tuple((name, answer.headers[name]) for name, _ in HEADERS) == HEADERS
    rules = dict(HEADERS)["content-security-policy"]
    assert "default-src 'none'" in rules
    assert "unsafe" not in rules
    assert "http" not in rules
    assert answers[-1].headers["www-authenticate"].startswith("Basic ")


def test_the_page_holds_no_inline_code_and_names_no_other_place(keyed: Service) -> None:
    page, style, script = (ask(keyed, path).text for path in ("", "/style.css", "/page.js"))
    assert "style=" not in page
    assert not re.search(r"\son\w+=", page)
    assert re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL) == [""]
    for text in (page, style, script):
        assert "//" not in text.replace("// ", "")
    assert not any(word in script for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("))


def test_what_is_asked_is_answered_and_audited_without_content(keyed: Service) -> None:
    question = {"endpoint": "text", "input": f"Call {NAME} now.", "model": "gpt-4o"}
    answer = ask(keyed, "/api/inspect", question, **{"x-request-id": "looked-1"})
    told = answer.json()
    assert [(one["entity"], one["value"]) for one in told["findings"]] == [("PERSON", NAME)]
    assert told["outcome"]["forwarded"]
    assert NAME not in told["sent"]
    (line,) = [line for line in keyed.out.text.splitlines() if "looked-1" in line]
    event = json.loads(line)
    assert (event["verdict"], event["endpoint"], event["status"]) == ("inspect", "/inspector", 200)
    assert event["entities"] == {}


def test_a_placeholder_shown_is_nobodys(keyed: Service) -> None:
    question = {"endpoint": "text", "input": f"Call {NAME} now.", "model": "gpt-4o"}
    first, second = (ask(keyed, "/api/inspect", question).json()["sent"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("question", "headers"),
    [
        ({"endpoint": "/v1/files", "input": "{}"}, {}),
        ({"endpoint": "text"}, {}),
        ({"endpoint": "text", "input": 1, "model": "m"}, {}),
        ([], {}),
        ({"endpoint": "text", "input": "a", "model": "m"}, {"content-encoding": "gzip"}),
        ({"endpoint": "text", "input": "a", "model": "m"}, {"content-type": "text/plain"}),
    ],
)
def test_what_is_no_question_is_refused(keyed: Service, question: Any, headers: dict[str, str]) -> None:
    assert ask(keyed, "/api/inspect", question, **headers).status_code == 400


def test_a_question_has_a_largest_size(keyed: Service) -> None:
    question = {"endpoint": "text", "input": "a" * MAX_BYTES, "model": "m"}
    assert ask(keyed, "/api/inspect", question).status_code == 413


@pytest.mark.parametrize("line", ["languages: [de]", "recognizers: {LOOT: {presidio: os.system}}"])
def test_an_edit_can_load_no_model_and_run_no_code(keyed: Service, line: str) -> None:
    head = "version: 1\nlimits: {default: 9000}\nentities: {PERSON: replace}\n"
    tests = 'tests: [{text: "loot", finds: [LOOT]}]\n' if "LOOT" in line else ""
    question = {"endpoint": "text", "input": "a", "model": "m", "policy": f"{head}{line}\n{tests}"}
    told = ask(keyed, "/api/inspect", question).json()
    assert [fault["rule"] for fault in told["faults"]] == ["not-loaded"]
    assert "sent" not in told


def test_without_the_option_there_is_no_inspector(service: Service) -> None:
    answer = httpx2.get(f"{service.url}/inspector", trust_env=False)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "unsupported_by_policy"
