"""Conversations that the provider keeps, through real proxies that share a real Redis.

What was replaced in one turn is restored in a later one, whichever replica serves it; nobody else can ask for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anthropic
import httpx2
import openai
import pytest

from tests.e2e import found_in, wait_until
from tests.keeper import Keeper
from tests.replicas import Replica, detecting
from tests.shelf import Server, serving_redis

POLICY = """
version: 1
languages: [en]
limits: {default: refuse, models: {"*": 20000, gpt-4o-tiny: 400}}
entities: {EMAIL_ADDRESS: replace, IBAN_CODE: replace}
deny: {PROJECT: [Operation Nightjar], STAFF: ['Kern "Süd" \\ Ost']}
"""
MAIL, IBAN, PROJECT, STAFF = (
    "mira.tallow@example.com",
    "DE89370400440532013000",
    "Operation Nightjar",
    'Kern "Süd" \\ Ost',
)
VALUES = (MAIL, IBAN, PROJECT, STAFF)
INCLUDED: Any = ["message.input_image.image_url"]
TEXT = f"Tell {MAIL} about {PROJECT}: pay {IBAN}, says {STAFF}."


@dataclass
class World:
    """A provider, a store, and what replicas in front of the one with the other need."""

    keeper: Keeper
    redis: Server
    policy: Path
    folder: Path

    def replica(self, **settings: Any) -> Replica:
        return Replica(self.keeper.url, self.policy, self.folder, **{"store": self.redis.url, **settings})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("stateful")
    policy = folder / "light.yaml"
    policy.write_text(POLICY)
    with Keeper() as keeper, serving_redis() as redis, detecting(policy):
        yield World(keeper, redis, policy, folder)


@pytest.fixture(scope="module")
def replicas(world: World) -> Iterator[list[Replica]]:
    with world.replica() as one, world.replica() as other:
        yield [one, other]


@pytest.fixture(autouse=True)
def nothing_leaks(world: World, replicas: list[Replica]) -> Iterator[None]:
    """After every test: the provider, the store, the logs and the audit trail hold no value."""
    world.keeper.received.clear()
    yield
    assert found_in(world.keeper.seen(), VALUES) == []
    assert [value for value in VALUES if value.encode() in world.redis.dump() + world.redis.on_disk()] == []
    assert found_in("".join(replica.written for replica in replicas), VALUES) == []


@contextmanager
def refused(status: int, code: str) -> Iterator[Any]:
    with pytest.raises(openai.APIStatusError) as caught:
        yield caught
    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert caught.value.response.headers["x-should-retry"] == "false"


def test_twenty_turns_over_replicas_of_which_one_dies(world: World, replicas: list[Replica]) -> None:
    one, other = replicas
    with world.replica() as dying:
        last = dying.client().responses.create(model="echo", input=TEXT)
        assert last.output_text == TEXT
        said = [TEXT, TEXT]
        for turn in range(2, 21):
            if turn == 10:
                dying.__exit__()
            replica = (one, other, dying)[turn % 3] if turn < 10 else (one, other)[turn % 2]
            words = f"Turn {turn}: ask {MAIL} again, or turn{turn}@example.com."
            model = "recall" if turn in (5, 20) else "echo"
            last = replica.client().responses.create(model=model, input=words, previous_response_id=last.id)
            answer = "\n".join([*said, words]) if model == "recall" else words
            assert last.output_text == answer
            said += [words, answer]
    sent = [body["input"] for _, _, _, body in world.keeper.received]
    (placeholder,) = {text.split("ask ")[1].split(" again")[0] for text in sent[1:]}
    assert sent[0].startswith(f"Tell {placeholder} about")
    assert "@example.com" not in world.keeper.seen()


@pytest.mark.parametrize("size", [1, 20])
def test_a_stream_of_a_later_turn_is_restored(replicas: list[Replica], size: int) -> None:
    one, other = replicas[0].client(), replicas[1].client()
    first = one.responses.create(model="echo", input=TEXT)
    with other.responses.stream(model="recall", input="x" * size, previous_response_id=first.id) as stream:
        parts = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(parts) == final.output_text == f"{TEXT}\n{TEXT}\n{'x' * size}"
    again = one.responses.create(model="recall", input="y", previous_response_id=final.id)
    assert again.output_text.startswith(f"{TEXT}\n{TEXT}\n")


def test_a_stored_response_is_fetched_restored_and_taken_up_in_the_middle(replicas: list[Replica]) -> None:
    one, other = replicas[0].client(), replicas[1].client()
    made = one.responses.create(model="echo", input=TEXT, instructions=f"Help {MAIL}.", stream=True)
    events: list[Any] = [event.to_dict() for event in made]
    id = events[-1]["response"]["id"]
    got = other.responses.retrieve(id)
    assert (got.output_text, got.instructions) == (TEXT, f"Help {MAIL}.")
    for after in (0, 5, 11, 14, len(events) - 2):
        rest = [event.to_dict() for event in other.responses.retrieve(id, stream=True, starting_after=after)]
        assert [event["sequence_number"] for event in rest] == list(range(after + 1, len(events)))
        deltas = [event.get("delta", "") for event in rest]
        assert "".join(deltas) == "".join(event.get("delta", "") for event in events[after + 1 :])
    (item,) = cast(Any, other.responses.input_items.list(id, limit=5, order="asc", include=INCLUDED))
    assert item.content[0].text == TEXT


def test_a_background_response_is_polled_cancelled_and_gone_on_from(world: World, replicas: list[Replica]) -> None:
    one, other = replicas[0].client(), replicas[1].client()
    queued = one.responses.create(model="echo", input=TEXT, background=True)
    assert (queued.status, queued.output) == ("queued", [])
    with refused(400, "unsupported_by_policy") as caught:
        other.responses.create(model="recall", input="go on", previous_response_id=queued.id)
    assert "state.unknown_tokens" in str(caught.value)
    assert other.responses.retrieve(queued.id).output_text == TEXT
    assert one.responses.create(model="recall", input="go on", previous_response_id=queued.id).output_text.startswith(
        TEXT
    )
    assert one.responses.cancel(queued.id).output_text == TEXT
    bounded = one.responses.create(model="echo", input=TEXT, background=True, max_output_tokens=50)
    assert other.responses.create(model="echo", input="go on", previous_response_id=bounded.id).output_text == "go on"


def test_a_stream_of_a_background_response_that_was_cut_off_is_taken_up(replicas: list[Replica]) -> None:
    one, other = replicas[0].client(), replicas[1].client()
    events: list[Any] = []
    with pytest.raises(Exception, match=r"(?i)peer closed|incomplete|connection"):  # noqa: PT012
        for event in one.responses.create(model="breaks", input=TEXT, background=True, stream=True):
            events.append(event)
    id = events[0].response.id
    last = max(event.sequence_number for event in events)
    assert events[-1].type == "error"
    rest = list(other.responses.retrieve(id, stream=True, starting_after=last))
    deltas = [event for event in (*events, *rest) if event.type == "response.output_text.delta"]
    assert "".join(event.delta for event in deltas) == TEXT
    assert rest[-1].type == "response.completed"


def test_what_is_deleted_is_forgotten(world: World, replicas: list[Replica]) -> None:
    one, other = replicas[0].client(), replicas[1].client()
    id = one.responses.create(model="echo", input=TEXT).id
    with world.redis.client as redis:
        before = redis.dbsize()
        other.responses.delete(id)
        assert redis.dbsize() == before - 2
    world.keeper.received.clear()
    for attempt in (
        lambda: one.responses.retrieve(id),
        lambda: one.responses.delete(id),
        lambda: one.responses.create(model="echo", input="x", previous_response_id=id),
    ):
        with refused(404, "state_not_found"):
            attempt()
    assert world.keeper.received == []


def test_another_tenants_ids_do_not_exist(world: World, replicas: list[Replica]) -> None:
    one, thief = replicas[0].client(), replicas[0].client("sk-two")
    id = one.responses.create(model="echo", input=TEXT).id
    talk = one.conversations.create(items=[{"type": "message", "role": "user", "content": TEXT}]).id
    world.keeper.received.clear()
    for attempt in (
        lambda: thief.responses.create(model="recall", input="x", previous_response_id=id),
        lambda: thief.responses.create(model="recall", input="x", conversation=talk),
        lambda: thief.responses.create(model="recall", input="x", conversation={"id": talk}),
        lambda: thief.responses.retrieve(id),
        lambda: list(thief.responses.retrieve(id, stream=True)),
        lambda: thief.responses.cancel(id),
        lambda: thief.responses.delete(id),
        lambda: thief.responses.input_items.list(id),
        lambda: thief.conversations.retrieve(talk),
        lambda: thief.conversations.update(talk, metadata={"a": "b"}),
        lambda: thief.conversations.items.list(talk),
        lambda: thief.conversations.items.create(talk, items=[{"role": "user", "content": "x"}]),
        lambda: thief.conversations.delete(talk),
        lambda: one.responses.create(model="echo", input="x", previous_response_id="resp_never"),
    ):
        with refused(404, "state_not_found"):
            attempt()
    assert world.keeper.received == []


def test_a_conversation_is_read_written_and_forgotten(world: World, replicas: list[Replica]) -> None:
    one, other = replicas[0].client(), replicas[1].client()
    message: Any = {"type": "message", "role": "user", "content": TEXT}
    talk = one.conversations.create(items=[message], metadata={"who": MAIL})
    assert talk.metadata == {"who": MAIL}
    assert other.conversations.retrieve(talk.id).metadata == {"who": MAIL}
    added: Any = other.conversations.items.create(
        talk.id, items=[{"role": "user", "content": "also second@example.com"}]
    )
    assert added.data[0].content[0].text == "also second@example.com"
    said = one.responses.create(model="recall", input="and third@example.com", conversation=talk.id)
    assert said.output_text == f"{TEXT}\nalso second@example.com\nand third@example.com"
    texts = [item.content[0].text for item in cast(Any, other.conversations.items.list(talk.id))]
    assert texts == [TEXT, "also second@example.com", "and third@example.com", said.output_text]
    first: Any = other.conversations.items.retrieve("item_0", conversation_id=talk.id)
    assert first.content[0].text == TEXT
    again = other.responses.create(model="recall", input="x", conversation={"id": talk.id}, store=False)
    assert again.output_text.startswith(f"{TEXT}\nalso second@example.com\nand third@example.com\n{TEXT}")
    assert one.conversations.update(talk.id, metadata={"who": "fourth@example.com"}).metadata == {
        "who": "fourth@example.com"
    }
    assert other.conversations.retrieve(talk.id).metadata == {"who": "fourth@example.com"}
    assert "@example.com" not in world.keeper.seen()
    one.conversations.delete(talk.id)
    with refused(404, "state_not_found"):
        other.conversations.retrieve(talk.id)


def test_two_empty_conversations_cannot_be_linked(world: World, replicas: list[Replica]) -> None:
    one = replicas[0].client()
    for _ in range(2):
        talk = one.conversations.create()
        assert one.responses.create(model="echo", input=MAIL, conversation=talk.id).output_text == MAIL
    sent = [body["input"] for _, path, _, body in world.keeper.received if path == "/v1/responses"]
    assert len(set(sent)) == 2


def test_a_turn_that_failed_leaves_a_conversation_as_it_was(replicas: list[Replica]) -> None:
    one, other = replicas[0].client(), replicas[1].client()
    talk = one.conversations.create(items=[{"type": "message", "role": "user", "content": TEXT}])
    with pytest.raises(openai.InternalServerError):
        one.responses.create(model="fails", input="x", conversation=talk.id)
    with refused(400, "unsupported_by_policy"):
        one.responses.create(model="echo", input="x", conversation=talk.id, extra_headers={"openai-beta": "a@b"})
    assert other.responses.create(model="recall", input="y", conversation=talk.id).output_text == f"{TEXT}\ny"


def test_a_stored_completion_is_fetched_changed_and_deleted(world: World, replicas: list[Replica]) -> None:
    one, other = replicas[0].client(), replicas[1].client()
    made = one.chat.completions.create(model="echo", messages=[{"role": "user", "content": TEXT}], store=True)
    assert other.chat.completions.retrieve(made.id).choices[0].message.content == TEXT
    (message,) = other.chat.completions.messages.list(made.id)
    assert message.content == TEXT
    assert one.chat.completions.update(made.id, metadata={"who": "new@example.com"}).metadata == {
        "who": "new@example.com"
    }
    assert other.chat.completions.retrieve(made.id).metadata == {"who": "new@example.com"}
    with refused(404, "state_not_found"):
        replicas[0].client("sk-two").chat.completions.retrieve(made.id)
    one.chat.completions.delete(made.id)
    unkept = one.chat.completions.create(model="echo", messages=[{"role": "user", "content": TEXT}])
    for id in (made.id, unkept.id):
        with refused(404, "state_not_found"):
            other.chat.completions.retrieve(id)


def test_tokens_of_the_whole_chain_count(world: World, replicas: list[Replica]) -> None:
    one = replicas[0].client()
    first = one.responses.create(model="gpt-4o-tiny", input="word " * 100)
    with refused(400, "context_length_exceeded") as caught:
        one.responses.create(model="gpt-4o-tiny", input="word " * 200, previous_response_id=first.id)
    assert "400 tokens" in str(caught.value)
    raw = one.responses.with_raw_response.create(model="gpt-4o-tiny", input="x", previous_response_id=first.id)
    assert 200 < int(raw.headers["x-caviardage-prompt-tokens"]) < 330
    assert len(world.keeper.received) == 2


def test_instructions_and_tools_do_not_pile_up(replicas: list[Replica]) -> None:
    one = replicas[0].client()
    id: str | None = None
    counts = []
    for turn in range(6):
        raw = one.responses.with_raw_response.create(
            model="echo", input=f"turn {turn}", instructions="word " * 1_000, previous_response_id=id
        )
        counts.append(int(raw.headers["x-caviardage-prompt-tokens"]))
        id = raw.parse().id
    assert counts[-1] - counts[0] < 1_000


def test_an_answer_that_cannot_have_read_the_chain_is_blocked(world: World, replicas: list[Replica]) -> None:
    one = replicas[0].client()
    first = one.responses.create(model="echo", input="word " * 3_000)
    world.keeper.reported = 1
    try:
        with refused(502, "usage_mismatch"):
            one.responses.create(model="echo", input="x", previous_response_id=first.id)
    finally:
        world.keeper.reported = 5_000


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/responses/{id}?stream=yes"),
        ("GET", "/responses/{id}?who=mira"),
        ("GET", "/responses/{id}/input_items?after=mira.tallow%40example.com"),
        ("GET", "/responses/{id}/input_items?after=DE89370400440532013000"),
        ("GET", "/responses/{id}/output_items"),
        ("GET", "/responses/{id}?starting_after=1&"),
        ("PATCH", "/responses/{id}"),
        ("DELETE", "/responses/{id}?x=1"),
        ("GET", "/chat/completions"),
        ("GET", "/conversations"),
    ],
)
def test_what_is_not_inspected_is_refused(world: World, replicas: list[Replica], method: str, path: str) -> None:
    id = replicas[0].client().responses.create(model="echo", input="x").id
    world.keeper.received.clear()
    url = f"{replicas[0].url}/v1{path.format(id=id)}"
    got = httpx2.request(method, url, headers={"authorization": "Bearer sk-one"}, timeout=30, trust_env=False)
    assert (got.status_code, got.json()["error"]["code"]) == (400, "unsupported_by_policy")
    assert "mira" not in got.text
    assert world.keeper.received == []


def test_templates_references_and_both_at_once_are_refused(world: World, replicas: list[Replica]) -> None:
    one = replicas[0].client()
    id = one.responses.create(model="echo", input="x").id
    talk = one.conversations.create().id
    world.keeper.received.clear()
    for body in (
        {"prompt": {"id": "pmpt_1"}},
        {"input": [{"type": "item_reference", "id": "mira tallow"}]},
        {"input": [{"id": {"id": "msg_1"}}]},
        {"previous_response_id": id, "conversation": talk},
        {"previous_response_id": "mira tallow"},
        {"previous_response_id": {"id": id}},
        {"conversation": {"id": 5}},
    ):
        with pytest.raises(openai.BadRequestError):
            one.responses.create(**{"model": "echo", "input": "x", **body})  # type: ignore[call-overload]
    assert world.keeper.received == []


def test_items_of_earlier_answers_may_be_named(world: World, replicas: list[Replica]) -> None:
    """As clients do that send what the user said, and name what the model said; of two answers, by another replica."""
    one, other = replicas[0].client(), replicas[1].client()
    turns = [one.responses.create(model="echo", input=text) for text in (TEXT, f"And {MAIL}?")]
    named: list[Any] = [{"type": "item_reference", "id": turns[0].output[0].id}, {"id": turns[1].output[0].id}]
    asked: Any = [*named, {"role": "user", "content": "What?"}]
    last = other.responses.create(model="recall", input=asked)
    assert last.output_text == f"{TEXT}\nAnd {MAIL}?\nWhat?"
    assert world.keeper.received[-1][3]["input"] == asked
    with one.responses.stream(model="recall", input=asked) as stream:
        assert stream.get_final_response().output_text == last.output_text
    assert other.responses.create(model="recall", input="More", previous_response_id=last.id).output_text == (
        f"{last.output_text}\n{last.output_text}\nMore"
    )


def test_named_items_count(replicas: list[Replica]) -> None:
    """Each with its own tokens, however long what was said around it."""
    one = replicas[0].client()
    answers = [one.responses.create(model="gpt-4o-tiny", input="word " * 30) for _ in range(3)]
    named: list[Any] = [{"type": "item_reference", "id": answer.output[0].id} for answer in answers]
    one.responses.create(model="gpt-4o-tiny", input=[*named, {"role": "user", "content": "word"}], max_output_tokens=16)
    more: Any = [*named, {"role": "user", "content": "word " * 150}]
    with refused(400, "context_length_exceeded"):
        one.responses.create(model="gpt-4o-tiny", input=more, max_output_tokens=16)


def test_items_that_are_not_known_are_refused(world: World, replicas: list[Replica]) -> None:
    one = replicas[0].client()
    answer = one.responses.create(model="echo", input=TEXT)
    item, unkept = answer.output[0].id, one.responses.create(model="echo", input=TEXT, store=False).output[0].id
    talk = one.conversations.create().id
    world.keeper.received.clear()
    for client, id in ((one, "msg_1"), (one, unkept), (replicas[1].client("sk-two"), item)):
        with refused(404, "state_not_found") as caught:
            client.responses.create(model="echo", input=[{"type": "item_reference", "id": id}])  # type: ignore[list-item]
        assert caught.value.param == "$.input[0].id"
    named: Any = [{"type": "item_reference", "id": item}]
    for more in ({"previous_response_id": answer.id}, {"conversation": talk}):
        with refused(400, "unsupported_by_policy"):
            one.responses.create(model="echo", input=named, **more)
    with refused(400, "unsupported_by_policy"):
        one.conversations.items.create(talk, items=named)
    assert world.keeper.received == []


def test_a_count_of_tokens_knows_the_chain(replicas: list[Replica]) -> None:
    one, other = replicas[0].client(), replicas[1].client()
    id = one.responses.create(model="echo", input=TEXT).id
    assert other.responses.input_tokens.count(model="echo", input=MAIL, previous_response_id=id).input_tokens == 11


def test_a_store_that_is_away_stops_what_needs_it_and_nothing_else(world: World, replicas: list[Replica]) -> None:
    one = replicas[0].client()
    id = one.responses.create(model="echo", input=TEXT).id
    world.keeper.received.clear()
    world.redis.stop()
    try:
        for attempt in (
            lambda: one.responses.create(model="echo", input="x"),
            lambda: one.responses.create(model="echo", input="x", previous_response_id=id),
            lambda: one.responses.retrieve(id),
            lambda: one.conversations.create(),
        ):
            with refused(503, "store_unavailable"):
                attempt()
        assert world.keeper.received == []
        assert one.responses.create(model="echo", input=TEXT, store=False).output_text == TEXT
        said = one.chat.completions.create(model="echo", messages=[{"role": "user", "content": TEXT}])
        assert said.choices[0].message.content == TEXT
        wait_until(lambda: replicas[0].ready == 503)
    finally:
        world.redis.start()
    wait_until(lambda: replicas[0].ready == 200)
    with refused(404, "state_not_found"):
        one.responses.retrieve(id)
    assert one.responses.create(model="echo", input=TEXT).output_text == TEXT


def test_what_has_expired_says_so(world: World, replicas: list[Replica]) -> None:
    with world.replica(store_ttl=0.3) as brief:
        one = brief.client()
        id = one.responses.create(model="echo", input=TEXT).id
        wait_until(lambda: not alive(lambda: one.responses.retrieve(id)))
        world.keeper.received.clear()
        for attempt in (
            lambda: one.responses.retrieve(id),
            lambda: one.responses.create(model="echo", input="x", previous_response_id=id),
        ):
            with refused(400, "state_expired") as caught:
                attempt()
            assert "has expired" in str(caught.value)
        assert caught.value.param == "$.previous_response_id"
    assert world.keeper.received == []


def alive(ask: Any) -> bool:
    try:
        ask()
    except openai.APIStatusError:
        return False
    return True


def test_a_record_that_was_changed_in_the_store_refuses(world: World, replicas: list[Replica]) -> None:
    one = replicas[0].client()
    with world.redis.client as redis:
        redis.flushall()
        answer = one.responses.create(model="echo", input=TEXT)
        keys = [key for key in redis.scan_iter() if redis.lindex(key, 0) != b"\x01"]
        assert len(keys) == 2  # the answer and its item
        for key in keys:
            blob: Any = redis.lindex(key, 0)
            redis.lset(key, 0, blob[:-1] + bytes([blob[-1] ^ 1]))
    world.keeper.received.clear()
    named: Any = [{"type": "item_reference", "id": answer.output[0].id}]
    for wanted in ({"input": "x", "previous_response_id": answer.id}, {"input": named}):
        with refused(503, "store_unreadable"):
            one.responses.create(model="echo", **wanted)
    assert world.keeper.received == []


def test_a_single_replica_keeps_it_in_memory_and_forgets_it_when_it_ends(world: World) -> None:
    with world.replica(store="memory") as alone:
        id = alone.client().responses.create(model="echo", input=TEXT).id
        assert (
            alone.client()
            .responses.create(model="recall", input="x", previous_response_id=id)
            .output_text.startswith(TEXT)
        )
    with world.replica(store="memory") as again, refused(404, "state_not_found"):
        again.client().responses.retrieve(id)


def test_a_policy_may_refuse_all_of_it_or_allow_for_what_was_not_measured(world: World) -> None:
    strict, lax = (world.folder / f"{name}.yaml" for name in ("strict", "lax"))
    strict.write_text(f"{POLICY}\nstate: {{responses: refuse, conversations: refuse}}\n")
    lax.write_text(f"{POLICY}\nstate: {{prompts: allow, unknown_tokens: 500}}\n")
    with world.redis.client as redis:
        redis.flushall()
        with Replica(world.keeper.url, strict, world.folder, world.redis.url) as replica:
            one = replica.client()
            id = one.responses.create(model="echo", input=TEXT).id
            for attempt in (
                lambda: one.responses.create(model="echo", input="x", previous_response_id=id),
                lambda: one.responses.create(model="echo", input="x", background=True),
                lambda: one.responses.retrieve(id),
                lambda: one.responses.delete(id),
                lambda: one.conversations.create(),
            ):
                with refused(400, "unsupported_by_policy") as caught:
                    attempt()
                assert "state." in str(caught.value)
        assert redis.dbsize() == 0
    with Replica(world.keeper.url, lax, world.folder, world.redis.url) as replica:
        one = replica.client()
        made = one.responses.with_raw_response.create(
            model="echo", input="x", prompt={"id": "pmpt_1", "variables": {"who": MAIL}}
        )
        assert int(made.headers["x-caviardage-prompt-tokens"]) > 500
        queued = one.responses.create(model="echo", input=TEXT, background=True)
        assert one.responses.create(model="echo", input="go on", previous_response_id=queued.id).output_text == "go on"


@pytest.mark.parametrize("streamed", [False, True])
def test_signed_thinking_is_shown_and_goes_back_as_it_was_by_another_replica(
    world: World, replicas: list[Replica], streamed: bool
) -> None:
    one, other = replicas[0].anthropic(), replicas[1].anthropic()
    turns: list[Any] = [{"role": "user", "content": TEXT}]
    said: list[str] = []
    for turn in range(3):
        client = (one, other, one)[turn]
        if streamed:
            with client.messages.stream(model="claude-x", max_tokens=50, messages=turns) as stream:
                answer = stream.get_final_message()
        else:
            answer = client.messages.create(model="claude-x", max_tokens=50, messages=turns)
        thought: Any = answer.content[0]
        assert thought.thinking == f"I think {turns[-1]['content']}"
        turns += [{"role": "assistant", "content": [block.to_dict() for block in answer.content]}]
        turns += [{"role": "user", "content": f"Turn {turn}, {MAIL}"}]
    for _, _, _, body in world.keeper.received:
        texts = [message["content"] for message in body["messages"] if message["role"] == "user"]
        thoughts = [message["content"][0] for message in body["messages"] if message["role"] == "assistant"]
        said = [f"I think {text}" for text in texts[:-1]]
        assert [block["thinking"] for block in thoughts] == said  # what was signed, byte for byte
        assert {block["signature"] for block in thoughts} <= {"c2ln"}
    assert len(said) == 2


def test_thinking_that_is_not_known_is_refused_and_one_that_was_kept_is_not_needed(
    world: World, replicas: list[Replica]
) -> None:
    user: Any = {"role": "user", "content": TEXT}
    shown: Any = replicas[0].anthropic().messages.create(model="claude-x", max_tokens=50, messages=[user])
    blocks: Any = [block.to_dict() for block in shown.content]
    turns: Any = [user, {"role": "assistant", "content": blocks}, {"role": "user", "content": "go on"}]
    world.keeper.received.clear()
    with pytest.raises(anthropic.BadRequestError, match=r"content\[0\]\.thinking") as caught:
        replicas[0].anthropic("ak-two").messages.create(model="claude-x", max_tokens=50, messages=turns)
    assert found_in(str(caught.value), VALUES) == []
    with world.redis.client as redis:
        redis.flushall()
    with pytest.raises(anthropic.BadRequestError, match=r"content\[0\]\.thinking"):
        replicas[1].anthropic().messages.create(model="claude-x", max_tokens=50, messages=turns)
    assert world.keeper.received == []
    keep = world.folder / "keep.yaml"
    keep.write_text(f"{POLICY}\nstate: {{thinking: keep}}\n")
    with Replica(world.keeper.url, keep, world.folder) as replica:
        kept: Any = replica.anthropic().messages.create(model="claude-x", max_tokens=50, messages=[user])
    assert found_in(kept.content[0].thinking, VALUES) == []
    assert kept.content[1].text == TEXT
    turns[1]["content"] = [block.to_dict() for block in kept.content]
    with Replica(world.keeper.url, keep, world.folder) as replica:
        replica.anthropic().messages.create(model="claude-x", max_tokens=50, messages=turns)
    assert world.keeper.received[-1][3]["messages"][1]["content"][0]["thinking"] == kept.content[0].thinking
