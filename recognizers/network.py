"""Addresses of machines, and the user names that labels announce.

May import: base, placeholder, presidio_analyzer, the standard library.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from presidio_analyzer import EntityRecognizer

from recognizers.base import Entity, Rule, RuleRecognizer, Span, fold, label_near
from recognizers.placeholder import is_placeholder

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "IP_ADDRESS",
        "IP address",
        "from 203.0.113.77 and back",
        "203.0.113.77",
        "octets, hextets; not versions, section numbers, scopes or times",
        "RFC 791, RFC 4291, RFC 4007",
    ),
    Entity("MAC_ADDRESS", "MAC address", "device 00:1b:44:11:3a:b7 joined", "00:1b:44:11:3a:b7", "form", "IEEE 802"),
    Entity("USERNAME", "User name", "username: mtallow84", "mtallow84", "behind a label", "-"),
)

_IP_LABELS = (
    "ip", "ips", "ip address", "ipv4", "ipv6", "adresse ip", "ip-adresse", "host", "dirección ip", "indirizzo ip",
    "client", "remote", "gateway", "dns", "server", "listen", "localhost", "loopback", "ping", "ssh", "bind",
)  # fmt: skip
_MAC_LABELS = (
    "mac",
    "mac address",
    "ethernet",
    "bssid",
    "hwaddr",
    "ether",
    "adresse mac",
    "mac-adresse",
    "bluetooth",
    "wlan",
)


def build() -> list[EntityRecognizer]:
    return [
        IpRecognizer("ip", _ip_rules()),
        MacRecognizer("mac", _mac_rules()),
        UsernameRecognizer("username", _username_rules()),
    ]


def _ip_rules() -> list[Rule]:
    first, more = r"(?:[0-9A-Fa-f]{1,4}|:)", r":[0-9A-Fa-f]{0,4}"
    hextets = rf"(?:{first}(?:{more}){{1,6}}:[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}|{first}(?:{more}){{1,8}})"
    return [
        Rule(
            "IP_ADDRESS",
            "v4",
            r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:/[0-9]{1,2})?",
            _v4,
            _IP_LABELS,
            bare=0.85,
            labelled=0.95,
            before=30,
            after=0,
        ),
        Rule(
            "IP_ADDRESS",
            "v6",
            rf"{hextets}(?:%[0-9A-Za-z_.\-]{{1,16}})?(?:/[0-9]{{1,3}})?",
            _v6,
            _IP_LABELS,
            bare=0.9,
            labelled=0.95,
            wrong=0.7,
            before=30,
            after=0,
        ),
    ]


def _v4(value: str) -> bool:
    address, _, size = value.partition("/")
    octets = address.split(".")
    if any(int(octet) > 255 for octet in octets) or (size and int(size) > 32):
        return False
    # 255.255.255.0 says how large a network is, not where it is.
    return not address.startswith("255.") or address == "255.255.255.255"


def _is_v6(value: str) -> bool:
    try:
        ipaddress.IPv6Address(re.split("[%/]", value)[0])
    except ValueError:
        return False
    return True


def _v6(value: str) -> bool:
    """True for an address that no slice (`1::2`), scope (`a::b`) or dump of eight bytes can be."""
    address = re.split("[%/]", value)[0]
    hextets = [part for part in address.split(":") if part]
    if all(len(part) == 2 for part in hextets) and len(hextets) == 8:
        return False
    if "::" not in address:
        return True
    return len(hextets) >= 2 and any(map(str.isdigit, address)) and max(map(len, hextets)) >= 3


# 2000::/3 (global), 64:ff9b::/96, 100::/64, ::ffff:0:0/96, fc00::/7, fe80::/10, ff00::/8.
_ASSIGNED = re.compile(
    r"(?i)[23][0-9a-f]{3}:|64:ff9b:|100::|::ffff:|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:|ff[0-9a-f]{2}:"
)
_NUMBERED = re.compile(
    r"(?:\b(?:v|ver|version|release|rev|revision|section|sect|chapter|clause|article|annex|paragraph|para|appendix|figure"
    r"|fig|build|firmware|assembly|oid|kapitel|abschnitt|chapitre|capitulo|capitolo)s?|§)[.\s:=#\"'v]*\Z"
    r"|[<>~=!^]=\s*v?\Z|[~^]\Z|[a-z][/@_\-]v?\Z"
)
_HEADING = re.compile(r"(?:^|\n)[ \t#>*]*$")


class IpRecognizer(RuleRecognizer):
    """What looks like an address may be a version, a heading, a slice or a C++ name: the surroundings decide."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for span in super().spans(rule, text):
            labelled = label_near(text, span.start, span.end, rule) is not None
            refused = _not_v4 if rule.name == "v4" else _not_v6
            if not refused(text, span.start, span.end, labelled=labelled):
                yield span


def _not_v4(text: str, start: int, end: int, *, labelled: bool) -> bool:
    if text[start - 1 : start] == "." and start:
        return True
    lead = fold(text[max(0, start - 24) : start])
    if _NUMBERED.search(lead):
        return not labelled or lead.endswith("v")
    octets = [int(octet) for octet in text[start:end].split("/")[0].split(".")]
    heading = _HEADING.search(text[max(0, start - 24) : start]) and re.match(r"[ \t]+[A-ZÀ-Þ]", text[end : end + 4])
    return bool(heading) and 0 not in octets and max(octets) <= 40


def _not_v6(text: str, start: int, end: int, *, labelled: bool) -> bool:
    value = text[start:end]
    left, right = text[start - 1 : start] if start else "", text[end : end + 1]
    before, after = text[max(0, start - 2) : start - 1] if start else "", text[end + 1 : end + 2]
    if not _is_v6(value) or left in (".", "_") or right in (":", "_") or (right == "-" and after.isalnum()):
        return True
    if left == ":" and not (before.isalpha() and value[0] != ":"):
        return True
    if left == "[" and (before.isalnum() or before in ("_", "]", ")")) and before:
        return True
    many = len([part for part in re.split("[%/]", value)[0].split(":") if part]) >= 4
    return not (labelled or many or "/" in value or "::" not in value or _ASSIGNED.match(value))


def _mac_rules() -> list[Rule]:
    pair = "[0-9A-Fa-f]{2}"
    return [
        Rule(
            "MAC_ADDRESS",
            "colons",
            rf"{pair}(?::{pair}){{5}}(?:(?::{pair}){{2}})?",
            None,
            _MAC_LABELS,
            bare=0.85,
            labelled=0.95,
        ),
        Rule(
            "MAC_ADDRESS",
            "dashes",
            rf"{pair}(?:-{pair}){{5}}",
            _has_letter,
            _MAC_LABELS,
            bare=0.8,
            labelled=0.95,
            wrong=0.85,
        ),
        Rule(
            "MAC_ADDRESS",
            "dots",
            r"[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}",
            _has_letter,
            _MAC_LABELS,
            bare=0.7,
            labelled=0.95,
            wrong=0.85,
        ),
    ]


def _has_letter(value: str) -> bool:
    """Six pairs of digits with dashes may be a date and a time, three groups of four part of a number."""
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value))


class MacRecognizer(RuleRecognizer):
    """A longer run of pairs is a fingerprint or a dump."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for span in super().spans(rule, text):
            left, right = text[span.start - 1 : span.start] if span.start else "", text[span.end : span.end + 1]
            inside = left in (":", "-", ".") and text[max(0, span.start - 2) : span.start - 1].isdigit()
            if not inside and not (right in (":", "-") and text[span.end + 1 : span.end + 2].isalnum()):
                yield span


def _username_rules() -> list[Rule]:
    value = r"[ \t]*(?P<v>@?[\pL\pN][\pL\pN._@+\-]{1,63})"
    sure = (
        r"user[ _-]?name|user[ _-]?id|login(?:[ _-]?name)?|identifiant|nom d'utilisateur|benutzername"
        r"|benutzerkennung|anmeldename"
        r"|nombre de usuario|usuario|nome utente|gebruikersnaam|screen[ _-]?name|account[ _-]?name|logon"
    )
    return [
        Rule(
            "USERNAME",
            "label",
            rf"(?i)(?:(?:^|[^\pL\pN])(?:{sure})|(?:^|[^\pL\pN_.])handle)[\"']?[ \t]*[:=][ \t]*[\"']?{value}",
            _user_name,
            bare=0.8,
            boundary="none",
        ),
        Rule(
            "USERNAME",
            "user",
            rf"(?i)(?:^|[^\pL\pN])(?:user|utilisateur|benutzer|uid)[\"']?[ \t]*[:=][ \t]*[\"']?{value}",
            _technical_name,
            bare=0.7,
            boundary="none",
        ),
        Rule(
            "USERNAME",
            "todo",
            r"(?:TODO|FIXME|XXX|HACK|NOTE)\((?P<v>[A-Za-z][A-Za-z0-9._\-]{2,39})\)",
            _user_name,
            bare=0.7,
            boundary="none",
        ),
        Rule(
            "USERNAME",
            "home folder",
            r"(?:[A-Za-z]:\\{1,2}(?i:users|utilisateurs|benutzer|usuarios|utenti)\\{1,2}|(?:^|[\s\"'(=:,])/(?:home|Users)/)"
            r"(?P<v>[\pL][\pL\pN._\-]{1,30}(?: [\pL][\pL\pN._\-]{1,30}){0,3})[\\/]",
            _home_folder,
            bare=0.7,
            boundary="none",
        ),
    ]


_COMMON_WORDS = """
    root admin administrator guest test tester user users username anonymous nobody system default owner public
    login here failed failure success successful error page form button screen enabled disabled allowed denied
    field name id uuid email mail phone password and or with via using was is must should cannot required
    optional new old data daemon www-data postgres mysql handle someday later maybe ubuntu sa ec2-user
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def _user_name(value: str) -> bool:
    name = value.strip("@._-").lower()
    return len(name) >= 3 and name not in _COMMON and not is_placeholder(value)


_SHARED = """
    all app appuser build circleci coder codespace default dev developer docker gitpod jenkins jovyan local me node pi
    public runner shared sites some travis ubuntu user vagrant vscode you your yourname
"""
_SHARED_HOMES = frozenset(_SHARED.split()) | {"all users", "default user"}


def _home_folder(value: str) -> bool:
    """`C:\\Users\\Mira Tallow\\`: whose home it is; but not `/home/runner/` and its like."""
    return _user_name(value) and value.lower() not in _SHARED_HOMES


def _technical_name(value: str) -> bool:
    """`User: hello` opens a turn of a chat; a user name shows itself by a digit or a joint."""
    return _user_name(value) and re.search(r"[0-9]|[^\W_][._\-][^\W_]", value) is not None


# `username: The name of the user`, not `username: mtallow password: x`.
_GOES_ON = re.compile(r" +[a-z]+\b(?! ?[:=])")


class UsernameRecognizer(RuleRecognizer):
    """Drops what is code (`user = request.user`, `login: str`) and a sentence's full stop."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for span in super().spans(rule, text):
            value = text[span.start : span.end].rstrip(".-@+")
            after = text[span.start + len(value) : span.end + 1]
            quoted = text[span.start - 1] in "\"'"
            code = (
                not quoted and "." in value and re.search(r"[ \t]=[ \t]*$", text[max(0, span.start - 4) : span.start])
            )
            prose = value.isalpha() and not quoted and _GOES_ON.match(text, span.end)
            if after[:1] not in ("(", "[", "{") and not code and not prose and _user_name(value):
                yield span._replace(end=span.start + len(value))
