"""Money: bank accounts, payment cards, bank codes, crypto-currency addresses.

May import: base, iban, cards, wallet, stdnum, presidio_analyzer, the standard library.
"""

from __future__ import annotations

import re

from presidio_analyzer import EntityRecognizer
from stdnum.us import rtn

from recognizers.base import Entity, Rule, RuleRecognizer, alnum, digits, stdnum_check
from recognizers.cards import card_recognizer
from recognizers.iban import iban_recognizer
from recognizers.wallet import base58check, bech32, eip55

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "IBAN_CODE",
        "IBAN",
        "IBAN: DE83 7099 9999 0123 4567 89",
        "DE83 7099 9999 0123 4567 89",
        "country, length, structure, ISO 7064 MOD 97-10; a wrong check digit counts behind a label",
        "ISO 13616",
    ),
    Entity(
        "CREDIT_CARD",
        "Payment card number",
        "paid with 4000 0052 6018 1590",
        "4000 0052 6018 1590",
        "issuer range, length, Luhn; a wrong check digit counts behind a label",
        "ISO/IEC 7812",
    ),
    Entity(
        "BIC_CODE", "Bank identifier", "BIC: ZZZXFRPPXXX", "ZZZXFRPPXXX", "form and country, behind a label", "ISO 9362"
    ),
    Entity(
        "CRYPTO",
        "Crypto-currency address",
        "send to bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        "Base58Check, Bech32, Bech32m, EIP-55",
        "BIP-173, BIP-350, EIP-55",
    ),
    Entity(
        "US_BANK_NUMBER",
        "US account or routing number",
        "routing number 011000015",
        "011000015",
        "behind a label; routing numbers: ABA check digit",
        "ABA Routing Number Policy",
    ),
    Entity(
        "BANK_ACCOUNT",
        "National bank account",
        "sort code 20-99-93, account 55779911",
        "55779911",
        "behind a label; French RIB: key",
        "Pay.UK sort codes, CFONB RIB",
    ),
)

# ISO 3166-1 alpha-2, and XK as banks use it.
_COUNTRY_CODES = """
    AD AE AF AG AI AL AM AO AR AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC
    CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK FM FO FR GA
    GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
    KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ
    MR MS MT MU MV MW MX MY MZ NA NC NE NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PR PS PT PW PY QA RE
    RO RS RU RW SA SB SC SD SE SG SH SI SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TG TH TJ TL TM TN TO TR TT TV
    TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW
"""
_COUNTRIES = frozenset(_COUNTRY_CODES.split())

_BIC_LABELS = ("bic", "swift", "swift code", "bic code", "code bic", "bic/swift", "swift/bic", "swift-bic", "bankcode")
_WALLET_LABELS = (
    "ethereum", "eth", "ether", "wallet", "address", "adresse", "dirección", "indirizzo", "crypto", "usdt", "usdc",
    "erc20", "metamask", "portefeuille", "bitcoin", "btc", "polygon", "bnb", "arbitrum", "token contract",
)  # fmt: skip
_ACCOUNT_LABELS = (
    "account number", "account no", "account nr", "account num", "account #", "acct", "acct no", "acct number",
    "acct #", "bank account", "checking", "checking account", "savings account", "deposit account", "direct deposit",
    "account", "bank acct", "a/c", "a/c no",
)  # fmt: skip
_ROUTING_LABELS = (
    "routing",
    "routing number",
    "routing no",
    "aba",
    "aba number",
    "rtn",
    "transit number",
    "aba routing",
)
_SORT_LABELS = ("sort code", "sortcode", "sort-code", "s/c")
_NATIONAL_LABELS = (
    "kontonummer", "konto-nr", "konto nr", "kto-nr", "kto nr", "kto", "konto", "numéro de compte", "n° de compte",
    "compte n°", "compte bancaire", "compte", "cuenta", "número de cuenta", "ccc", "conto corrente",
    "numero di conto", "rekeningnummer", "bank account number",
)  # fmt: skip


def build() -> list[EntityRecognizer]:
    return [iban_recognizer(), card_recognizer(), RuleRecognizer("payment", _rules())]


def _rules() -> list[Rule]:
    return [*_bic_rules(), *_wallet_rules(), *_us_rules(), *_uk_rules(), *_other_rules()]


def _bic_rules() -> list[Rule]:
    return [
        Rule("BIC_CODE", "bic", r"[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?", _bic, _BIC_LABELS, before=30, after=0),
        Rule(
            "BIC_CODE",
            "bic-after-label",
            r"(?i)(?:bic|swift)(?:[ _-]?code)?[\"']?[ \t]*[:=#][ \t]*[\"']?"
            r"(?P<v>[a-z]{4} ?[a-z]{2} ?[a-z0-9]{2}(?: ?[a-z0-9]{3})?)",
            _bic,
            bare=0.9,
        ),
    ]


def _bic(value: str) -> bool:
    code = alnum(value)
    return code[4:6] in _COUNTRIES and len(code) in (8, 11)


def _wallet_rules() -> list[Rule]:
    return [
        Rule("CRYPTO", "base58", r"[13][1-9A-HJ-NP-Za-km-z]{25,34}", base58check, bare=0.95),
        Rule("CRYPTO", "bech32", r"(?i)(?:bc|tb|ltc)1[02-9ac-hj-np-z]{11,87}", bech32, bare=0.95),
        Rule(
            "CRYPTO",
            "ethereum",
            r"0x[0-9A-Fa-f]{40}",
            _mixed_eip55,
            _WALLET_LABELS,
            bare=0.9,
            labelled=0.95,
            wrong=0.75,
        ),
    ]


def _mixed_eip55(address: str) -> bool:
    """In one case an address holds no checksum, and looks like any other 160-bit hash."""
    return address[2:].lower() != address[2:] and address[2:].upper() != address[2:] and eip55(address)


def _us_rules() -> list[Rule]:
    return [
        Rule(
            "US_BANK_NUMBER",
            "routing",
            r"[0-9]{4}[- ]?[0-9]{4}[- ]?[0-9]",
            stdnum_check(rtn, digits),
            _ROUTING_LABELS,
            labelled=0.9,
            wrong=0.6,
            before=40,
            after=30,
        ),
        Rule(
            "US_BANK_NUMBER",
            "account",
            r"[0-9](?:[- ]?[0-9]){5,16}",
            _account,
            _ACCOUNT_LABELS,
            labelled=0.75,
            before=28,
            after=0,
        ),
        # Their full stop would end the sentence in which a label is looked for.
        Rule("US_BANK_NUMBER", "routing-no", rf"(?i){_ROUTING_NO}(?P<v>[0-9]{{9}})", None, bare=0.8),
        Rule(
            "US_BANK_NUMBER", "account-no", rf"(?i){_ACCOUNT_NO}(?P<v>[0-9](?:[- ]?[0-9]){{5,16}})", _account, bare=0.75
        ),
    ]


_NO = r"[ \t]*(?:no|nr|num)\.[ \t]*:?[ \t]*"
_ROUTING_NO = rf"(?:routing|aba|rtn|transit){_NO}"
_ACCOUNT_NO = rf"(?:account|acct|a/c){_NO}"


def _account(value: str) -> bool:
    """Six digits and more, not a date, not the same digit all along."""
    return len(set(digits(value))) > 1 and not re.fullmatch(
        r"(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}|[0-9]{2}-[0-9]{2}-[0-9]{2}", value
    )


def _uk_rules() -> list[Rule]:
    sort_code = r"[0-9]{2}[ \-]?[0-9]{2}[ \-]?[0-9]{2}"
    return [
        Rule("BANK_ACCOUNT", "sort-code", sort_code, None, _SORT_LABELS, labelled=0.9, before=30, after=20),
        Rule(
            "BANK_ACCOUNT",
            "sort-code-account",
            r"[0-9]{4} ?[0-9]{4}",
            None,
            _SORT_LABELS,
            labelled=0.85,
            before=70,
            after=70,
        ),
    ]


def _other_rules() -> list[Rule]:
    rib = r"[0-9]{5}[ \-]?[0-9]{5}[ \-]?[0-9A-Za-z]{11}[ \-]?[0-9]{2}"
    return [
        Rule("BANK_ACCOUNT", "rib", rib, _rib, ("rib", *_NATIONAL_LABELS), bare=0.7, labelled=0.95, wrong=0.7),
        Rule(
            "BANK_ACCOUNT",
            "blz",
            r"[1-8][0-9]{2}[ ]?[0-9]{3}[ ]?[0-9]{2}",
            None,
            ("blz", "bankleitzahl"),
            labelled=0.85,
            before=25,
            after=0,
        ),
        Rule(
            "BANK_ACCOUNT",
            "national-account",
            r"[0-9](?:[ \-./]?[0-9]){5,19}",
            _account,
            _NATIONAL_LABELS,
            labelled=0.75,
            before=28,
            after=0,
        ),
    ]


_RIB_LETTERS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "12345678912345678923456789")


def _rib(value: str) -> bool:
    """Key of a French bank account: 97 minus (89 bank + 15 branch + 3 account) modulo 97 (CFONB)."""
    number = alnum(value).translate(_RIB_LETTERS)
    if not number.isdigit() or len(number) != 23:
        return False
    bank, branch, account, key = int(number[:5]), int(number[5:10]), int(number[10:21]), int(number[21:])
    return key == 97 - (89 * bank + 15 * branch + 3 * account) % 97
