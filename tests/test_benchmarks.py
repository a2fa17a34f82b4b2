"""The benchmarks measure what they say: texts are the same every time, figures land in their place. No times here."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from pathlib import Path

import pytest
from stdnum import iban

from benchmarks import texts
from benchmarks.__main__ import SUBJECTS
from benchmarks.latency import _Delays
from benchmarks.passthrough import PassThrough
from benchmarks.report import Table, quantile, rewrite
from benchmarks.upstream import Upstream
from proxy.echo import Loopback

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("language", ["en", "fr"])
def test_texts_have_their_size_and_come_out_the_same(language: str) -> None:
    for make in (texts.natural, texts.plain, texts.crowded):
        assert len(make(language, 5_000, 3)) == 5_000
        assert make(language, 5_000, 3) == make(language, 5_000, 3) != make(language, 5_000, 4)


def test_plain_text_holds_no_name_and_crowded_text_many() -> None:
    tails = [f"{tail} " for tail in texts.FAMILY_TAILS]
    assert not any(head + tail in texts.plain("en", 50_000) for head in texts.FAMILY_HEADS for tail in tails)
    assert sum(texts.crowded("en", 50_000).count(head + tail) for head in texts.FAMILY_HEADS for tail in tails) > 200


@pytest.mark.parametrize("kind", texts.HOSTILE)
def test_hostile_texts_have_their_size(kind: str) -> None:
    assert len(texts.HOSTILE[kind](1_234, 1)) == 1_234


def test_a_contract_has_its_words_and_its_names() -> None:
    made = texts.contract(5_000)
    assert 5_000 <= len(made.text.split()) < 5_200
    assert len(made.names) > 20
    assert all(name in made.text for name in made.names)


def test_made_up_accounts_have_right_check_digits() -> None:
    assert iban.is_valid(texts._iban("12345678"))


def test_figures_replace_the_figures_of_the_last_run(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("before\n<!-- begin:a -->\n1\n<!-- end:a -->\nbetween\n<!-- begin:b -->\n<!-- end:b -->\nafter\n")
    table = Table("Speed", ("what", "ms"), [("it", "2")], "A note.")
    for _ in range(2):
        rewrite(path, "a", table.markdown())
    assert path.read_text() == (
        "before\n<!-- begin:a -->\n**Speed**\n\n| what | ms |\n|---|---:|\n| it | 2 |\n\nA note.\n<!-- end:a -->\n"
        "between\n<!-- begin:b -->\n<!-- end:b -->\nafter\n"
    )
    with pytest.raises(KeyError):
        rewrite(path, "c", "3")


def test_the_page_has_a_place_for_every_subject(tmp_path: Path) -> None:
    copy = tmp_path / "benchmarks.md"
    copy.write_text((ROOT / "docs" / "benchmarks.md").read_text())
    for name in SUBJECTS:
        rewrite(copy, name, "figures")
    assert copy.read_text().count("figures\n<!-- end:") == len(SUBJECTS)


def test_quantiles_are_values_that_were_measured() -> None:
    assert [quantile([5.0, 1.0, 3.0], share) for share in (0.0, 0.5, 0.99, 1.0)] == [1.0, 3.0, 5.0, 5.0]


def test_a_delta_that_waited_for_others_is_timed_from_the_last_of_them() -> None:
    delays = _Delays()
    delays.add([0, 1_000_000, 2_000_000], [(500_000, 1), (2_250_000, 3)])
    assert (delays.total, delays.work, delays.held) == ([0.5, 1.25, 0.25], [0.5, 0.25, 0.25], 1)
    with pytest.raises(AssertionError):
        delays.add([0, 1], [(5, 1)])


@pytest.mark.parametrize("stream", [False, True])
def test_the_pass_through_proxy_hands_on_what_the_upstream_says_and_gets(stream: bool) -> None:
    body = {"model": "gpt-4o", "stream": stream, "messages": [{"role": "user", "content": "Zoë says hello."}]}
    with Loopback(Upstream(pace=0).app) as provider, Loopback(PassThrough(f"{provider.url}/v1").app) as base:
        direct, through = (_ask(port, body) for port in (provider.port, base.port))
        assert direct == through
        assert b"hello" in direct or stream
        assert json.loads(_get(provider.port, "/last")) == body
        assert len(json.loads(_get(provider.port, "/writes"))) == (direct.count(b"data: ") if stream else 0)


def _ask(port: int, body: object) -> bytes:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"content-type": "application/json", "authorization": "Bearer test"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    answer = connection.getresponse().read()
    connection.close()
    return answer


def _get(port: int, path: str) -> bytes:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse().read()
    connection.close()
    return answer
