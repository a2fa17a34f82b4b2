"""The trainer on a tiny corpus of our own: marks survive variation, runs repeat to the byte, something is learned."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recognizers import weights
from training import __main__ as command
from training import augment, corpora, data, forms, learn, measure, pack, start
from training.pools import Pools
from training.text import LABELS, Mark, Text, build, joined, merge, tidy

LISTS = {
    "world_common_forenames": (
        "country\tgender\tlocalized\tromanized\tcount",
        ["US\tF\tMira\tMira\t", "JP\tM\tKenji\tKenji\t", "SN\tF\tAwa\tAwa\t"],
    ),
    "world_common_surnames": (
        "country\tgender\tlocalized\tromanized\tcount",
        ["US\t\tTallow\tTallow\t", "JP\t\tSato\tSato\t", "SN\t\tDiop\tDiop\t"],
    ),
    "us_ssa_given": ("name\tsex\tbirths_1880_2024", ["Omar\tM\t900", "Sophy\tF\t400"]),
    "us_census2010_surnames": ("name\tcount", ["Benhaddou\t400", "Lefort\t100"]),
    "geonames_cities": ("name\tcountry\tpopulation", ["Toulouse\tFR\t500000", "Reno\tUS\t250000"]),
    "wordfreq_en": ("word\tzipf", ["table\t5.0", "kettle\t4.0", "window\t4.5", "paper\t5.1", "green\t5.2"]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one small corpus in which whoever is called `zorb ...` is a person."""
    root = tmp_path_factory.mktemp("corpora")
    for name, (head, rows) in LISTS.items():
        with gzip.open(root / f"{name}.tsv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join([head, *rows]) + "\n")
    rng = random.Random(7)
    lines = []
    for number in range(240):
        word = rng.choice(["kettle", "window", "paper", "table"])
        item = build(
            [f"the {word} of ", (f"zorb quax{rng.randint(1, 9)}", "PERSON"), f" is {rng.choice(['red', 'new'])}"]
        )
        spans = [{"start": mark.start, "end": mark.end, "type": mark.label} for mark in item.marks]
        lines.append(json.dumps({"id": f"n{number}", "lang": "en", "text": item.text, "spans": spans}))
    with gzip.open(root / "wnut17_train_en.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return root


def trained(folder: Path, seed: int) -> bytes:
    plan = learn.Plan(words=6_000, batch=300, rate=0.002, seed=seed)
    start.prepare(plan.seed)
    found = data.gather(folder, ("en",), share_alike=False)
    nlp, config = start.begin("en", [text for text, _ in found.train])
    learn.learn(nlp, found, (forms.generate,), plan)
    return pack.pack(nlp, LABELS, config)


@pytest.mark.slow
def test_a_run_repeats_to_the_byte_and_learns_what_the_packaged_model_does_not_know(folder: Path) -> None:
    packed = trained(folder, 1)
    assert packed == trained(folder, 1)
    nlp = weights.install(start.genuine("en"), weights.unpack(packed))
    text = "the table of zorb quax5 is red, and Mira Tallow lives in Paris"
    (found,) = start.marks(nlp, [text])
    (before,) = start.marks(start.genuine("en"), [text])
    assert "zorb quax5" in {text[a:b] for a, b, label in found if label == "PERSON"}
    assert "zorb quax5" not in {text[a:b] for a, b, label in before if label == "PERSON"}
    assert "Mira Tallow" in {text[a:b] for a, b, label in found if label == "PERSON"}


def test_the_held_out_documents_are_not_learned_from(folder: Path) -> None:
    found = data.gather(folder, ("en",), share_alike=False)
    assert len(found.train) + len(found.dev) == 240
    assert len(found.dev) == sum(corpora.is_dev(f"n{number}") for number in range(240)) > 5
    assert "broad_twitter_en" in found.missing


def test_an_empty_folder_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--data", str(tmp_path), "--language", "de"]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_share_alike_corpora_are_read_only_if_asked_for() -> None:
    assert not any(corpus.share_alike for corpus in corpora.wanted(("en", "fr"), share_alike=False))
    assert any(corpus.share_alike for corpus in corpora.wanted(("en",), share_alike=True))


def test_a_broken_line_is_named_by_number_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "wnut17_train_en.jsonl"
    path.write_text('{"id": "1", "text": "a", "spans": []}\n{"text": "Mira Tallow"}\n')
    with pytest.raises(ValueError, match="line 2") as caught:
        list(corpora.read(path, next(c for c in corpora.CORPORA if c.name == "wnut17_train_en")))
    assert "Mira" not in str(caught.value)


words = st.text(alphabet=st.sampled_from(list("aéßİA ñŒ.")), min_size=1, max_size=8)
parts = st.lists(st.one_of(words, st.tuples(words, st.sampled_from(LABELS))), max_size=8)


@settings(max_examples=200)
@given(parts, st.sampled_from([augment.lower, augment.upper, augment.names_lower, augment.names_upper, augment.plain]))
def test_a_variation_keeps_every_mark_in_its_place(pieces: list[str | tuple[str, str]], vary: object) -> None:
    item = build(pieces)
    assert callable(vary)
    changed = vary(item)
    assert changed.marks == item.marks
    assert len(changed.text) == len(item.text)


@given(st.lists(parts, min_size=1, max_size=4), st.sampled_from(["\n", " ", ""]))
def test_joined_texts_keep_what_is_marked(many: list[list[str | tuple[str, str]]], between: str) -> None:
    items = [build(pieces) for pieces in many]
    whole = joined(items, between)
    assert [whole.text[a:b] for a, b, _ in whole.marks] == [i.text[a:b] for i in items for a, b, _ in i.marks]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.sampled_from(LABELS)), max_size=8))
def test_tidy_marks_are_sorted_and_disjoint(raw: list[tuple[int, int, str]]) -> None:
    marks = tidy("some words and spaces", [Mark(*item) for item in raw])
    assert all(a.end <= b.start for a, b in itertools.pairwise(marks))
    assert all(mark.start < mark.end for mark in marks)


def test_the_annotators_word_counts_more_than_the_teachers() -> None:
    text = "Mira Tallow of Reno"
    gold = (Mark(0, 11, "PERSON"),)
    assert merge(text, gold, [Mark(5, 11, "ORG"), Mark(15, 19, "LOC")]) == (*gold, Mark(15, 19, "LOC"))


def test_other_names_are_marked_where_they_stand(folder: Path) -> None:
    pools, rng = Pools(folder, "en"), random.Random(3)
    item = build(["Ask ", ("Anna Berg", "PERSON"), " in ", ("Lyon", "LOC"), " at ", ("Acme Ltd", "ORG"), "."])
    seen = set()
    for _ in range(20):
        changed = augment.renamed(item, pools, rng)
        seen.add(changed.text)
        assert [label for _, _, label in changed.marks] == ["PERSON", "LOC", "ORG"]
        assert changed.text[changed.marks[2].start : changed.marks[2].end] == "Acme Ltd"
    assert len(seen) > 10


def test_generated_forms_mark_values_and_leave_code_alone(folder: Path) -> None:
    items = list(forms.generate(Pools(folder, "en"), random.Random(5), 300))
    assert {item.source for item in items} >= {"own:rows", "own:json", "own:mail", "own:form", "own:code", "own:clean"}
    assert not any(item.marks for item in items if item.source in {"own:code", "own:clean"})
    assert sum(len(item.marks) for item in items if item.source == "own:roster") > 20
    assert items == list(forms.generate(Pools(folder, "en"), random.Random(5), 300))


def test_scores_count_what_is_covered_and_what_should_not_be() -> None:
    text = Text("Mira Tallow saw it", (Mark(0, 11, "PERSON"),))
    half = measure.measure(lambda texts: [[Mark(0, 4, "PERSON"), Mark(12, 15, "LOC")]], [("own", text)])["all"]
    assert (half.masked_share, half.f1) == (0.0, 0.0)
    assert half.over_share == pytest.approx(3 / 5)
    whole = measure.measure(lambda texts: [[Mark(0, 11, "PERSON")]], [("own", text)])["PERSON"]
    assert (whole.masked_share, whole.f1, whole.over_share) == (1.0, 1.0, 0.0)
