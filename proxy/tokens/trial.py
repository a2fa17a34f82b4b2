"""The self-test between loading a tokenizer and trusting what it was converted to: the same counts, and safe cuts.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any, Final

import regex

from proxy.tokens.counter import Counter
from proxy.tokens.pieces import SAFE, digit_boundary, last_boundary
from proxy.tokens.words import pre_tokens

WORDS: Final = (
    "Dear Ms Okonkwo, it's about the invoice of 12 March (no. 4711): we'll pay €1,250.00.\n\n- one\n- two\n",
    "Le dossier médical de l'élève n'a pas été transmis à l'hôpital, malgré trois rappels.\r\n",
    "Die Größe der Übersicht überraschte; DON'T SHOUT, I'VE heard O'Brien's ideas.",
    "患者张伟的病历号是 4471920，请在周五之前发送给李医生。谢谢！",
    "田中さんは東京で働いています。電話は０３－１２３４です。",
    "한국어 문장입니다. 번호는 010-1234-5678 입니다.",
    "def total(items: list[int]) -> int:\n    return sum(item * 2 for item in items if item % 3)\n\n\n",
    '{"name": "Ada", "items": [1, 2.5, null, true], "note": "line\\nbreak"}\n',
    "Мы отправили договор вчера; ответа пока нет. ",
    "هذا نص عربي للتجربة، وفيه أرقام ١٢٣. ",
    "यह हिन्दी का एक वाक्य है, ०१२३४५। தமிழ் வாக்கியம் ಕನ್ನಡ ",
    "2026-03-01T12:00:00Z INFO request 7f3a9c took 12.5 ms [GET /v1/models] 200\n",
    "  \t indented\n\n\n   \u00a0\u3000 and \u200b👩\u200d👩\u200d👧 ½ x₁² e\u0301 ſ 's 'S 'ſ ",
    "// ----- ===== ///\n//\n/* */ <b>bold</b> &amp; $x_1^2$ \\frac{a}{b} %%% @@@ ~~~",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ== deadbeef0123456789abcdef https://example.org/a?b=c#d",
)
ALPHABETS: Final = (
    *("a's ", "b'ſSt.", "1²a٣ ", " \n\tx", "é\u0301'l-", "!\n/ a", "aA'vE", "०१२ ", "x₁²½", "-=/", "漢字한а "),
    *("'stmdrevl", "\u00a0\u3000 \r\n", "👩\u200d\u200b", "aàñç", "0123456789 "),
)
RANDOM = 1_200
"""Texts made by chance, of each kind."""
WINDOWS = 4_000


def corpus(data: Mapping[str, Any]) -> Iterator[str]:
    """The texts that both must count alike: prose, hostile characters, and tokens in a row. The same every time.

    `data` is the tokenizer's file. Texts that spell one of its added tokens are left out, since the library takes
    those for more than text.
    """
    added = [token["content"] for token in data.get("added_tokens") or [] if isinstance(token, dict)]
    for text in (*WORDS, *_by_chance(list(data["model"]["vocab"]))):
        if not any(content in text for content in added):
            yield text


def _by_chance(vocabulary: list[str]) -> Iterator[str]:
    rng = Random(20)  # noqa: S311
    for _ in range(RANDOM):
        yield "".join(rng.choices(rng.choice(ALPHABETS), k=rng.randint(1, 60)))
        yield "".join(rng.choices(vocabulary, k=rng.randint(1, 12))).replace("Ġ", " ").replace("Ċ", "\n")


def agree(counter: Counter, tokens: Callable[[str], int], texts: Iterable[str]) -> bool:
    """Whether `counter` finds in every text as many tokens as the library does."""
    return all(counter.count(text) == tokens(text) for text in texts)


def can_be_cut(pattern: str) -> bool:
    """Whether the places where `pieces.cut` cuts are boundaries between two pre-tokens of this pattern, whatever
    follows: tried on texts made of what patterns treat specially."""
    try:
        compiled = regex.compile(pattern)
    except regex.error:
        return False
    rng = Random(5)  # noqa: S311
    for _ in range(WINDOWS):
        alphabet = rng.choice(ALPHABETS)
        window = "".join(rng.choices(alphabet, k=rng.randint(1, 24)))
        text = window + "".join(rng.choices(alphabet, k=rng.randint(0, 6)))
        true = {match.start() for match in compiled.finditer(text)} | {len(text), 0}
        cuts = {last_boundary(window, compiled), digit_boundary(window)}
        if not cuts | {match.end() for match in SAFE.finditer(text)} <= true:
            return False
    return True


def cuts_before_capitals(pattern: str) -> bool | None:
    """Whether capitals too begin a pre-token of this pattern; None if not even what `words` says of all patterns is
    true of this one. Tried on the same kind of texts."""
    compiled = regex.compile(pattern)
    rng = Random(6)  # noqa: S311
    texts = (*WORDS, *("".join(rng.choices(rng.choice(ALPHABETS), k=60)) for _ in range(WINDOWS // 4)))
    found = [[match.group().encode() for match in compiled.finditer(text)] for text in texts]

    def holds(cases: bool) -> bool:
        return all(
            pre_tokens(text.encode(), cases=cases) <= len(pieces)
            and all(pre_tokens(piece, cases=cases) <= 1 for piece in pieces)
            for text, pieces in zip(texts, found, strict=True)
        )

    return holds(True) if holds(False) else None
