"""The audit trail as evidence: what the chain shows, over restarts, rotation, crashes and several processes."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.audit import AuditEvent
from proxy.trail.examine import Examined, examine
from proxy.trail.file import FileSink, Turns
from proxy.trail.queued import QueuedSink, Stream
from proxy.trail.seal import HEAD_BYTES, Head, Link, Seal

SECRET = b"0123456789abcdef"
SEAL = Seal([SECRET])
NEVER = Turns()


def event(number: int = 0) -> AuditEvent:
    return AuditEvent(request_id=f"r{number}", verdict="release", status=200, entities={"PERSON": number})


def written(path: Path, count: int, turns: Turns = NEVER, seal: Seal = SEAL) -> list[Link]:
    anchors: list[Link] = []
    sink = FileSink(path, seal, turns, anchors.append)
    for number in range(count):
        sink(event(number))
    sink.close()
    return anchors


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines(keepends=True)


def heads(path: Path, seal: Seal = SEAL) -> list[Head]:
    found = seal.read_head(Path(f"{path}.head").read_bytes()[:HEAD_BYTES])
    assert found is not None
    return [found]


def trail(path: Path) -> dict[str, list[str]]:
    """The file and those put aside, in an order that is not the chain's."""
    return {one.name: lines(one) for one in sorted(path.parent.glob(f"{path.name}*")) if one.suffix != ".head"}


def examined(path: Path, seal: Seal = SEAL, **more: object) -> Examined:
    return examine(trail(path), seal, heads(path, seal), **more)  # type: ignore[arg-type]


def kinds(found: Examined) -> set[str]:
    return {fault.kind for fault in found.faults}


# The chain itself


def chain(count: int = 12) -> tuple[list[str], Head]:
    link, made = Link("0123456789abcdef", -1, "0" * 64), []
    for number in range(count):
        line, link = SEAL.seal(event(number).line(), link)
        made.append(f"{line}\n")
    return made, Head(link, 0, 0.0, 0, 0.0)


def test_a_chain_that_was_let_alone_is_whole() -> None:
    made, head = chain()
    found = examine({"a": made}, SEAL, [head])
    assert (found.faults, found.lines) == ((), 12)
    assert json.loads(made[3])["entities"] == {"PERSON": 3}


def test_a_chain_alone_does_not_know_its_end() -> None:
    made, head = chain()
    assert kinds(examine({"a": made}, SEAL)) == {"end_unproven"}
    assert kinds(examine({"a": made[:-1]}, SEAL, [head])) == {"truncated"}
    assert kinds(examine({"a": []}, SEAL, [head])) == {"truncated"}
    anchor = (7, head.link.hash[:16])
    assert kinds(examine({"a": made}, SEAL, anchors=[anchor])) == {"anchor", "end_unproven"}
    noted = SEAL.read(made[7].rstrip("\n"))
    assert noted is not None
    assert examine({"a": made}, SEAL, anchors=[(7, noted.link.hash)]).faults == ()
    assert kinds(examine({"a": made[:7]}, SEAL, anchors=[(7, noted.link.hash)])) == {"anchor", "end_unproven"}
    assert examine({"a": made[3:9]}, SEAL, part=True).faults == ()
    assert kinds(examine({"a": made[3:]}, SEAL, [head])) == {"begins_late"}


@settings(max_examples=200, deadline=None)
@given(at=st.integers(0, 11), data=st.data(), keyed=st.booleans())
def test_any_single_change_shows(at: int, data: st.DataObject, keyed: bool) -> None:
    made, head = chain()
    change = data.draw(st.sampled_from(("byte", "drop", "swap", "repeat", "cut", "insert", "forge")))
    if change == "byte":
        place = data.draw(st.integers(0, len(made[at]) - 2))
        other = data.draw(st.sampled_from('0123456789abcdef{}", :zZ\\\u00e9'))
        if made[at][place] == other:
            return
        made[at] = made[at][:place] + other + made[at][place + 1 :]
    elif change == "drop":
        del made[at]
    elif change == "swap":
        other_at = data.draw(st.integers(0, 11).filter(lambda other: other != at))
        made[at], made[other_at] = made[other_at], made[at]
    elif change == "repeat":
        made.insert(at, made[at])
    elif change == "cut":
        made = [*made[:at], made[at][: data.draw(st.integers(0, len(made[at]) - 1))]]
        made = [line for line in made if line]
    elif change == "insert":
        made.insert(at, data.draw(st.sampled_from(("\n", event().line() + "\n", "{}\n"))))
    else:  # by somebody who has no key, or another
        forger = Seal([b"another secret, as long"] if keyed else [])
        before = SEAL.read(made[at - 1].rstrip("\n")) if at else None
        line, _ = forger.seal(event(99).line(), before.link if before else Link(head.link.chain, -1, "0" * 64))
        made[at] = f"{line}\n"
    assert examine({"a": made}, SEAL, [head]).faults


def test_lines_without_a_key_are_chained_too_and_secrets_can_change() -> None:
    plain = Seal()
    line, link = plain.seal(event().line(), Link.origin())
    assert plain.key == "none"
    assert examine({"a": [f"{line}\n"]}, plain, [Head(link, 0, 0, 0, 0)]).faults == ()
    assert kinds(examine({"a": [f"{line}\n"]}, SEAL, part=True)) == {"changed"}
    new = Seal([b"a new secret of some length", SECRET])
    made, head = chain(2)
    line, link = new.seal(event().line(), head.link)
    assert examine({"a": [*made, f"{line}\n"]}, new, [Head(link, 0, 0, 0, 0)]).faults == ()


def test_another_secret_is_said_once_and_not_of_every_line() -> None:
    made, head = chain()
    for wrong in (Seal([b"another secret, as long"]), Seal()):
        (fault,) = examine({"a": made[:6], "b": made[6:]}, wrong).faults
        assert (fault.file, fault.line, fault.kind) == ("a", 1, "changed")
        assert "all 12 lines" in fault.text
        assert "another secret?" in fault.text
    new = Seal([b"a new secret of some length"])
    line, link = new.seal(event().line(), head.link)
    (fault,) = examine({"a": [*made, f"{line}\n"]}, new, [Head(link, 0, 0, 0, 0)]).faults
    assert "the first 12 lines" in fault.text
    forged = [one.replace('"PERSON":', '"PERSON":9') for one in made[:3]]
    told = examine({"a": [*forged, *made[3:]]}, SEAL, [head]).faults
    assert [(fault.line, fault.kind) for fault in told] == [(1, "changed"), (2, "changed"), (3, "changed")]
    gone = examine({"a": [*made[:4], *made[5:]]}, new).faults
    assert [fault.kind for fault in gone] == ["changed", "missing"]


def test_words_tell_a_number_of_the_chain_from_a_line_of_the_file() -> None:
    made, head = chain()
    made[4] = made[4].replace('"PERSON":4', '"PERSON":5')
    (fault,) = examine({"a": made}, SEAL, [head]).faults
    assert (fault.line, fault.text.split(" is ")[0]) == (5, "number 4")


def test_what_is_no_line_of_a_trail_is_said_to_be_none() -> None:
    assert SEAL.read("") is None
    assert SEAL.read('{"chain":"x"}') is None
    assert SEAL.read_head(b"") is None
    assert SEAL.read_head(b'{"head":"[]","hash":7}') is None
    assert SEAL.read_head(b"[1]") is None
    assert kinds(examine({"a": ["nonsense\n"]}, SEAL)) == {"unsealed"}


# The file


def test_the_chain_goes_on_over_restarts_and_the_file_is_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for _ in range(3):
        written(path, 5)
    found = examined(path)
    assert (found.faults, found.lines, len(found.chains)) == ((), 18, 1)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert [json.loads(line).get("record", "event") for line in lines(path)][:7] == ["start", *["event"] * 5, "start"]


def test_files_are_put_aside_by_size_and_the_chain_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    written(path, 40, Turns(max_bytes=10_000))
    assert len(trail(path)) > 2
    assert all(sum(map(len, part)) < 12_000 for part in trail(path).values())
    assert examined(path).faults == ()
    names = sorted(trail(path))
    for name in names:
        part = {other: trail(path)[other] for other in names if other != name}
        assert examine(part, SEAL, heads(path)).faults, f"{name} may be missing unseen"


def test_files_are_put_aside_by_age(tmp_path: Path) -> None:
    now = [1_700_000_000.0]
    sink = FileSink(tmp_path / "a", SEAL, Turns(max_seconds=3600), clock=lambda: now[0])
    sink(event())
    now[0] += 4000
    sink(event())
    sink(event())
    sink.close()
    assert len(trail(tmp_path / "a")) == 2
    assert examined(tmp_path / "a").faults == ()


def test_anchors_come_by_lines_and_by_time(tmp_path: Path) -> None:
    anchors = written(tmp_path / "a", 25, Turns(anchor_lines=10))
    assert len(anchors) == 2
    found = examine(trail(tmp_path / "a"), SEAL, anchors=[(link.seq, link.hash) for link in anchors])
    assert found.faults == ()
    now, later = [0.0], []
    sink = FileSink(tmp_path / "b", SEAL, Turns(anchor_seconds=60), later.append, clock=lambda: now[0])
    for now[0] in (1.0, 59.0, 61.0, 62.0, 125.0):
        sink(event())
    sink.close()
    assert len(later) == 2


def test_a_line_that_a_crash_left_unfinished_is_taken_away_and_a_whole_one_taken_in(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    written(path, 3)
    line, _ = SEAL.seal(event(9).line(), heads(path)[0].link)
    with path.open("a") as file:
        file.write(f"{line}\n" + line[:100])
    written(path, 2)
    found = examined(path)
    assert found.faults == ()
    assert [json.loads(one).get("request_id") for one in lines(path)] == [
        None,
        "r0",
        "r1",
        "r2",
        "r9",
        None,
        "r0",
        "r1",
    ]


def test_what_was_cut_off_before_a_restart_stays_missing(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    written(path, 5)
    path.write_text("".join(lines(path)[:-2]))
    written(path, 5)
    assert [fault.text for fault in examined(path).faults] == ["numbers 4 to 5 are missing"]


def test_what_others_write_into_the_file_stays_and_shows(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    written(path, 2)
    with path.open("a") as file:
        file.write('{"request_id":"r7"}\n{"half')
    written(path, 2)
    found = examined(path)
    assert [(fault.line, fault.kind) for fault in found.faults] == [(4, "unsealed"), (5, "unsealed")]


def test_a_lost_head_is_made_anew_from_the_last_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    written(path, 3)
    Path(f"{path}.head").unlink()
    written(path, 3)
    assert examined(path).faults == ()
    Path(f"{path}.head").write_text("nonsense")
    written(path, 1, seal=Seal([b"another secret, as long"]))
    assert kinds(examined(path, Seal([b"another secret, as long"]))) >= {"changed", "end_unproven"}


def test_a_file_that_is_moved_away_while_it_is_open_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    sink = FileSink(path, SEAL)
    sink(event(0))
    path.rename(tmp_path / "audit.jsonl.moved")
    sink(event(1))
    sink.close()
    assert '"r1"' in path.read_text()
    assert examined(path).faults == ()


def _many(path: str) -> None:
    written(Path(path), 60, Turns(max_bytes=15_000))


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    path = tmp_path / "audit.jsonl"
    writers = [context.Process(target=_many, args=(str(path),)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0] * 4
    found = examined(path)
    assert (found.faults, len(found.chains)) == ((), 1)
    assert sum('"request_id"' in line for part in trail(path).values() for line in part) == 240


def test_a_process_that_is_killed_leaves_a_chain_that_goes_on(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    path = tmp_path / "audit.jsonl"
    for _ in range(3):
        writer = context.Process(target=_forever, args=(str(path),))
        writer.start()
        while not path.exists() or path.stat().st_size < 20_000:
            time.sleep(0.01)
        writer.kill()
        writer.join(10)
    written(path, 1)
    assert examined(path).faults == ()


def _forever(path: str) -> None:
    sink = FileSink(Path(path), SEAL, Turns(max_bytes=50_000))
    while True:
        sink(event())


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r".+"):
        FileSink(tmp_path, SEAL)


# What may block


class Slow:
    """Takes lines as long as it is let."""

    def __init__(self) -> None:
        self.go, self.fails, self.lines = threading.Event(), False, list[str]()

    def __call__(self, batch: Sequence[str]) -> int:
        self.go.wait(30)
        if self.fails:
            raise OSError(32, "broken")
        self.lines += [f"{line}\n" for line in batch]
        return len(batch)


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.fails = False
    made.go.set()


def test_a_sink_that_blocks_does_not_block_who_writes_and_is_full_at_some_point(slow: Slow) -> None:
    anchors: list[Link] = []
    sink = QueuedSink(slow, SEAL, limit=20, anchor_lines=8, anchored=anchors.append)
    began = time.monotonic()
    taken = _until_full(sink)
    assert time.monotonic() - began < 5
    assert 15 < taken <= 20
    slow.go.set()
    asyncio.run(sink.settled())
    assert len(slow.lines) >= taken
    sink(event())
    sink.close()
    assert examine({"a": slow.lines}, SEAL).faults == ()
    assert anchors
    assert kinds(examine({"a": slow.lines[:-1]}, SEAL)) == {"end_unproven"}
    with pytest.raises(OSError, match="takes nothing"):
        sink(event())


def _until_full(sink: QueuedSink) -> int:
    for taken in range(100):
        try:
            sink(event(taken))
        except OSError:
            return taken
    return 100


def _last_word(sink: QueuedSink, until: str) -> bool:
    """Waits until `settled` says `until`, nothing for that all is well."""
    for _ in range(500):
        try:
            asyncio.run(sink.settled())
            said = ""
        except OSError as error:
            said = str(error)
        if (until in said) if until else not said:
            return True
        time.sleep(0.01)
    return False


def test_settled_waits_until_a_line_is_written_and_says_when_it_cannot_be(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.trail.queued.SETTLE_SECONDS", 0.2)
    monkeypatch.setattr("proxy.trail.queued.RETRY_SECONDS", 0.01)
    sink = QueuedSink(slow, SEAL)
    sink(event())
    with pytest.raises(OSError, match="not written yet"):
        asyncio.run(sink.settled())
    slow.fails = True
    slow.go.set()
    assert _last_word(sink, until="could not be written")
    with pytest.raises(OSError, match="takes nothing"):
        sink(event())
    slow.fails = False
    assert _last_word(sink, until="")
    sink.close()
    assert examine({"a": slow.lines}, SEAL).faults == ()


def test_a_pipe_gets_whole_lines_and_stays_open() -> None:
    reading, writing = os.pipe()
    sink = QueuedSink(Stream(writing), SEAL)
    for number in range(3):
        sink(event(number))
    asyncio.run(sink.settled())
    sink.close()
    os.write(writing, b"still open\n")
    os.close(writing)
    with open(reading) as file:
        got = file.readlines()
    assert examine({"a": got[:-1]}, SEAL).faults == ()
    assert [json.loads(line).get("request_id") for line in got[:-1]] == [None, "r0", "r1", "r2", None]


def test_a_full_device_is_noticed() -> None:
    if not os.access("/dev/full", os.W_OK):
        pytest.skip("this system has no /dev/full")
    sink = QueuedSink(Stream(os.open("/dev/full", os.O_WRONLY)), SEAL)
    with pytest.raises(OSError, match="could not be written"):
        asyncio.run(sink.settled())
    sink.close()
