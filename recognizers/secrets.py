"""Credentials: keys of known providers by their form, private keys, and what a label says is a secret.

Randomness alone proves nothing: a Git hash, a UUID, an image in Base64 are random too. So a value without a known form
counts only behind a label, and only if it does not read like a word.
Source of the forms: the providers' own documentation of their key prefixes; RFC 7519 (JWT), RFC 7468 (PEM), RFC 6750.
May import: base, placeholder, presidio_analyzer, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from presidio_analyzer import EntityRecognizer

from recognizers.base import Entity, Rule, RuleRecognizer, Span
from recognizers.placeholder import is_placeholder

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "SECRET",
        "Password, key or token",
        "password: hunter2",
        "hunter2",
        "known form of a provider's key, or a label and a value that is no word",
        "providers' documentation, RFC 7519, RFC 7468",
    ),
)

# Name, prefix and body as RE2. Bodies have a least length, so that names that begin alike are left alone.
_PROVIDERS = (
    ("sk", r"sk-[A-Za-z0-9][A-Za-z0-9_\-]{15,}"),  # OpenAI, Anthropic, OpenRouter, DeepSeek and others
    ("aws", r"(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ABIA|ACCA)[A-Z0-9]{16}"),
    ("github", r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"),
    ("gitlab", r"gl(?:pat|ptt|dt|rt|oas|soat|cbt|imt|ft|agent|ffct)-[A-Za-z0-9_\-.]{16,}"),
    ("slack", r"xox[abeoprs]-[A-Za-z0-9\-]{10,}|xapp-[0-9]-[A-Z0-9]+-[0-9]+-[A-Za-z0-9]{20,}"),
    ("stripe", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}"),
    ("google", r"AIza[0-9A-Za-z_\-]{35,}|ya29\.[0-9A-Za-z_\-]{20,}|GOCSPX-[0-9A-Za-z_\-]{20,}"),
    ("registry", r"npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_\-]{40,}|rubygems_[0-9a-f]{48}"
                 r"|dckr_pat_[A-Za-z0-9_\-]{20,}"),
    ("models", r"hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}"
               r"|pplx-[A-Za-z0-9]{40,}"),
    ("mail", r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}|xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}|key-[0-9a-f]{32}"),
    ("twilio", r"(?:AC|SK)[0-9a-f]{32}"),
    ("cloud", r"do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}|HRKU-[A-Za-z0-9_\-]{30,}|LTAI[A-Za-z0-9]{16,}"),
    ("shop", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}|sq0(?:atp|csp)-[0-9A-Za-z_\-]{22,}"
             r"|EAAA[A-Za-z0-9_\-]{56,}"),
    ("tools", r"lin_api_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{40,}|figd_[A-Za-z0-9_\-]{30,}"
              r"|PMAK-[0-9a-f]{24}-[0-9a-f]{34}"
              r"|ATATT3[A-Za-z0-9_\-=]{50,}|hv[sbr]\.[A-Za-z0-9_\-]{20,}|NRAK-[A-Z0-9]{27}|gl(?:sa"
              r"|c)_[A-Za-z0-9_+/=]{30,}"
              r"|sntry[su]_[A-Za-z0-9_+/=]{40,}|dp\.(?:pt|st|ct)\.[A-Za-z0-9._\-]{40,}|AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("telegram", r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,}"),
    ("hook", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_\-]{20,}"
             r"|https://(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]{10,22}/[A-Za-z0-9_\-]{40,}"),
)  # fmt: skip


def build() -> list[EntityRecognizer]:
    return [
        RuleRecognizer("secret-form", [*_provider_rules(), *_token_rules()]),
        PemRecognizer("secret-pem", [Rule("SECRET", "pem", _PEM_BEGIN, bare=1.0, boundary="none")]),
        LabelledRecognizer("secret-label", _label_rules()),
    ]


def _provider_rules() -> list[Rule]:
    return [
        Rule("SECRET", name, regex, None if name in _UNMISTAKABLE else _mixed, bare=0.95) for name, regex in _PROVIDERS
    ]


# Their prefix alone is no word of any language, and the body may happen to hold no digit.
_UNMISTAKABLE = frozenset(("aws", "github", "google", "telegram", "hook"))


def _mixed(value: str) -> bool:
    """A key holds digits among its letters; `sk-folding-cube-animation` does not."""
    body = value[4:]
    return sum(map(str.isdigit, body)) >= 2 and any(map(str.isalpha, value)) and len(set(body)) >= 6


def _token_rules() -> list[Rule]:
    part = r"[A-Za-z0-9_\-]"
    return [
        Rule("SECRET", "jwt", rf"eyJ{part}{{8,}}\.{part}{{8,}}(?:\.{part}*){{1,3}}", bare=0.95),
        Rule(
            "SECRET",
            "aws-secret",
            r"[A-Za-z0-9/+]{40}",
            _aws_secret,
            ("aws", "secret access key", "aws secret", "secret key"),
            labelled=0.9,
            after=0,
        ),
        Rule(
            "SECRET",
            "azure",
            r"(?i)(?:AccountKey|SharedAccessKey|SharedAccessSignature)=(?P<v>[A-Za-z0-9+/%&=_\-]{16,})",
            _mixed,
            bare=0.95,
            boundary="none",
        ),
        Rule(
            "SECRET",
            "authorization",
            r"(?i)authorization[\"']?[ \t]*[:=,][ \t]*[\"']?(?:bearer|basic|token|digest|apikey|key)[ \t]+"
            r"(?P<v>[A-Za-z0-9+/=._~:\-]{6,})",
            _credential,
            bare=0.95,
            boundary="none",
        ),
        Rule("SECRET", "bearer", r"(?i)bearer[ \t]+(?P<v>[A-Za-z0-9+/=._~\-]{16,})", _mixed, bare=0.9, boundary="none"),
        Rule(
            "SECRET",
            "cookie",
            r"(?i)cookie[\"']?[ \t]*:[^\n]*?(?:sess(?:ion)?(?:[_.\-]?id)?|sid|auth|token|jwt)="
            r"(?P<v>[^\s;,\"']{8,})",
            _credential,
            bare=0.9,
            boundary="none",
        ),
        Rule("SECRET", "wif", r"[5KL][1-9A-HJ-NP-Za-km-z]{50,51}", _mixed, bare=0.7),
    ]


def _aws_secret(value: str) -> bool:
    """Base64, not a hash in hexadecimal and not a path."""
    return _mixed(value) and not re.fullmatch(r"[0-9a-fA-F]+", value) and any(map(str.isupper, value))


def _credential(value: str) -> bool:
    return not is_placeholder(value) and any(map(str.isalnum, value))


_PEM_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:(?:Proc-Type|DEK-Info|Version|Comment):[^\n]{0,200}\n|[A-Za-z0-9+/=\s\\>|\"',])*")
_LONGEST_KEY, _LONGEST_END = 16_384, 80


class PemRecognizer(RuleRecognizer):
    """A private key as a whole, from its first line to its last; one without an end, as far as it goes."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        done = searched = 0
        for match in rule.pattern.finditer(text):
            if match.start() < done:
                continue
            limit = min(len(text), match.end() + _LONGEST_KEY)
            close = _PEM_END.search(text, max(match.end(), searched), limit)
            if close is None:
                searched = max(match.end(), limit - _LONGEST_END)
                body = _PEM_BODY.match(text, match.end(), limit)
                done = body.end() if body else match.end()
            else:
                done = close.end()
            yield Span(match.start(), done, rule.entity, rule.bare, f"{self.name}:{rule.name}", "pattern")


_ASKS_LOGIN = (
    r"[\pL\pN]{0,30}pass(?:word|wd)|pass[ _-]?word|pass[ _-]?phrase|pass[ _-]?code|pwd|pass|mot[ _-]de[ _-]passe"
    r"|mdp|kennwort|passwort|contraseña|contrasena|clave"
    r"|parola d'ordine|wachtwoord|(?:code|clé|mot de passe|key)[ _-](?:wi-?fi|wlan|porte|d'accès|d'entrée"
    r"|d'activation)|wi-?fi(?:[ _-](?:code|key|password))?"
    r"|digicode|(?:access|door|gate|alarm|entry)[ _-]code|zugangscode|codice[ _-]di[ _-]accesso"
    r"|código[ _-]de[ _-]acceso|senha|palavra-passe|login/password|credentials?"
)
_ASKS_KEY = (
    r"[\pL\pN]{0,30}(?:secret|token|apikey|accesskey|secretkey)|api[ _-]?key|apikey|api[ _-]?secret"
    r"|access[ _-]?key|secret[ _-]?access[ _-]?key|client[ _-]?secret|app[ _-]?secret"
    r"|secret[ _-]?key|private[ _-]?key|signing[ _-]?key|encryption[ _-]?key|auth[ _-]?key|auth[ _-]?token"
    r"|access[ _-]?token"
    r"|refresh[ _-]?token|bearer|webhook[ _-]?secret|clé (?:api|secrète|d'api)|jeton|geheimnis|api[ _-]?schlüssel"
    r"|account[ _-]?key"
    r"|subscription[ _-]?key|license[ _-]?key|recovery[ _-]?code|seed[ _-]?phrase"
)
_BEFORE = r"(?:^|[^\pL\pN])(?:[\pL\pN]{1,30}[_\-.])*"
_SIGN = r"(?:[_\-.][\pL\pN]{1,20}){0,3}[\"'\]\x60]{0,2}[ \t]*(?::=|=>|->|==?|:)[ \t]*\n?[ \t]*"
_VERB = r",?[ \t]+(?:c'est|is|was|est|ist|lautet|es|è|e)[ \t]*:?[ \t]+"
_PLAIN = r"[^\s\"'\x60,;]"
_BARE = rf"(?P<v>{_PLAIN}{{4,}}(?:[,;]+{_PLAIN}+)*|{_PLAIN}{{1,3}}(?:[,;]+{_PLAIN}+)+)"
_TEMPORARY = (
    r"[ \t]+(?:temporal|provisional|temporanea|provvisoria|temporaire|provisoire|temporary|initial|tempor(?:ä|ae)r|"
    r"provisorisch|inicial|iniziale|initiale|nueva|nuova|nouveau|neu)"
)


def _label_rules() -> list[Rule]:
    def rule(name: str, label: str, link: str, value: str, check: str) -> Rule:
        return Rule(
            "SECRET", name, rf"(?i){_BEFORE}(?:{label}){link}{value}", _CHECKS[check], bare=0.85, boundary="none"
        )

    return [
        rule("password", _ASKS_LOGIN, _SIGN, _BARE, "password"),
        rule("password-temporary", _ASKS_LOGIN, _TEMPORARY + _SIGN, _BARE, "any"),
        Rule(
            "SECRET",
            "password-line",
            rf"(?im)^[ \t>*\-]*(?:[\pL\pN'\-]{{1,20}} ){{0,3}}(?:{_ASKS_LOGIN})[\"'\]\x60*]{{0,3}}[ \t]*[:=][ \t]*"
            r"(?P<v>[^\s\"'\x60<>(){}\[\]]{4,64})[ \t]*$",
            _any_word,
            bare=0.8,
            boundary="none",
        ),
        rule("password-double-quoted", _ASKS_LOGIN, _SIGN, r'"(?P<v>[^"\n]{4,200}|[^"\s]{201,})"', "quoted"),
        rule("password-single-quoted", _ASKS_LOGIN, _SIGN, r"'(?P<v>[^'\n]{4,200}|[^'\s]{201,})'", "quoted"),
        rule(
            "password-described",
            _ASKS_LOGIN,
            rf"(?:[ \t]+\pL{{1,20}}){{1,3}}{_SIGN}",
            r"[\"'\x60]?" + _BARE,
            "said",
        ),
        rule(
            "password-said",
            _ASKS_LOGIN,
            rf"(?:[ \t]+[\pL0-9'\-]{{1,20}}){{0,7}}{_VERB}",
            r"[\"'\x60]?" + _BARE,
            "said",
        ),
        rule("pin", r"pin(?:[ _-]?code)?|code pin", rf"(?:{_SIGN}|{_VERB})", r"[\"']?(?P<v>[0-9]{4,8})", "digits"),
        rule("token", _ASKS_KEY, _SIGN, r"[\"'\x60]?" + _BARE, "token"),
        rule("token-said", _ASKS_KEY, _VERB, r"[\"'\x60]?" + _BARE, "token"),
        rule("option", r"--?[a-z\-]*(?:password|passwd|token|secret|api-key)", r"[= ][\"']?", _BARE, "password"),
        Rule(
            "SECRET",
            "curl",
            r"curl[^\n]*?[ \t](?:-u|--user)[ \t=]+[\"']?[^\s:\"']+:(?P<v>[^\s\"']+)",
            _credential,
            bare=0.9,
            boundary="none",
        ),
    ]


_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+\.?")
_TECHNICAL = re.compile(
    r"(?i)(?:base64|md5|sha-?[0-9]+|bcrypt|argon2\w*|pbkdf2|scrypt|utf-?[0-9]+|rsa|aes|hmac|oauth2?|jwt|v[0-9.]+"
    r"|[a-z]*varchar[0-9(].*"
    r"|int[0-9]+|str[0-9]*|h[0-9]|p[0-9])(?:[_\-./:][a-z0-9]*)*[.!?]?|[0-9]+[a-z\-]*(?:char|digit|bit|byte|day"
    r"|hour|min|sec)\w*[.!?]?"
)
_CODE = re.compile(r"[A-Za-z_][\w.]*\[(?![0-9]{1,3}\])|_[A-Z][a-z]|(?:class|func|meth|mod|attr|exc|ref|data|py):")
_CALL = re.compile(r"[A-Za-z_][\w.]*\([^()]*(?:\)(?:[.;,)\]].*)?)?|[A-Za-z_][\w.]*\(.*\)[;,)]*")
_PLACE = re.compile(r"(?:[a-z][a-z0-9+.\-]{1,20}://(?!\S*:\S*@)|\.{0,2}/|~/|[A-Za-z]:\\).*")


# What a value is like shows at its beginning; some of the expressions above take quadratic time.
_TELLING = 200


def _no_value(value: str) -> bool:
    """A placeholder, a name in code, an algorithm, a path."""
    value = value[:_TELLING]
    return bool(
        is_placeholder(value)
        or _DOTTED_NAME.fullmatch(value)
        or _TECHNICAL.fullmatch(value)
        or _PLACE.fullmatch(value)
        or _CALL.fullmatch(value)
        or _CODE.match(value)
    )


def _password(value: str) -> bool:
    """What no dictionary holds: a digit, a sign, or capitals within."""
    return not _no_value(value) and _unlike_a_word(value)


def _unlike_a_word(value: str) -> bool:
    core = value.rstrip(".,;:!?)]}>*")
    letters = any(map(str.isalpha, core))
    sign = re.search(r"[!@#$%^&*+~?\\|]", core[1:]) is not None and letters
    return any(map(str.isdigit, core)) or sign or _capitals_within(core)


def _capitals_within(value: str) -> bool:
    """`rKGtRs`, but neither `userName` nor `McKenzie`."""
    return re.search(r"[a-z][A-Z]", value) is not None and not re.fullmatch(r"[A-Za-z][a-z]*(?:[A-Z][a-z]+)+", value)


def _quoted(value: str) -> bool:
    """Between quotes a word may be a password too, and a few plain words a passphrase; a sentence is none."""
    told = value[:_TELLING]
    if is_placeholder(told) or any(p.fullmatch(told) for p in (_DOTTED_NAME, _TECHNICAL, _PLACE)):
        return False
    if _SENTENCE.search(value) and not any(map(str.isdigit, value)):
        return _PASSPHRASE.fullmatch(value) is not None
    return len(value) >= 6 or _unlike_a_word(value)


_SENTENCE = re.compile(r"[^\W\d_] [^\W\d_]")
_PASSPHRASE = re.compile(r"[a-z]{3,12}(?: [a-z]{3,12}){3,7}")
_FIELD = re.compile(rf"(?i)(?:[\w .\-]*[ _.\-])?(?:{_ASKS_LOGIN}|{_ASKS_KEY})".replace(r"\pL\pN", r"\w"))
_KIND_WORDS = """
    string text number integer boolean object array null none true false yes no required optional hidden masked password
    secret token bearer basic oauth apikey header query cookie env default unset empty changed
"""
_KINDS = frozenset(_KIND_WORDS.split())


def is_secret_field(label: str, value: str) -> bool:
    """True for the whole value of a field whose name asks for a secret (`{"password": "hunter[2]"}`).

    What names a kind, a placeholder or explains itself in a sentence is none.
    """
    core = value.strip()
    known = is_placeholder(core[:_TELLING]) or core.lower() in _KINDS
    sentence = _SENTENCE.search(core) is not None and not _PASSPHRASE.fullmatch(core)
    return 4 <= len(core) <= _LONGEST_KEY and not known and not sentence and _FIELD.fullmatch(label.strip()) is not None


def _said(value: str) -> bool:
    """Behind a verb stands mostly prose, so a digit or sign among letters is asked for."""
    core = value.rstrip(".,;:!?)]}>*")
    sign = re.search(r"[0-9!@#$%^&*+~\\|]", core) is not None or _capitals_within(core)
    return len(core) >= 4 and not _no_value(core) and sign and any(map(str.isalpha, core))


def _token(value: str) -> bool:
    core = value.rstrip(".,;:!?)]}>*")
    return len(core) >= 8 and not _no_value(core) and any(map(str.isdigit, core)) and any(map(str.isalpha, core))


def _any_word(value: str) -> bool:
    """Alone behind its label a plain word is a password too; what names a kind, a state or a place in code is none."""
    core = value.strip(".,;:!?*_")
    return len(core) >= 4 and core.lower() not in _KINDS and not _no_value(core) and not core.startswith(("http", "/"))


_CHECKS = {
    "password": _password,
    "quoted": _quoted,
    "said": _said,
    "token": _token,
    "digits": str.isdigit,
    "any": _any_word,
}
_OTHER_TOKEN = re.compile(
    r"(?i)(?:page|next|continuation|cursor|sync|max|min|eos|bos|pad|unk|mask|sep|cls|special|stop)[_\- ]?token"
)


def _one_value(value: str) -> str:
    """The value without a next field that a comma or semicolon begins (`hunter2;Database=app`)."""
    match = re.search(r"[,;]+[\w .\-]{1,40}[=:]", value)
    return value[: match.start()] if match and match.start() >= 1 else value


def _without_closing(value: str) -> str:
    """The value without punctuation behind it, and without brackets that close what it did not open."""
    while value and (value[-1] in ".,;:*|" or (value[-1] in _CLOSING and _closes_nothing(value))):
        value = value[:-1]
    return value


def _closes_nothing(value: str) -> bool:
    close = value[-1]
    return value.count(close, 0, 500) > value.count(_CLOSING[close], 0, 500)


_CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}


class LabelledRecognizer(RuleRecognizer):
    """Leaves the punctuation around a value outside, and takes no page token for a secret."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for span in super().spans(rule, text):
            value = text[span.start : span.end]
            if text[span.end : span.end + 1] in ("=", ":") and re.search("[,;]", value):
                value = value[: max(value.rfind(","), value.rfind(";"))]
            cut = _without_closing(_one_value(value))
            lead = text[max(0, span.start - 40) : span.start]
            called = text[span.end : span.end + 1] in ("(", "[")
            if len(cut) >= 4 and not called and not _OTHER_TOKEN.search(lead):
                yield span._replace(end=span.start + len(cut))
