"""The inspector in a real browser, in front of the real service: with the mouse, with the keyboard alone, in the dark.

`SCREENSHOTS=1` writes the pictures of docs/inspector.md again. `EVAL` points the check of ten documents at
an evaluation folder (`docs.jsonl`, lines `{"id", "text", "spans": [{"start", "end", "type"}]}`).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e import ROOT, Service, found_in, serving
from tests.provider import Provider

CHROMIUM = "/usr/bin/chromium"
AXE = ROOT / "tests" / "clients" / "node_modules" / "axe-core" / "axe.min.js"
IMAGES = ROOT / "docs" / "images"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NOTE = (
    "Please transfer the fee for Mira Tallow to IBAN FR76 3000 6000 0112 3456 7890 189 by Friday.\n"
    "She can be reached at mira.tallow@example.com or on +44 20 7946 0018; her card ends the matter: "
    "4000 0052 6018 1590."
)
VALUES = ("Mira Tallow", "FR76 3000 6000 0112 3456 7890 189", "mira.tallow@example.com", "4000 0052 6018 1590")

DOCUMENTS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (NOTE, (("PERSON", VALUES[0]), ("IBAN_CODE", VALUES[1]), ("EMAIL_ADDRESS", VALUES[2]), ("CREDIT_CARD", VALUES[3]))),
    ("Write to ana.souza@example.org before noon.", (("EMAIL_ADDRESS", "ana.souza@example.org"),)),
    ("The account is DE89 3704 0044 0532 0130 00.", (("IBAN_CODE", "DE89 3704 0044 0532 0130 00"),)),
    ("NHS number: 943 476 5919, seen on the ward.", (("UK_NHS", "943 476 5919"),)),
    ("Mon numéro de sécurité sociale est le 2 85 07 75 116 042 97.", (("FR_NIR", "2 85 07 75 116 042 97"),)),
    ("\U0001f600 e\u0301 call +49 30 901820 \U0001f469\u200d\U0001f4bb today", (("PHONE_NUMBER", "+49 30 901820"),)),
    ("first name: Oskar\nlast name: Lindqvist\nIP 203.0.113.77", (("IP_ADDRESS", "203.0.113.77"),)),
    ("export KEY=ghp_16C7e42F292c6912E7710c838347Ae178B4a", (("SECRET", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),)),
    ("holder;card\nMira Tallow;4539 1488 0343 6467\n", (("CREDIT_CARD", "4539 1488 0343 6467"),)),
    ("Two lists, three trees, and nobody in sight.", ()),
)


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """A service of its own; whatever was pasted must be in nothing that it wrote, and nowhere upstream."""
    with Provider() as provider, serving(provider, "--inspector") as running:
        yield running
        assert found_in(running.written, VALUES) == []
        assert provider.received == []


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = CHROMIUM if Path(CHROMIUM).exists() else shutil.which("chromium")
    assert path, "apt-get install chromium"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """The page, loaded; it must have said nothing on the console and asked nobody else."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{service.url}/inspector")
    page.wait_for_selector("#live:has-text('Live policy')")
    yield page
    assert said == []
    assert {url for url in asked if not url.startswith(f"{service.url}/inspector")} == set()
    assert context.cookies() == []
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    context.close()


def inspect(page: Page, text: str, endpoint: str = "text") -> None:
    page.select_option("#endpoint", endpoint)
    page.fill("#input", text)
    page.click("#run")
    done(page)


def done(page: Page) -> None:
    page.wait_for_selector("#results[aria-busy=false]")


def hits(page: Page) -> list[tuple[str, str]]:
    """(entity, value) of every mark, in the order of the page."""
    marks = page.locator("mark.hit")
    return [tuple(pair) for pair in marks.evaluate_all("all => all.map(m => [m.dataset.entity, m.dataset.value])")]


def violations(page: Page) -> list[str]:
    """What axe-core has to say against the page."""
    page.evaluate(AXE.read_text("utf-8"))  # through the debugger, which the policy of the page does not bind
    found: list[Any] = page.evaluate("axe.run().then(told => told.violations)")
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


def edit(page: Page, old: str, new: str) -> None:
    page.check("input[value=edited]")
    text = page.input_value("#policy")
    assert old in text
    page.fill("#policy", text.replace(old, new, 1))


@pytest.mark.parametrize("number", range(len(DOCUMENTS)))
def test_the_right_spans_of_ten_documents_are_marked(page: Page, number: int) -> None:
    text, wanted = DOCUMENTS[number]
    inspect(page, text)
    found = hits(page)
    assert set(wanted) <= set(found)
    assert bool(found) == bool(wanted)
    parts = page.locator(".leaf p").evaluate_all(
        "all => all.map(p => { const c = p.cloneNode(true); c.querySelectorAll('b, [hidden]').forEach(n => n.remove());"
        " return c.textContent; })"
    )
    assert text in parts


def test_what_would_be_sent_is_shown_byte_for_byte_without_a_value(page: Page) -> None:
    inspect(page, NOTE)
    assert page.locator("#verdict").inner_text().startswith("Would be forwarded")
    sent = json.loads(page.locator("#sent").text_content() or "")
    told = sent["messages"][0]["content"]
    assert not any(value in told for value in VALUES)
    assert "<PERSON_" in told
    assert told.startswith("Please transfer the fee for <PERSON_")
    assert "Limit served: " in page.locator("#tokens-text").inner_text()


def test_a_whole_request_is_inspected_leaf_by_leaf(page: Page) -> None:
    body = {"model": "claude-sonnet-4", "max_tokens": 64, "system": "Answer Mira Tallow.", "messages": []}
    body["messages"] = [{"role": "user", "content": [{"type": "text", "text": NOTE}]}]
    inspect(page, json.dumps(body), "/v1/messages")
    assert ("PERSON", "Mira Tallow") in hits(page)
    paths = page.locator(".leaf h4").all_inner_texts()
    assert "$.system" in paths
    assert "64 asked for the answer" in page.locator("#tokens-text").inner_text()


def test_a_refusal_is_told_as_the_client_would_be_told(page: Page) -> None:
    inspect(page, "{", "/v1/messages")
    assert "Would be refused with 400" in page.locator("#verdict").inner_text()
    assert page.locator("#sent").text_content() == "Nothing: the request would be refused."


def test_the_reason_is_there_for_the_pointer_and_for_the_keyboard(page: Page) -> None:
    inspect(page, NOTE)
    mark = page.locator("mark.hit[data-entity=IBAN_CODE]")
    mark.hover()
    assert "IBAN_CODE: replace" in page.locator("#tip").inner_text()
    assert "check" in page.locator("#tip").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()
    page.mouse.move(0, 0)
    mark.focus()
    assert page.locator("#tip").is_visible()
    described = page.locator(f"#{mark.get_attribute('aria-describedby')}")
    assert described.text_content() == page.locator("#tip").text_content()


def test_faults_show_while_one_types(page: Page) -> None:
    edit(page, "PERSON: replace", "PERSONN: replace")
    page.wait_for_selector("#faults li")
    told = page.locator("#faults li").first.inner_text()
    assert "did you mean 'PERSON'?" in told
    line = page.input_value("#policy").split("PERSONN")[0].count("\n") + 1
    assert told.startswith(f"{line}:")
    page.fill("#input", NOTE)
    page.click("#run")
    done(page)
    assert "has faults" in page.locator("#verdict").inner_text()
    page.fill("#policy", page.input_value("#policy").replace("PERSONN: ", "PERSON: "))
    page.wait_for_selector("#faults", state="hidden")


def test_an_edit_is_compared_with_the_live_policy(page: Page) -> None:
    edit(page, "EMAIL_ADDRESS: replace", "EMAIL_ADDRESS: mask")
    policy = page.input_value("#policy")
    page.fill("#policy", policy + "\ndeny: {PROJECT_NAME: [transfer the fee]}\nallow: [Mira Tallow]\n")
    inspect(page, NOTE)
    rows = [row.split("\t")[:2] for row in page.locator("#changes tbody tr").all_inner_texts()]
    assert ["no longer found", "Mira Tallow"] in rows
    assert ["newly found", "transfer the fee"] in rows
    assert ["other action", "mira.tallow@example.com"] in rows
    assert len(rows) == 3
    assert "1 newly found, 1 no longer found, 1 other action" in page.locator("#changes-text").inner_text()
    assert "Mira Tallow" in (page.locator("#sent").text_content() or "")
    picture(page, "inspector-compare", "#changed")


def test_a_blocking_edit_shows_what_blocks(page: Page) -> None:
    edit(page, "IBAN_CODE: replace", "IBAN_CODE: block")
    inspect(page, NOTE)
    assert "blocked_entity" in page.locator("#verdict").inner_text()
    assert "The live policy would forward it." in page.locator("#changes-text").inner_text()
    assert page.locator("mark.hit.block").count() == 1


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    def walk(name: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id || document.activeElement.value") == name:
                return
        pytest.fail(f"Tab never reaches {name}")

    walk("input")
    page.keyboard.type("Mail mira.tallow@example.com now")
    walk("live")
    page.keyboard.press("ArrowDown")  # the other choice
    assert page.locator("input[value=edited]").is_checked()
    walk("policy")
    page.keyboard.press("Control+End")
    page.keyboard.type("\nallow: [nobody]")
    page.keyboard.press("Control+Enter")
    done(page)
    walk("run")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "MARK":
            break
    assert page.evaluate("document.activeElement.dataset.value") == "mira.tallow@example.com"
    assert page.locator("#tip").is_visible()
    ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring == "solid"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    assert violations(page) == []
    edit(page, "PERSON: replace", "PERSONN: replace")
    page.wait_for_selector("#faults li")
    assert violations(page) == []
    page.fill("#policy", page.input_value("#policy").replace("PERSONN: replace", "PERSON: mask"))
    inspect(page, NOTE + " Seen at 203.0.113.77, NHS number 943 476 5919, in Toulouse.")
    page.locator("mark.hit").first.focus()
    assert violations(page) == []
    picture(page, f"inspector-{scheme}")


def test_a_narrow_screen_needs_no_scrolling_sideways(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    inspect(page, NOTE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("#results").scroll_into_view_if_needed()
    mark = page.locator("mark.hit[data-entity=EMAIL_ADDRESS]")
    mark.focus()
    box = page.locator("#tip").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    assert violations(page) == []
    picture(page, "inspector-narrow")


def test_the_spans_of_an_evaluation_folder_are_marked(page: Page) -> None:
    """Ten documents: what the page marks is what the engine finds in the same texts, span by span."""
    folder = os.environ.get("EVAL")
    texts = [text for text, _ in DOCUMENTS] if folder is None else _texts(Path(folder))
    for text in texts[:10]:
        inspect(page, text)
        told = page.evaluate(
            "text => fetch('/inspector/api/inspect', {method: 'POST', headers: {'content-type': 'application/json'},"
            " body: JSON.stringify({endpoint: 'text', input: text, model: 'gpt-4o'})}).then(a => a.json())",
            text,
        )
        assert hits(page) == [(one["entity"], one["value"]) for one in told["findings"]]
        for one in told["findings"]:
            if one["path"] == "$.messages[0].content":
                assert text[one["start"] : one["end"]] == one["value"]


def _texts(folder: Path) -> list[str]:
    files = sorted(folder.glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return [document["text"] for document in map(json.loads, lines[:10]) if "text" in document]


def picture(page: Page, name: str, selector: str | None = None) -> None:
    """A picture for the documentation, where they are asked for."""
    if not os.environ.get("SCREENSHOTS"):
        return
    IMAGES.mkdir(exist_ok=True)
    path = IMAGES / f"{name}.png"
    if selector is None:
        page.screenshot(path=path)
    else:
        page.locator(selector).screenshot(path=path)
