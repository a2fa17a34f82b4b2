"""The detector with its real worker processes and the real models."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from proxy.analysis import examples, settings_for
from proxy.detect import Detector
from proxy.errors import BlockedEntity, Unavailable
from proxy.model import Finding, Kind, Leaf
from proxy.pieces import cut
from proxy.policy import Policy, parse_policy
from recognizers import ENTITIES

HEAD = "version: 1\nlimits: {default: 8000}\n"


def policy_of(text: str) -> Policy:
    return parse_policy((HEAD + text).encode(), file="test.yaml", entities=ENTITIES)


REPLACE = policy_of(
    "entities: {PERSON: replace, EMAIL_ADDRESS: replace, IBAN_CODE: replace, CREDIT_CARD: replace,"
    " PHONE_NUMBER: replace, SECRET: replace, MEDICAL_RECORD: {action: replace, min_score: 0.4}}\n"
    "deny: {PROJECT: [Nightjar]}\n"
    "allow: [Grace Hopper, 4000 0052 6018 1590]\n"
)


class Running:
    """A detector on an event loop of its own, so that its workers start once for all tests of this file."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.detector = Detector(settings_for(REPLACE), workers=1, deadline=60)
        self.loop.run_until_complete(self.detector.start())

    def run(self, awaitable: Any) -> Any:
        return self.loop.run_until_complete(awaitable)

    def find(self, *leaves: Leaf | str, policy: Policy = REPLACE, tenant: str = "t") -> list[list[tuple[str, str]]]:
        given = [leaf if isinstance(leaf, Leaf) else Leaf("$", leaf) for leaf in leaves]
        found: list[list[Finding]] = self.run(self.detector.detect(given, policy, tenant))
        return [[(f.entity, leaf.text[f.start : f.end]) for f in hits] for leaf, hits in zip(given, found, strict=True)]


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    one = Running()
    yield one
    one.run(one.detector.stop())
    one.loop.close()


def test_every_entity_is_found_in_its_own_example(running: Running) -> None:
    assert running.run(running.detector.self_test(examples(REPLACE))) == []
    assert running.detector.ready


def test_a_self_test_that_misses_leaves_the_detector_unready(running: Running) -> None:
    assert running.run(running.detector.self_test([("PERSON", "no name at all", "at all")])) == ["PERSON"]
    assert not running.detector.ready
    running.run(running.detector.self_test(examples(REPLACE)))


def test_a_known_value_is_the_same_entity_everywhere(running: Running) -> None:
    first, second, third = running.find(
        "My colleague is Thandiwe Mokoena.", "subject: THANDIWE MOKOENA, urgent", '{"to": "mokoena"}'
    )
    assert first == [("PERSON", "Thandiwe Mokoena")]
    assert second == [("PERSON", "THANDIWE MOKOENA")]
    assert ("PERSON", "mokoena") in third


def test_parts_of_a_known_name_do_not_refuse_a_property_name(running: Running) -> None:
    leaves = [Leaf("$", "My colleague is Thandiwe Mokoena."), Leaf("$.tools", "mokoena_report", Kind.FIXED)]
    assert running.find(*leaves)[1] == []
    assert running.find(leaves[0], Leaf("$.tools", "thandiwe mokoena", Kind.FIXED))[1] != []


def test_an_identifier_is_touched_only_as_a_whole(running: Running) -> None:
    assert running.find(Leaf("$.id", "call_4000005260181590", Kind.ID)) == [[]]
    assert running.find(Leaf("$.id", "2221000830166137", Kind.ID)) == [[("CREDIT_CARD", "2221000830166137")]]


@pytest.mark.parametrize(
    "value",
    ["zoe.mueller@example.com", "DE89370400440532013000", "+33612345678", "sk-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z7A0b"],
)
def test_a_value_that_no_identifier_holds_is_not_freed_by_what_is_around_it(running: Running, value: str) -> None:
    leaves = [Leaf("$.id", form.format(value), Kind.ID) for form in ("{}", "{}/", "/{}=", "id:{}", "x/{};y")]
    assert [len(found) for found in running.find(*leaves)] == [1] * len(leaves)


def test_signs_around_digits_free_nothing_but_other_characters_do(running: Running) -> None:
    leaves = [
        Leaf("$.id", text, Kind.ID) for text in ("2221000830166137/", "-2221000830166137=", "id:2221000830166137")
    ]
    card = [("CREDIT_CARD", "2221000830166137")]
    assert running.find(*leaves) == [card, card, []]


def test_an_identifier_that_says_what_its_digits_are_counts(running: Running) -> None:
    number = [("MEDICAL_RECORD", "00482913")]
    said = ("MRN-00482913", "mrn_00482913", "call_MRN-00482913")
    assert running.find(*[Leaf("$.id", text, Kind.ID) for text in said]) == [number, number, []]


def test_several_words_that_must_stay_can_be_a_name(running: Running) -> None:
    name = "Thandiwe Mokoena"
    spaced, signed = Leaf("$.name", name, Kind.FIXED), Leaf("$.thinking", f"Ask {name}.", Kind.SIGNED)
    assert running.find(spaced) == [[("PERSON", name)]]
    assert running.find(signed) == [[]]
    assert running.find(Leaf("$.name", "order_total", Kind.FIXED)) == [[]]


def test_a_key_is_found_in_the_name_of_a_participant(running: Running) -> None:
    policy = policy_of("entities: {SECRET: replace, PERSON: replace}\n")
    key = "ghp_R7x2Kq9LmZ4tYv8WnB3cJd6HsF1gPa0QeU5i"
    named = Leaf("$.messages[0].name", f"bot_{key}", Kind.NAME, "name")
    assert [entity for entity, _ in running.find(named, policy=policy)[0]] == ["SECRET"]
    assert running.find(Leaf("$.n", key, Kind.NAME, "name"), policy=policy) == [[("SECRET", key)]]


def test_anything_found_in_the_name_of_a_model_counts(running: Running) -> None:
    for name in ("gpt:2221000830166137", "ft:gpt-4o:zoe@example.com:x", "m/DE89370400440532013000"):
        assert running.find(Leaf("$.model", name, Kind.ID))[0] != []
    names = ("claude-3-5-sonnet-20241022", "ft:gpt-4o-mini-2024-07-18:acme:support:9ab1cDEF", "mistralai/Mixtral-8x22B")
    assert running.find(*[Leaf("$.model", name, Kind.ID) for name in names]) == [[], [], []]
    said = Leaf("$", "My colleague is Thandiwe Mokoena.")
    assert running.find(said, Leaf("$.model", "mokoena-7b", Kind.ID))[1] == []


def test_a_model_with_options_is_a_model(running: Running) -> None:
    name = "echo;fail=503;key=0f3a9c81d2b74e5f8a6b0c1d2e3f4a5b;retryafterms=10"
    policy = policy_of("entities: {URL_CREDENTIALS: replace, EMAIL_ADDRESS: replace, CREDIT_CARD: replace}\n")
    assert running.find(Leaf("$.model", name, Kind.ID), policy=policy) == [[]]
    assert running.find(Leaf("$.model", "gpt-4o:mira@example.com", Kind.ID)) == [
        [("EMAIL_ADDRESS", "mira@example.com")]
    ]


def test_a_number_is_one_finding(running: Running) -> None:
    assert running.find(Leaf("$.a#$.card", "2221000830166137", Kind.NUMBER, "card", "2221000830166137")) == [
        [("CREDIT_CARD", "2221000830166137")]
    ]


def test_deny_lists_hold_and_allow_lists_free_names_but_no_check_digits(running: Running) -> None:
    (found,) = running.find("Grace Hopper leads Nightjar; card 4000 0052 6018 1590.")
    assert found == [("PROJECT", "Nightjar"), ("CREDIT_CARD", "4000 0052 6018 1590")]


def test_a_label_above_a_leaf_says_what_it_is(running: Running) -> None:
    assert running.find(Leaf("$.a#$.first_name", "mira", label="first name")) == [[("PERSON", "mira")]]
    assert running.find(Leaf("$.a#$.colour", "amber", label="colour")) == [[]]


def test_what_is_allowed_is_not_found(running: Running) -> None:
    loose = policy_of("entities: {EMAIL_ADDRESS: replace, PERSON: allow}\n")
    assert running.find("Mail Grace Kelly: grace@example.com", policy=loose) == [
        [("EMAIL_ADDRESS", "grace@example.com")]
    ]


def test_blocked_entities_refuse_with_counts_only(running: Running) -> None:
    strict = policy_of("entities: {CREDIT_CARD: block, PERSON: replace}\n")
    with pytest.raises(BlockedEntity) as refused:
        running.find("cards 2221000830166137 and 4000005260181590", policy=strict)
    assert refused.value.counts == {"CREDIT_CARD": 2}
    assert "2221" not in str(refused.value.body())


def test_monitoring_blocks_nothing(running: Running) -> None:
    watch = policy_of("entities: {CREDIT_CARD: block}\nmode: monitor\n")
    assert running.find("card 2221000830166137", policy=watch) == [[("CREDIT_CARD", "2221000830166137")]]


def test_spans_are_cached_per_tenant_and_policy(running: Running) -> None:
    text = "A sentence about Wilhelmina Harker that nobody asked before."
    before = len(running.detector._cache)
    for _ in range(3):
        assert running.find(text) == [[("PERSON", "Wilhelmina Harker")]]
    assert len(running.detector._cache) == before + 1
    running.find(text, tenant="another")
    running.find(text, policy=policy_of("entities: {PERSON: mask}\n"))
    assert len(running.detector._cache) == before + 3
    kept = repr(list(running.detector._cache.items()))
    assert "Harker" not in kept


def test_a_missed_deadline_refuses_and_the_next_request_works(running: Running) -> None:
    hurried = policy_of("entities: {PERSON: replace}\ndetection: {deadline_seconds: 0.05}\n")
    with pytest.raises(Unavailable) as refused:
        running.find("Many words about nothing in particular. " * 40_000, policy=hurried)
    assert refused.value.code == "detection_timeout"
    assert refused.value.headers() == {"x-should-retry": "false"}
    assert running.find("My colleague is Thandiwe Mokoena.") == [[("PERSON", "Thandiwe Mokoena")]]


def test_a_dead_worker_refuses_and_the_next_request_works(running: Running) -> None:
    async def kill_one() -> None:
        with pytest.raises(Unavailable) as refused:
            await running.detector._run(_die, asyncio.get_running_loop().time() + 1e6)
        assert refused.value.code == "detection_failed"

    running.run(kill_one())
    assert running.find("My other colleague is Thandiwe Mokoena.") == [[("PERSON", "Thandiwe Mokoena")]]


def _die() -> None:
    import os

    os._exit(3)


def _fail() -> None:
    raise ValueError("a text that quotes Thandiwe Mokoena")


def test_a_failure_is_told_by_its_type_only(running: Running) -> None:
    async def fail() -> None:
        with pytest.raises(Unavailable) as refused:
            await running.detector._run(_fail, asyncio.get_running_loop().time() + 1e6)
        assert refused.value.message == "Detection failed (ValueError)."
        assert refused.value.__cause__ is None
        assert refused.value.__suppress_context__

    running.run(fail())


def test_a_full_house_refuses_and_says_that_trying_again_helps(running: Running) -> None:
    crowded = Detector(settings_for(REPLACE), workers=1, deadline=60, waiting=0)
    with pytest.raises(Unavailable) as refused:
        running.run(crowded.detect([Leaf("$", "hello")], REPLACE, "t"))
    assert refused.value.code == "busy"
    assert refused.value.headers() == {"x-should-retry": "true", "retry-after": "1"}


STRANGERS = "DE02 1203 0000 0000 2020 51"


def test_an_answer_is_looked_through_for_numbers_with_check_digits(running: Running) -> None:
    text = f"Pay {STRANGERS} or call +33 6 12 34 56 78, says Mira Tallow."
    assert running.run(running.detector.proven([text, "nothing", text], REPLACE)) == [STRANGERS, STRANGERS]


def test_a_long_answer_is_looked_through_in_pieces_and_each_value_found_once(running: Running) -> None:
    """A value stands on every border of a piece; one piece alone goes to a worker at a time."""
    for shift in (0, 13):
        text = "y" * shift + (f"It was paid to {STRANGERS} by " + "word " * 37 + "\n") * 900
        sizes = [len(piece.item.text) for piece in cut([Leaf("$", text)])]
        assert len(sizes) > 2
        assert max(sizes) < len(text) / 2
        assert running.run(running.detector.proven([text], REPLACE)) == [STRANGERS] * 900


def test_an_answer_is_not_looked_through_in_a_full_house_and_not_worth_another_call(running: Running) -> None:
    crowded = Detector(settings_for(REPLACE), workers=1, deadline=60, waiting=0)
    with pytest.raises(Unavailable) as refused:
        running.run(crowded.proven(["hello"], REPLACE))
    assert refused.value.code == "busy"
    assert refused.value.headers() == {"x-should-retry": "false"}


def test_what_waits_for_an_answer_leaves_its_place_again(running: Running) -> None:
    detector = running.detector
    with pytest.raises(Unavailable) as refused:
        running.run(
            detector.proven(["1" * 9], policy_of("entities: {PERSON: mask}\ndetection: {deadline_seconds: 0.000001}\n"))
        )
    assert refused.value.code == "detection_timeout"
    assert detector._inside == 0


def test_a_small_prompt_is_answered_while_a_huge_one_is_in_work(running: Running) -> None:
    """One worker, and a prompt that would keep it for a long time: it takes the worker piece by piece."""
    filler = "".join(f"The invoice {number} was paid on time and nobody complained.\n" for number in range(15_000))
    told: list[int] = []

    async def both() -> None:
        huge = asyncio.create_task(running.detector.detect([Leaf("$", filler)], REPLACE, "huge", told.append))
        await asyncio.sleep(0.2)
        (found,) = await running.detector.detect([Leaf("$", "Write to mira@example.com")], REPLACE, "small")
        assert [finding.entity for finding in found] == ["EMAIL_ADDRESS"]
        assert not huge.done()
        assert sum(told) < len(filler) / 2
        huge.cancel()
        with pytest.raises(asyncio.CancelledError):
            await huge

    running.run(both())


def test_progress_of_a_huge_prompt_is_told_in_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.detect.EVERY", 0.0)
    told: list[tuple[int, int]] = []
    detector = Detector(settings_for(REPLACE), workers=1, deadline=60, on_progress=lambda *sizes: told.append(sizes))
    counted: list[int] = []
    watch = detector._watched(counted.append, 300_000)
    watch(64_000)
    watch(64_000)
    assert told == [(64_000, 300_000), (128_000, 300_000)]
    assert counted == [64_000, 64_000]
    assert detector._watched(counted.append, 1_000) == counted.append


def test_without_workers_nothing_is_found_clean(running: Running) -> None:
    idle = Detector(settings_for(REPLACE), workers=1, deadline=60)
    with pytest.raises(Unavailable):
        running.run(idle.detect([Leaf("$", "hello")], REPLACE, "t"))
