"""Recognizers by subject: payment, contact, network, secrets, and what a policy declares.

Tables of (text, what must be found). A hit below 0.5, the default of a policy, does not count. All values are made up.
"""

from __future__ import annotations

import functools
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from presidio_analyzer import EntityRecognizer
from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from recognizers import contact, network, payment, secrets
from recognizers.custom import CustomRule, DenyTerms, build_custom
from recognizers.foreign import Foreign
from recognizers.iban import COUNTRIES
from recognizers.shadow import shadow
from recognizers.wallet import base58check, bech32, eip55, keccak256

REGIONS = ("FR", "GB", "US", "DE", "ES", "IT")
Found = list[tuple[str, str]]


@functools.cache
def recognizers() -> tuple[EntityRecognizer, ...]:
    return (*payment.build(), *contact.build(REGIONS), *network.build(), *secrets.build())


def look(text: str, among: tuple[EntityRecognizer, ...]) -> Found:
    seen, found = shadow(text), set()
    for recognizer in among:
        for result in recognizer.analyze(seen.text, recognizer.supported_entities):
            if result.score >= 0.5:
                found.add((*seen.original(result.start, result.end), result.entity_type))
    return [(entity, text[start:end]) for start, end, entity in sorted(found)]


def find(text: str, *entities: str) -> Found:
    return [hit for hit in look(text, recognizers()) if not entities or hit[0] in entities]


def values(text: str, entity: str) -> list[str]:
    return [value for _, value in find(text, entity)]


@pytest.mark.parametrize(
    "entity", [e for m in (payment, contact, network, secrets) for e in m.ENTITIES], ids=lambda e: e.name
)
def test_every_entity_finds_its_example(entity: payment.Entity) -> None:
    assert (entity.name, entity.value) in find(entity.example)


IBANS = [
    ("IBAN DE83 7099 9999 0123 4567 89", ["DE83 7099 9999 0123 4567 89"]),
    ("DE83 7099 9999 0123 4567 89 EUR 250 TO BE PAID", ["DE83 7099 9999 0123 4567 89"]),
    ("DE83 7099 9999 0123 4567 89 250 EUR", ["DE83 7099 9999 0123 4567 89"]),
    ("DE83\u00a07099\u202f9999 0123\u00a04567 89", ["DE83\u00a07099\u202f9999 0123\u00a04567 89"]),
    ("DE83 7099 9999\n0123 4567 89 please", ["DE83 7099 9999\n0123 4567 89"]),
    ("DE83 7099 9999\r\n  0123 4567 89", ["DE83 7099 9999\r\n  0123 4567 89"]),
    ("DE83-7099-9999-0123-4567-89 / de83709999990123456789", ["DE83-7099-9999-0123-4567-89", "de83709999990123456789"]),
    ("value=DE83_7099_9999_0123_4567_89", ["DE83_7099_9999_0123_4567_89"]),
    ("IBAN:DE83709999990123456789", ["DE83709999990123456789"]),
    ("IBANDE83709999990123456789", ["DE83709999990123456789"]),
    ("pays from DE83 7099 9999 **0123 4567 89**", ["DE83 7099 9999 **0123 4567 89"]),
    ("ＤＥ８３７０９９９９９９０１２３４５６７８９", ["ＤＥ８３７０９９９９９９０１２３４５６７８９"]),
    (
        "UA103999990000099999912345678 NO57 9999 1234 574 MT93 ZZZX 9999 9ABC DEFG H123 4567 89J",
        ["UA103999990000099999912345678", "NO57 9999 1234 574", "MT93 ZZZX 9999 9ABC DEFG H123 4567 89J"],
    ),
    ("IBAN DE83 7099 9999 0123 4567 88, thanks", ["DE83 7099 9999 0123 4567 88"]),
    ("IBAN DE83 7099 9999 0123 4567 8K", ["DE83 7099 9999 0123 4567 8K"]),
    ("sur le compte DE83 7099 9999 0123 4567 8 avant", ["DE83 7099 9999 0123 4567 8"]),
    ("Konto: DE82709999990123456789", ["DE82709999990123456789"]),
    ("DE82709999990123456789", []),
    ("it 12 is not all that bad of a thing to say to them", []),
    ("XDE83709999990123456789 DE83709999990123456789X", []),
]


@pytest.mark.parametrize(("text", "expected"), IBANS)
def test_iban(text: str, expected: list[str]) -> None:
    assert values(text, "IBAN_CODE") == expected


def iban(country: str, seed: int) -> str:
    """A number of the country's structure with right check digits."""
    source = random.Random(seed)
    alphabets = {"n": "0123456789", "a": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "c": "0123456789ABCXYZ"}
    body = "".join(source.choice(alphabets[kind]) for kind in COUNTRIES[country][4:])
    return country + mod_97_10.calc_check_digits(body + country) + body


@pytest.mark.parametrize("country", sorted(COUNTRIES))
def test_iban_of_every_country(country: str) -> None:
    number = iban(country, 7)
    groups = " ".join(number[at : at + 4] for at in range(0, len(number), 4))
    assert values(f"to {number}, {groups} or {groups.lower()}.", "IBAN_CODE") == [number, groups, groups.lower()]


def test_registry_has_its_shortest_and_longest() -> None:
    assert len(COUNTRIES["NO"]) == 15
    assert len(COUNTRIES["RU"]) == 33
    assert len(COUNTRIES) > 100


def test_iban_of_an_unknown_country_counts_by_its_check_digits() -> None:
    assert "ZZ" not in COUNTRIES
    number = "ZZ" + mod_97_10.calc_check_digits("12345678901234567ZZ") + "12345678901234567"
    assert values(f"pay {number} now", "IBAN_CODE") == [number]
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert values(f"pay {wrong} now", "IBAN_CODE") == []


CARDS = [
    (
        "cards 2221000830166137 and 6200000996030824626 and 3700 001860 91395",
        ["2221000830166137", "6200000996030824626", "3700 001860 91395"],
    ),
    ("4000 0052 6018 1590", ["4000 0052 6018 1590"]),
    (
        "4000-0052-6018-1590, 4000.0052.6018.1590; 4000_0052_6018_1590",
        ["4000-0052-6018-1590", "4000.0052.6018.1590", "4000_0052_6018_1590"],
    ),
    ("4000 0052\n6018 1590", ["4000 0052\n6018 1590"]),
    ("card 4000\n0052\n6018\n1590", ["4000\n0052\n6018\n1590"]),
    ("count\n4000\n0052\n6018\n1590", []),
    ("paid with 4000/0052/6018/1590", ["4000/0052/6018/1590"]),
    ("https://x.example/40/00005260/181590", []),
    ("card ４０００００５２６０１８１５９０", ["４０００００５２６０１８１５９０"]),
    ('{"card":4000005260181590,"n":1}', ["4000005260181590"]),
    ("carte 4000 0052 6018 1590 1227 123", ["4000 0052 6018 1590"]),
    ("my credit card number is 4000005260181591", ["4000005260181591"]),
    ("Kreditkarte: 4000 0052 6018 1591", ["4000 0052 6018 1591"]),
    ("card: 4000005260183", ["4000005260183"]),
    ("4000005260183", []),
    ("1607635102000 4000005260191 at", []),
    ("trace 40000052-6018-1590-8111-000000000000", []),
    ("trace_id: 4000005260181590", []),
    ("id 4000-0052-6018-1590", ["4000-0052-6018-1590"]),
    (
        "4111111111111111 and pay(5555555555554444), x = 4242424242424242",
        ["4111111111111111", "5555555555554444", "4242424242424242"],
    ),
    ("order number 4000005260181590, user_id=4000005260181590", []),
    ("she paid 4000005260181590", ["4000005260181590"]),
    ("commande n° 4000005260181590", []),
    ("https://x.example/orders/4000005260181590/items", []),
    ("call_4000005260181590", []),
    ("transform: translate(0%, -0.4000005260181590%)", []),
    ("12.4000005260181590 and 4000005260181590.25", []),
    ("total;4000005260181590.0;4000005260181590.00", ["4000005260181590", "4000005260181590"]),
    ("4000005260181590.01 or 4000005260181590.0.1", []),
    ("0a4000005260181590 4000005260181590ff 14000005260181590123", []),
    ("4521 3456 7890 1234 2345 2222 4000 0052 6018 1590 1111", []),
    ("2020\n2021\n2022\n2023\n2024\n2025", []),
    ("0000000000000000 card 4444444444444444", ["4444444444444444"]),
    ("ISBN 978-3-16-148410-0", []),
]


@pytest.mark.parametrize(("text", "expected"), CARDS)
def test_card(text: str, expected: list[str]) -> None:
    assert values(text, "CREDIT_CARD") == expected


BANKS = [
    ("SWIFT transfer, BIC ZZZXFRPPXXX", [("BIC_CODE", "ZZZXFRPPXXX")]),
    ("bic: zzzx fr pp 500", [("BIC_CODE", "zzzx fr pp 500")]),
    ("SWIFT: ZZZXGB2L", [("BIC_CODE", "ZZZXGB2L")]),
    ("TRANSFER PAYMENTS ZZZXFRPPXXX SWIFT PAYMENTS", []),
    (
        "routing number 011000015 and account number 000123456789",
        [("US_BANK_NUMBER", "011000015"), ("US_BANK_NUMBER", "000123456789")],
    ),
    (
        "account no. 8933576644, routing no. 061182585",
        [("US_BANK_NUMBER", "8933576644"), ("US_BANK_NUMBER", "061182585")],
    ),
    ("part 011000015, total 000123456789", []),
    ("sort code 20-99-93", [("BANK_ACCOUNT", "20-99-93")]),
    ("on 20-99-93", []),
    ("30006 00001 12345678901 89", [("BANK_ACCOUNT", "30006 00001 12345678901 89")]),
    ("30006 00001 12345678901 88", []),
    ("Kontonummer 1234567, BLZ 70090100", [("BANK_ACCOUNT", "1234567"), ("BANK_ACCOUNT", "70090100")]),
]


@pytest.mark.parametrize(("text", "expected"), BANKS)
def test_bank_number(text: str, expected: Found) -> None:
    assert find(text, "BIC_CODE", "US_BANK_NUMBER", "BANK_ACCOUNT") == expected


WALLETS = [
    ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", True),
    ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", False),
    ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", True),
    ("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", True),
    ("bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", True),
    ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", False),
    ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", True),
    ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", False),
    ("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", False),
]


@pytest.mark.parametrize(("address", "valid"), WALLETS)
def test_wallet_without_a_label(address: str, valid: bool) -> None:
    assert values(f"see {address}.", "CRYPTO") == ([address] if valid else [])


def test_ethereum_address_in_one_case_needs_a_label() -> None:
    address = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
    assert values(f"my ETH wallet is {address}", "CRYPTO") == [address]


def test_checksums_of_the_standards() -> None:
    assert keccak256(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert keccak256(b"a" * 200) != keccak256(b"a" * 201)
    assert bech32("A1LQFN3A")  # BIP-350
    assert bech32("A12UEL5L")  # BIP-173
    assert not bech32("a12UEL5L")
    assert not base58check("0OIl")
    assert eip55("0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359")


EMAILS = [
    ("see mira.tallow@example.org.pdf", ["mira.tallow@example.org"]),
    ("logo@2x.min.png, app@next.min.js, icon@2x.com.png", []),
    ("联系mira.tallow@example.com谢谢", ["mira.tallow@example.com"]),
    ("_omar.b@example.org_ **mira@example.com**", ["omar.b@example.org", "mira@example.com"]),
    ("mira.tallow@\u200bexample.com", ["mira.tallow@\u200bexample.com"]),
    ("mira.tallow＠example.com", ["mira.tallow＠example.com"]),
    ("mira.tallow%40example.com", ["mira.tallow%40example.com"]),
    ("mira.tallow&#64;example.com", ["mira.tallow&#64;example.com"]),
    ("mira.tal\u00adlow@example.com", ["mira.tal\u00adlow@example.com"]),
    (
        "<mira+news@sub.example.co.uk>, mailto:omar@example.org?subject=x",
        ["mira+news@sub.example.co.uk", "omar@example.org"],
    ),
    ("'o'brien@example.ie' x=mira@example.com&y", ["o'brien@example.ie", "mira@example.com"]),
    (
        "jürgen@bücher.example x@xn--bcher-kva.example 山田@例え.jp",
        ["jürgen@bücher.example", "x@xn--bcher-kva.example", "山田@例え.jp"],
    ),
    ('write "mira tallow"@example.com or a@[192.0.2.1]', ['"mira tallow"@example.com', "a@[192.0.2.1]"]),
    (r"Email:\nmira.tallow@example.com\tphone", ["mira.tallow@example.com"]),
    ("mail user4000005260181590@example.com inbox", ["user4000005260181590@example.com"]),
    ("mira.tallow@example.com.", ["mira.tallow@example.com"]),
    ("mira at example dot com", ["mira at example dot com"]),
    ("mira.tallow [at] example.com", ["mira.tallow [at] example.com"]),
    ("mira dot tallow (at) example (dot) org", ["mira dot tallow (at) example (dot) org"]),
    ("look at example.com, arrive at noon, meet at the dot on it", []),
    ("README.md self.repo.Get @app.get user@host git@github.com:org/x", []),
    ("logo@2x.png pkg@1.2.3 @scope/pkg@^2.0", []),
]


@pytest.mark.parametrize(("text", "expected"), EMAILS)
def test_email(text: str, expected: list[str]) -> None:
    assert values(text, "EMAIL_ADDRESS") == expected


PHONES = [
    ("电话+442079460123号", ["+442079460123"]),
    ("Call 212-555-0105, please check the order. Also 2125550105, thanks.", ["212-555-0105"]),
    ("(555) 010-1234 or 1-800-555-0199 x12", ["(555) 010-1234", "1-800-555-0199 x12"]),
    ("+1 (212) 555-0105 ext. 7; +1-555-010-1234", ["+1 (212) 555-0105 ext. 7", "+1-555-010-1234"]),
    ("212-555-0105 2 times", ["212-555-0105"]),
    ("+33 6 12 34 56 78, +33612345678 0033 6 12 34 56 78", ["+33 6 12 34 56 78", "+33612345678", "0033 6 12 34 56 78"]),
    ("06 12 34 56 78 / 06 98 76 54 32", ["06 12 34 56 78", "06 98 76 54 32"]),
    ("06.12.34.56.78 et 01-23-45-67-89", ["06.12.34.56.78", "01-23-45-67-89"]),
    ("portable: 0612345678", ["0612345678"]),
    ("Tél. : 0181262219, (épouse), +33 4 04 87 07 59.", ["0181262219", "+33 4 04 87 07 59"]),
    ("Garant : X, 0156023884, puis commande 0156023884", ["0156023884"]),
    ("020 7946 0123, +44 7700 900123", ["020 7946 0123", "+44 7700 900123"]),
    ("+49 (0)30 12345678, 0151 23456789", ["+49 (0)30 12345678", "0151 23456789"]),
    ("llámame al 612 34 56 78, móvil 612345678", ["612 34 56 78", "612345678"]),
    ("phone: 12345678, cell 5550105", ["12345678", "5550105"]),
    ("tél\u00a0: 06\u00a012\u00a034\u00a056\u00a078", ["06\u00a012\u00a034\u00a056\u00a078"]),
    ("customer_id: +33612345678, wa_id=+33698765432", ["+33612345678", "+33698765432"]),
    ('{"user_id": "+33612345678", "chat_id": "+33 6 12 34 56 78"}', ["+33612345678", "+33 6 12 34 56 78"]),
    ("order #+33612345678\ncard: (+33) 6 12 34 56 78", ["+33612345678", "(+33) 6 12 34 56 78"]),
    ("ref: 0033612345678\niban: 0033 6 12 34 56 78", ["0033612345678", "0033 6 12 34 56 78"]),
    ("order 06 12 34 56 78, id: 33612345678, account 0012345678, ticket id: +3361", []),
    ("24-51-95-01 fax", ["24-51-95-01"]),
    ("(11) 3281-7451 office", ["(11) 3281-7451"]),
    ("24-51-95-01 units", []),
    ("You can reach me on 438 8612.", ["438 8612"]),
    ("phones: 0612345678, 0698765432", ["0612345678", "0698765432"]),
    ("SELECT * FROM users WHERE id = 1234567890; -- 1607635102.00 -0.96\n6033391\n6058722", []),
    ("see https://wiki.example/pages/4711002383/Runbook for order 4711002383, qty 12", []),
    ("12.05.2023 2023-01-15 10:22 01/02/2023 2019-2020 1.234.567,00 192.168.1.1", []),
    ("40000052-6018-1590-8111-000000000000 978-3-16-148410-0 A1-4 1607635102000", []),
    ("DE83 7099 9999 0123 4567 89 and 4000 0052 6018 1590", []),
    ("NHS number 999 000 1235, SSN 219-09-9999", []),
    ("7 8 9 0 0 1 2 3 4 and 3.71 1.722 8.629 and $212-555-0105", []),
    ("version 1607635102, build 20230115, x+442079460123y", []),
]


@pytest.mark.parametrize(("text", "expected"), PHONES)
def test_phone(text: str, expected: list[str]) -> None:
    assert values(text, "PHONE_NUMBER") == expected


def test_unknown_regions_are_named() -> None:
    assert contact.unknown_regions(["US", "UK", "FE"]) == ["UK", "FE"]
    with pytest.raises(ValueError, match="UK, FE"):
        contact.build(["US", "UK", "FE"])


URLS = [
    (
        "postgres://mira.tallow@example.com:Hunter2x@db.example/app",
        ["postgres://mira.tallow@example.com:Hunter2x@db.example/app"],
    ),
    ("see https://u:p%40ss@h.example/x?y=1. Bye", ["https://u:p%40ss@h.example/x?y=1"]),
    ("amqp://guest:gu/est1@mq.example:5672", ["amqp://guest:gu/est1@mq.example:5672"]),
    ("https://x.example/?token=abc123DEF456&y=1&sig=Zm9vYmFy1x2", ["abc123DEF456", "Zm9vYmFy1x2"]),
    ("https://s3.example/x?X-Amz-Signature=deadbeef123456", ["deadbeef123456"]),
    ("http://localhost:8080/path/@user https://x.example/?key=name&api_key=YOUR_API_KEY", []),
    ("https://u:${PASSWORD}@h.example https://x.example/a:b", []),
]


@pytest.mark.parametrize(("text", "expected"), URLS)
def test_url_credentials(text: str, expected: list[str]) -> None:
    assert values(text, "URL_CREDENTIALS") == expected


NETWORK = [
    ("10.0.0.1:8080 127.0.0.1, 192.0.2.0/24", ["10.0.0.1", "127.0.0.1", "192.0.2.0/24"]),
    ("http://198.51.100.7/x host=203.0.113.9.", ["198.51.100.7", "203.0.113.9"]),
    ("IP 1.2.3.4, a_\n10.0.0.0", ["1.2.3.4", "10.0.0.0"]),
    ("conversion 10.2.3.4 with api 10.2.3.5", ["10.2.3.4", "10.2.3.5"]),
    ("fe80::1%eth0 2001:db8::8a2e:370:7334/64", ["fe80::1%eth0", "2001:db8::8a2e:370:7334/64"]),
    ("[2001:db8::1]:443 ip:2001:db8::2", ["2001:db8::1", "2001:db8::2"]),
    ("2001:0db8:85a3:0000:0000:8a2e:0370:7334", ["2001:0db8:85a3:0000:0000:8a2e:0370:7334"]),
    ("see v1.2.3.4 of the module, 1.2.3.4.5, section 1.2.3.4, Version: 1.2.3.4", []),
    ("Chrome/120.0.0.0 pkg==1.2.3.4 pkg-1.2.3.4.tar.gz 256.1.1.1 255.255.255.0", []),
    ("1.2.3.4 Scope of work", []),
    ("a::b std::vector<int> 12:30:45 x[1::2] x[10::20] 2024-01-01T12:30:45 face::b00c ::", []),
    ("SHA1 12:34:56:78:90:ab:cd:ef:12:34:56:78:90:ab:cd:ef:12:34:56:78", []),
]


@pytest.mark.parametrize(("text", "expected"), NETWORK)
def test_ip_address(text: str, expected: list[str]) -> None:
    assert values(text, "IP_ADDRESS") == expected


NAMED = [
    (
        "00:1b:44:11:3a:b7 00-1B-44-11-3A-B7 001b.4411.3ab7",
        ["00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7", "001b.4411.3ab7"],
    ),
    ("mac 12-34-56-78-90-12", ["12-34-56-78-90-12"]),
    ("12-34-56-78-90-12 and 12:34:56:78:90:ab:cd:ef:12 and 1234.5678.9012", []),
    ("username: mtallow84, login=omar.b; identifiant : jdupont", ["mtallow84", "omar.b", "jdupont"]),
    ('"user": "mira9", handle: @mira_t. # TODO(omar.b): fix', ["mira9", "@mira_t", "omar.b"]),
    ("User: hello there. login: failed. username = request.user; login: str; user=get1()", []),
    ("Username: <username> username: admin", []),
    ("C:\\Users\\Mira Tallow\\docs, /home/mtallow/x and /Users/omar.b/y", ["Mira Tallow", "mtallow", "omar.b"]),
    ("/home/runner/work GET /api/users/profile/x C:\\Users\\Public\\x", []),
]


@pytest.mark.parametrize(("text", "expected"), NAMED)
def test_mac_address_and_user_name(text: str, expected: list[str]) -> None:
    assert [value for _, value in find(text, "MAC_ADDRESS", "USERNAME")] == expected


FIELDS = [
    ("password", "hunter[2]x", True),
    ("api key", "Qw3[rty]Uiop99!", True),
    ("passphrase", "correct horse battery staple", True),
    ("mot de passe", "Azerty[12]!", True),
    ("token", "string", False),
    ("password", "The password must be long", False),
    ("password", "${DB_PASSWORD}", False),
    ("max tokens", "4096 or so", False),
]


@pytest.mark.parametrize(("label", "value", "expected"), FIELDS)
def test_a_field_that_asks_for_a_secret(label: str, value: str, expected: bool) -> None:
    assert secrets.is_secret_field(label, value) is expected


@pytest.mark.parametrize("value", ["hunter[2]", "p@ss(1)w0rd", "Qw3(rty)Uiop99!", "Azerty[12]!"])
def test_a_password_may_hold_brackets(value: str) -> None:
    assert find(f'{{"password": "{value}"}}', "SECRET") == [("SECRET", value)]
    for text in (f"password: {value}", f"mdp : {value}"):
        ((_, found),) = find(text, "SECRET")
        assert found.rstrip("])") == value.rstrip("])")


def test_a_call_or_an_index_is_no_password() -> None:
    text = "token = get1(); password = os.environ['X'] password=request.form[name] password = config(x).y"
    assert find(text, "SECRET") == []


BODY = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----"
KEYS = [
    f"sk-{BODY}",
    f"sk-proj-{BODY}",
    f"sk-ant-api03-{BODY}-_x",
    "AKIAIOSFODNN7EXAMPLE",
    f"ghp_{BODY}abcd",
    f"github_pat_11ABCDEFG0_{BODY}",
    f"glpat-{BODY[:20]}",
    "xoxb-123456789012-abcdefABCDEF",
    f"sk_live_{BODY}",
    f"AIza{BODY}abc",
    f"npm_{BODY}",
    f"pypi-AgEI{BODY}{BODY}",
    f"hf_{BODY}",
    f"SG.{BODY[:22]}.{BODY}",
    "AC0123456789abcdef0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_DEF123",
    PEM,
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:10])
def test_key_of_a_known_form(key: str) -> None:
    assert values(f"x {key}\ny", "SECRET") == [key]


KEY_STARTS = [
    "sk-proj-", "ghp_", "github_pat_", "glpat-", "xoxb-", "sk_live_", "whsec_", "AIza", "ya29.", "npm_",
    "pypi-", "hf_", "gsk_", "xai-", "pplx-", "SG.", "HRKU-", "lin_api_", "ATATT3", "hvs.", "glsa_", "sntrys_",
    "dp.pt.", "figd_", "https://hooks.slack.com/services/", "123456789:AA", "api_key: ", "token=", "password: ",
]  # fmt: skip


@pytest.mark.parametrize("start", KEY_STARTS)
@pytest.mark.parametrize("times", [7, 8, 40, 200])
def test_a_key_of_any_length_is_found_whole(start: str, times: int) -> None:
    body = BODY * times if start != "SG." else f"{BODY * times}.{BODY * times}"
    label = start if start[-1] in " =" else ""
    value = body if label else start + body
    assert values(f"x {label}{value}\ny", "SECRET") == [value]


def test_a_long_value_of_a_field_or_between_quotes_is_found_whole() -> None:
    assert secrets.is_secret_field("token", BODY * 30)
    for quote in "\"'":
        assert values(f"password: {quote}{BODY * 30}{quote}", "SECRET") == [BODY * 30]


SECRETS = [
    ("mot de passe : Soleil!42", ["Soleil!42"]),
    ("the password is hunter2. Passwort ist Sonne12!", ["hunter2", "Sonne12!"]),
    ("the password for the shared drive is Schatz3525!", ["Schatz3525!"]),
    ("le code wifi c'est x9vlKsqVpVm", ["x9vlKsqVpVm"]),
    ("Clave temporal: Dragon5264!", ["Dragon5264!"]),
    ("**Password:** hunter2", ["hunter2"]),
    ("DB_PASSWORD=s3cr3t dbPassword: s3cr4t", ["s3cr3t", "s3cr4t"]),
    ('MOT_DE_PASSE_BDD = "1K0qtc1iRl"', ["1K0qtc1iRl"]),
    ('"password": "letmein"', ["letmein"]),
    ("Server=db;Uid=sa;Password=P4ss;x=1", ["P4ss"]),
    ("x-api-key: a1b2c3d4e5, client_secret=Zx9-abcdefg8", ["a1b2c3d4e5", "Zx9-abcdefg8"]),
    ("curl -u mira:hunter2 https://x.example --token=abc123def", ["hunter2", "abc123def"]),
    ("Authorization: Bearer abc.def-123", ["abc.def-123"]),
    ("Authorization: Basic dXNlcjpwYXNz", ["dXNlcjpwYXNz"]),
    ("AccountKey=abcdEFGH1234abcdEFGH1234abcdEFGH1234==;E=1", ["abcdEFGH1234abcdEFGH1234abcdEFGH1234=="]),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]),
    ("Cookie: a=b; sessionid=abcdef123456; x=1", ["abcdef123456"]),
    ("PIN: 4821", ["4821"]),
    ("-----BEGIN PRIVATE KEY-----\nMIIE\nabc1", ["-----BEGIN PRIVATE KEY-----\nMIIE\nabc1"]),
    ("password: required, the password is wrong, token: string", []),
    ("password: ${PW} password=<password> password: *** password: $PW secret: your-secret-here", []),
    ("password = get_password() token = request.headers['x1'] password=self.password1", []),
    ("password is 8-character, base64-encoded; the token is expired; the password is wrong!", []),
    ("Authorization: Bearer <token>, Bearer YOUR_API_KEY_HERE_1", []),
    ("commit 14ae301f9b7c4d2e8a6b5c4d3e2f1a0b9c8d7e6f", []),
    ("40000052-6018-1590-8111-000000000000", []),
    ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA", []),
    ("max_tokens: 4096, next_page_token: abc123def456, color: #ff00aa1", []),
    ("class sk-folding-cube-animation sk-circle-fade-dot-two", []),
    ("secret: /run/secrets/db1 password: https://x.example/a1", []),
]


@pytest.mark.parametrize(("text", "expected"), SECRETS)
def test_secret(text: str, expected: list[str]) -> None:
    assert values(text, "SECRET") == expected


@pytest.mark.parametrize(
    "text",
    [
        "# README.md\nRun pytest tests/test_api.py then self.repo.Get(user_id) and std::vector<int> a::b",
        "Use S3, EKS and C4 diagrams in Terraform, see v1.2.3.4 of the module",
        "Run a 384-well duplicate (A1-4 – H1-4), figma file R12345678901234",
        "trace 40000052-6018-1590-8111-000000000000",
        "transform: translate(0%, -0.4000005260181590%)",
        "commit 14ae301f9b7c4d2e8a6b5c4d3e2f1a0b9c8d7e6f set in Times New Roman, Arial Black",
        "ISBN 978-3-16-148410-0, 2024-11-05T12:30:45.123Z, 1607635102000, order 4711002383",
    ],
)
def test_technical_text_holds_nothing(text: str) -> None:
    assert find(text) == []


HOSTILE = [
    "a.", "1-", "44-", "1 ", "4000 ", "12 12 ", "@", "a@a.", ":", "::", "a:", "a::1 ", ".", " ", "-", "QUJD", "0",
    "DE83 ", "de12", "+44 ", "+1", "(212) ", " at ", "(at)", "a://b:c@", "?key=", "password: ", "password is ",
    "token=a1b2c3d4;", "eyJ", "sk-", "curl ", "cookie: ", "-----BEGIN PRIVATE KEY-----", "account 12 ",
    "sort code 20", "00 ", "06 12 34 ", "1.1.1.1 ", "username: ",
    "password=1)))", "token: 1bit", "password: '", 'mdp: "a:', "order +33", "id: 00336",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_value_behind_hostile_padding_is_still_found(unit: str) -> None:
    padding = unit * (20_000 // len(unit))
    text = f"{padding}\n\nOther: omar.b@example.org, IBAN DE83 7099 9999 0123 4567 89."
    found = find(text, "EMAIL_ADDRESS", "IBAN_CODE")
    assert {("EMAIL_ADDRESS", "omar.b@example.org"), ("IBAN_CODE", "DE83 7099 9999 0123 4567 89")} <= set(found)


SURROUNDINGS = st.text(st.sampled_from("abc \n.,;()中文é*_“”–\u00a0\u200b&"), max_size=30)


def planted(before: str, value: str, after: str) -> str:
    return f"{before}\n{value} \n{after}"


@given(SURROUNDINGS, SURROUNDINGS, st.sampled_from(sorted(COUNTRIES)), st.integers(0, 10**6))
def test_payment_in_any_surroundings(before: str, after: str, country: str, seed: int) -> None:
    number = iban(country, seed)
    assert number in values(planted(before, number, after), "IBAN_CODE")
    card = "4" + f"{seed:014d}"
    card += luhn.calc_check_digit(card)
    if len(set(card)) > 2:
        grouped = " ".join(card[at : at + 4] for at in range(0, 16, 4))
        assert grouped in values(planted(before, grouped, after), "CREDIT_CARD")


LOCAL = st.from_regex(r"[a-z][a-z0-9]{0,8}([._+-][a-z0-9]{1,8}){0,2}", fullmatch=True)


@given(SURROUNDINGS, SURROUNDINGS, LOCAL, st.sampled_from(["example.com", "sub.example.co.uk", "bücher.example"]))
@example("中文", "", "n", "example.com")
def test_contact_in_any_surroundings(before: str, after: str, local: str, domain: str) -> None:
    address = f"{local}@{domain}"
    assert address in values(planted(before, address, after), "EMAIL_ADDRESS")
    number = f"+44 20 7946 0{len(before) % 10}{len(after) % 10}5"
    assert number in values(planted(before, number, after), "PHONE_NUMBER")


@given(
    SURROUNDINGS,
    SURROUNDINGS,
    st.ip_addresses(v=4, network="10.0.0.0/8"),
    st.ip_addresses(v=6, network="2001:db8::/32"),
)
def test_network_in_any_surroundings(before: str, after: str, four: object, six: object) -> None:
    for address in (str(four), str(six)):
        assert address in values(planted(before, address, after), "IP_ADDRESS")


@given(SURROUNDINGS, SURROUNDINGS, st.sampled_from(KEYS))
def test_secrets_in_any_surroundings(before: str, after: str, key: str) -> None:
    assert key in values(planted(before, key, after), "SECRET")


TERMS = ("Nightjar", "Night  Heron", "Blue+Fox", 'say "hi"\\now', "C++", "株式会社夜", "Blue")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(Blue+Fox) and blue+fox but not BlueFox", ["Blue+Fox", "blue+fox"]),
        ("NIGHTJAR, nightjar_2, Nightjars", ["NIGHTJAR", "nightjar"]),
        ("night\n heron NIGHT\u00a0HERON night-heron", ["night\n heron", "NIGHT\u00a0HERON"]),
        ('Say "hi"\\now', ['Say "hi"\\now']),
        ("I write C++.", ["C++"]),
        ("当社株式会社夜の件", ["株式会社夜"]),
        ("Blue+Foxes are Blue", ["Blue", "Blue"]),
        ("night", []),
    ],
)
def test_terms_of_a_list(text: str, expected: list[str]) -> None:
    among = tuple(build_custom([DenyTerms("PROJECT", TERMS)]))
    assert [value for _, value in look(text, among)] == expected


def test_thousands_of_terms_in_several_lists() -> None:
    many = tuple(f"Project {number} x" for number in range(5_000))
    among = tuple(build_custom([DenyTerms("PROJECT", many), DenyTerms("CODE", ("project 7 x",))]))
    assert len(among) == 1
    assert look("On Project 4999 X and project 7 x", among) == [
        ("PROJECT", "Project 4999 X"),
        ("CODE", "project 7 x"),
        ("PROJECT", "project 7 x"),
    ]


@given(SURROUNDINGS, SURROUNDINGS, st.sampled_from(TERMS[:3]))
def test_custom_in_any_surroundings(before: str, after: str, term: str) -> None:
    among = tuple(build_custom([DenyTerms("PROJECT", TERMS)]))
    assert ("PROJECT", term) in look(planted(before, term, after), among)


def test_expression_of_a_policy() -> None:
    rules = [
        CustomRule("EMPLOYEE_ID", r"EMP-\d{6}", ("employee",), 0.4),
        CustomRule("TICKET", r"tick-(?P<v>\d+)", ignore_case=True),
    ]
    among = tuple(build_custom(rules))
    assert look("EMP-123456, TICK-77", among) == [("TICKET", "77")]
    assert look("employee EMP-123456", among) == [("EMPLOYEE_ID", "EMP-123456")]


def test_recognizer_of_presidio() -> None:
    path = "presidio_analyzer.predefined_recognizers.UsSsnRecognizer"
    (recognizer,) = build_custom([Foreign(path, ("US_SSN",))])
    assert look("SSN 219-09-9999", (recognizer,)) == [("US_SSN", "219-09-9999")]
    assert recognizer.analyze("SSN 219-09-9999", ["PERSON"]) == []


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (CustomRule("A", "(?=x)a"), "A: not a regular expression in RE2 syntax"),
        (CustomRule("A", "(a"), "missing \\)"),
        (CustomRule("A", "a*"), "matches the empty text"),
        (DenyTerms("A", ("ok", " ")), "A: a term is empty"),
        (Foreign("nowhere.X"), "cannot be imported"),
        (Foreign("X"), "cannot be imported"),
        (Foreign("os.path"), "not a subclass"),
        (Foreign("presidio_analyzer.PatternRecognizer"), "cannot be built without arguments"),
        (Foreign("presidio_analyzer.predefined_recognizers.UsSsnRecognizer", ("DE_KFZ",)), "does not recognize DE_KFZ"),
    ],
)
def test_a_declaration_that_cannot_work(spec: CustomRule | DenyTerms | Foreign, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        build_custom([spec])
