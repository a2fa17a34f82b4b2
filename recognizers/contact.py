"""Ways to reach somebody: e-mail addresses, telephone numbers; and URLs that carry credentials.

May import: base, phone, placeholder, presidio_analyzer, the standard library. No list of domains and no network:
what follows the last dot is judged by its form alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from presidio_analyzer import EntityRecognizer

from recognizers.base import Entity, Rule, RuleRecognizer, Span
from recognizers.phone import phone_recognizer, unknown_regions
from recognizers.placeholder import is_placeholder

__all__ = ["ENTITIES", "build", "unknown_regions"]

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "EMAIL_ADDRESS",
        "E-mail address",
        "write to mira.tallow@example.com today",
        "mira.tallow@example.com",
        "form of local part, domain and last label",
        "RFC 5321, RFC 5322, RFC 6531",
    ),
    Entity(
        "PHONE_NUMBER",
        "Telephone number",
        "call +44 20 7946 0123 after six",
        "+44 20 7946 0123",
        "libphonenumber's metadata, or the grouping of the North American plan",
        "ITU-T E.164, NANP",
    ),
    Entity(
        "URL_CREDENTIALS",
        "Credentials in a URL",
        "psql postgres://mira:Hunter2x@db.example/app now",
        "postgres://mira:Hunter2x@db.example/app",
        "form",
        "RFC 3986, section 3.2.1",
    ),
)


def build(regions: Sequence[str]) -> list[EntityRecognizer]:
    """`regions`: ISO 3166 codes whose national telephone numbers count. Raises ValueError for an unknown one."""
    return [EmailRecognizer("email", [_email_rule()]), phone_recognizer(regions), UrlRecognizer("url", _url_rules())]


def _email_rule() -> Rule:
    return Rule(
        entity="EMAIL_ADDRESS",
        name="address",
        regex=r"@|(?i)[ \t\[({](?:at|arobase|arroba|chiocciola)[ \t\])}]",
        bare=0.95,
    )


# Scripts that are written without blanks: Thai, Lao, Han, Kana, Hangul.
_DENSE = "\u0e00-\u0eff\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
_LONGEST_LOCAL, _LONGEST_DOMAIN = 320, 260


def _backwards(letters: str) -> re.Pattern[str]:
    """A local part read from its end: letters and what RFC 5322 allows besides, less what usually delimits one."""
    return re.compile(f"(?:{letters}|[0-9_.+%~!#$*^'\\-])+")


def _domain(letters: str) -> re.Pattern[str]:
    label = f"(?:{letters}|[0-9])(?:(?:{letters}|[0-9_-]){{0,61}}(?:{letters}|[0-9]))?"
    return re.compile(rf"(?:{label}\.){{1,10}}(?P<last>xn--[A-Za-z0-9-]{{1,59}}|{letters}{{2,63}})(?![A-Za-z0-9])")


_SPACED_LETTER, _ANY_LETTER = rf"[^\W\d_{_DENSE}]", r"[^\W\d_]"
_LOCALS = (_backwards(_SPACED_LETTER), _backwards(_ANY_LETTER))
_DOMAINS = (_domain(_SPACED_LETTER), _domain(_ANY_LETTER))
_LITERAL = re.compile(r"\[(?:IPv6:[0-9A-Fa-f:.]{2,45}|[0-9]{1,3}(?:\.[0-9]{1,3}){3})\]")
_QUOTED = re.compile(r'"(?:[^"\\\r\n]|\\.){1,64}\Z')
_LEADING = ".'%~!#$*^-+"
_FILES_WORDS = """
    png jpg jpeg gif svg webp ico bmp css scss js mjs ts tsx jsx json map md txt pdf zip tgz gz py rb html htm
    xml yaml yml
"""
_FILES = frozenset(_FILES_WORDS.split())


class EmailRecognizer(RuleRecognizer):
    """From every `@` outwards: an address is never longer than a few hundred characters, so this is linear."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for match in rule.pattern.finditer(text):
            if match.end() - match.start() == 1:
                found = _around(text, match.start())
            else:
                found = _spelled_out(text, match.start(), match.end())
            if found is not None:
                yield Span(*found, rule.entity, rule.bare, f"{self.name}:{rule.name}", "pattern")


def _around(text: str, at: int) -> tuple[int, int] | None:
    """The address around the `@` at `at`."""
    end = _domain_end(text, at + 1)
    start = _local_start(text, at) if end is not None else None
    if start is None or end is None:
        return None
    # `git@host:path` names a repository; every one of its users writes the same.
    if text[start:at] == "git" and text[end : end + 1] == ":":
        return None
    return start, end


def _domain_end(text: str, start: int) -> int | None:
    for pattern in (_LITERAL, *_DOMAINS):
        match = pattern.match(text, start, min(len(text), start + _LONGEST_DOMAIN))
        if match and pattern is not _LITERAL and match["last"].lower() in _FILES:
            named = _NAMES_A_FILE.match(match[0])
            return start + named.end() if named else None
        if match:
            return match.end()
    return None


def _local_start(text: str, at: int) -> int | None:
    before = text[max(0, at - _LONGEST_LOCAL) : at]
    if before.endswith('"'):
        quoted = _QUOTED.search(before[:-1][-70:])
        return at - 1 - len(quoted.group()) if quoted else None
    for pattern in _LOCALS:
        match = pattern.match(before[::-1])
        local = match.group()[::-1].lstrip(_LEADING) if match else ""
        if local and not local.endswith("."):
            start = at - len(local)
            # `\nmira@example.com` in source text or JSON: the letter belongs to the escape.
            escaped = start > 0 and text[start - 1] == "\\" and local[0] in "nrt" and len(local) > 1
            return start + escaped
    return None


_AT_WORD = re.compile(
    r"\s*(?:[\[({]\s*(?:at|@|arobase|arroba|chiocciola)\s*[\])}]|\s(?:at|arobase|arroba|chiocciola)\s)\s*",
    re.I,
)
_DOT_WORD = r"(?:\s*[\[({]\s*(?:dot|point|punkt|punto|\.)\s*[\])}]\s*|\s+(?:dot|point|punkt|punto)\s+)"
_SPELLED_LOCAL = re.compile(
    rf"[A-Za-z0-9][A-Za-z0-9._+-]{{0,63}}(?:{_DOT_WORD}[A-Za-z0-9][A-Za-z0-9_+-]{{0,63}}){{0,3}}\Z",
    re.I,
)
_SPELLED_DOMAIN = re.compile(
    rf"[A-Za-z0-9-]{{2,63}}(?:(?P<dot>{_DOT_WORD})|\.)[A-Za-z0-9-]{{2,63}}(?:(?:{_DOT_WORD}"
    rf"|\.)[A-Za-z0-9-]{{2,63}}){{0,2}}",
    re.I,
)
_SPELLED_ENDINGS_WORDS = """
    com org net edu gov info biz io dev app test example co uk fr de es nl ch lu eu ca au nz jp cn br pt pl se
    dk fi cz ie
"""
_SPELLED_ENDINGS = frozenset(_SPELLED_ENDINGS_WORDS.split())
_NAMES_A_FILE = re.compile(rf"[^\W\d].*\.(?:{'|'.join(_SPELLED_ENDINGS)})(?=\.[A-Za-z]+\Z)", re.IGNORECASE)
"""The domain of an address that a file is called after (`mira@example.org.pdf`), unlike `logo@2x.min.png`."""
_NOT_A_NAME_WORDS = """
    look looking see meet available website site page arrive stop start work works is are was the us me him them
    it and or
"""
_NOT_A_NAME = frozenset(_NOT_A_NAME_WORDS.split())


def _spelled_out(text: str, start: int, end: int) -> tuple[int, int] | None:
    """`mira dot tallow at example dot com`, `mira [at] example.com`: either the at or a dot must be disguised."""
    word = _AT_WORD.match(text, _skip_blanks_back(text, start), min(len(text), end + 8))
    if word is None:
        return None
    domain = _SPELLED_DOMAIN.match(text, word.end(), min(len(text), word.end() + 200))
    window = max(0, word.start() - 160)
    local = _SPELLED_LOCAL.search(text[window : word.start()])
    if domain is None or local is None:
        return None
    bracketed = any(bracket in word.group() for bracket in "[({")
    last = re.split(r"[^A-Za-z0-9-]+", domain.group())[-1].lower()
    usual = last in _SPELLED_ENDINGS and local.group().lower() not in _NOT_A_NAME
    if not (bracketed and last.isalpha()) and not (domain["dot"] and usual):
        return None
    begin = window + local.start()
    if begin and text[begin - 1].isascii() and text[begin - 1].isalnum():
        return None
    return begin, domain.end()


def _skip_blanks_back(text: str, start: int) -> int:
    low = max(0, start - 4)
    while start > low and text[start - 1] in " \t":
        start -= 1
    return start


_URL_TAIL = ".,;:!?)]}>'\"`*"
_PORT_AND_PATH = re.compile(r"[0-9]{1,5}[/?#]")


def _url_rules() -> list[Rule]:
    name = (
        r"(?:[A-Za-z0-9]+[_\-.])*(?:access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|token"
        r"|api[_-]?key|apikey|key|password|passwd|pwd|client[_-]?secret|secret|sig|signature|credential|auth)"
    )
    return [
        Rule(
            "URL_CREDENTIALS",
            "userinfo",
            r"[A-Za-z][A-Za-z0-9+.\-]{1,30}://[^\s<>\"'\x60/?#:@]*(?:@[^\s<>\"'\x60/?#:@]+)?:[^\s<>\"'\x60]+@[^\s<>\"'\x60]+",
            _has_password,
            bare=0.95,
            boundary="none",
        ),
        Rule(
            "URL_CREDENTIALS",
            "parameter",
            rf"(?i)[?&;]{name}=(?P<v>[^\s&#;<>\"'\x60]+)",
            _is_value,
            bare=0.9,
            boundary="none",
        ),
    ]


def _has_password(url: str) -> bool:
    """Between the first colon and the last `@` stands a password, not a port with a path."""
    rest = url.split("://", 1)[1]
    other = rest.partition(":")[2]
    password = other.rpartition("@")[0]
    return bool(password) and not _PORT_AND_PATH.match(other) and not is_placeholder(password)


def _is_value(value: str) -> bool:
    return len(value) >= 6 and any(char.isdigit() for char in value) and not is_placeholder(value)


class UrlRecognizer(RuleRecognizer):
    """Leaves the punctuation of the sentence behind a URL outside."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for span in super().spans(rule, text):
            end = span.start + len(text[span.start : span.end].rstrip(_URL_TAIL))
            yield span._replace(end=end)
