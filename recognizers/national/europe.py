"""National numbers of Europe whose form and check digit python-stdnum knows, one row each.

May import: recognizers.base, recognizers.national.common, recognizers.national.table, python-stdnum.
"""

from __future__ import annotations

from stdnum.bg import egn
from stdnum.cz import rc
from stdnum.dk import cpr
from stdnum.fi import hetu
from stdnum.gr import amka
from stdnum.hr import oib
from stdnum.ie import pps
from stdnum.no import fodselsnummer
from stdnum.pt import nif as pt_nif
from stdnum.ro import cnp
from stdnum.se import personnummer

from recognizers.base import digits, stdnum_check
from recognizers.national.common import has_digits
from recognizers.national.table import Number


def _as_written(value: str) -> str:
    return value.replace(" ", "")


NUMBERS: tuple[Number, ...] = (
    Number(
        "PT_NIF",
        "Tax number of Portugal",
        (
            "nif",
            "contribuinte",
            "n° de contribuinte",
            "número de contribuinte",
            "número fiscal",
            "portuguese tax number",
        ),
        r"[1235689]\d{2} ?\d{3} ?\d{3}",
        r"\d{3} ?\d{3} ?\d{3}",
        stdnum_check(pt_nif, digits),
        "Contribuinte n.º 299 999 998",
        "299 999 998",
        "modulo 11 and a label",
        "Decreto-Lei n.º 14/2013; stdnum.pt.nif",
    ),
    Number(
        "SE_PERSONNUMMER",
        "Personal identity number of Sweden",
        ("personnummer", "pers nr", "personnr", "samordningsnummer", "swedish personal number", "swedish id"),
        r"(?:19|20)?\d{6}[\-+]\d{4}|(?:19|20)?\d{10}",
        r"(?:19|20)?\d{6} ?[\-+]? ?\d{4}",
        stdnum_check(personnummer, _as_written),
        "personnummer 900101-9984",
        "900101-9984",
        "birth date and Luhn; label or usual grouping",
        "Folkbokföringslag (1991:481) § 18; stdnum.se.personnummer",
        grouped=r"(?:19|20)?\d{6}-\d{4}",
    ),
    Number(
        "DK_CPR",
        "CPR number of Denmark",
        ("cpr", "cpr nr", "cpr nummer", "personnummer", "danish id"),
        r"\d{6}-?\d{4}",
        r"\d{6} ?-? ?\d{4}",
        stdnum_check(cpr, digits),
        "CPR-nr. 010190-9900",
        "010190-9900",
        "birth date and a label",
        "CPR-loven; stdnum.dk.cpr",
    ),
    Number(
        "NO_FNR",
        "Birth number of Norway",
        ("fødselsnummer", "fodselsnummer", "fnr", "personnummer", "d nummer", "norwegian id"),
        r"\d{6} ?\d{5}",
        r"\d{6} ?\d{5}",
        stdnum_check(fodselsnummer, digits),
        "Fødselsnummer 010190 90058",
        "010190 90058",
        "birth date, two check digits and a label",
        "Folkeregisterforskriften; stdnum.no.fodselsnummer",
    ),
    Number(
        "FI_PERSONAL_IDENTITY_CODE",
        "Personal identity code of Finland",
        (
            "henkilötunnus",
            "hetu",
            "sosiaaliturvatunnus",
            "personbeteckning",
            "finnish id",
            "finnish personal identity code",
        ),
        r"\d{6}[\-+ABCDEFYXWVU]\d{3}[0-9A-FHJ-NPR-Y]",
        r"(?i:\d{6}[\-+A-FU-Y]\d{3}[0-9A-Z])",
        stdnum_check(hetu, _as_written),
        "henkilötunnus 010190-899N",
        "010190-899N",
        "birth date and check character, or a label",
        "Valtioneuvoston asetus 128/2010; stdnum.fi.hetu",
        bare=0.8,
    ),
    Number(
        "IE_PPS",
        "Personal public service number of Ireland",
        ("pps", "pps number", "pps no", "ppsn", "personal public service number"),
        r"\d{7}[A-W][ABHWTX]?",
        r"(?i:\d{7} ?[A-W][ABHWTX]?)",
        stdnum_check(pps),
        "PPS number 9999998WA",
        "9999998WA",
        "check letter modulo 23 and a label",
        "Social Welfare Consolidation Act 2005, s. 262; stdnum.ie.pps",
    ),
    Number(
        "RO_CNP",
        "Personal numeric code of Romania",
        ("cnp", "cod numeric personal", "romanian personal number"),
        r"[1-9]\d{12}",
        r"\d{13}",
        stdnum_check(cnp, digits),
        "CNP 1900101529982",
        "1900101529982",
        "birth date, county, modulo 11 and a label",
        "OUG 97/2005; stdnum.ro.cnp",
    ),
    Number(
        "CZ_BIRTH_NUMBER",
        "Birth number of Czechia and Slovakia",
        ("rodné číslo", "rodne cislo", "r.č.", "rodné č", "birth number"),
        r"\d{6}/?\d{3,4}",
        r"\d{6} ?/? ?\d{3,4}",
        stdnum_check(rc, _as_written),
        "rodné číslo 900101/9984",
        "900101/9984",
        "birth date, modulo 11; label or usual grouping",
        "Zákon č. 133/2000 Sb.; stdnum.cz.rc",
        grouped=r"\d{6}/\d{4}",
    ),
    Number(
        "GR_AMKA",
        "Social security number of Greece",
        ("amka", "αμκα", "α.μ.κ.α.", "greek social security number"),
        r"\d{11}",
        r"\d{11}",
        stdnum_check(amka, digits),
        "AMKA 01019099991",
        "01019099991",
        "birth date, Luhn and a label",
        "Law 3655/2008; stdnum.gr.amka",
    ),
    Number(
        "BG_EGN",
        "Civil number of Bulgaria",
        ("egn", "егн", "единен граждански номер", "bulgarian personal number"),
        r"\d{10}",
        r"\d{10}",
        stdnum_check(egn, digits),
        "EGN 9001019985",
        "9001019985",
        "birth date, modulo 11 and a label",
        "Civil Registration Act, art. 11; stdnum.bg.egn",
    ),
    Number(
        "HR_OIB",
        "Personal number of Croatia",
        ("oib", "osobni identifikacijski broj", "croatian id"),
        r"\d{11}",
        r"\d{11}",
        stdnum_check(oib, digits),
        "OIB 99999999902",
        "99999999902",
        "ISO 7064 mod 11, 10 and a label",
        "Zakon o OIB-u; stdnum.hr.oib",
        stated_check=has_digits(11, 11),
    ),
)

RULES = tuple(rule for number in NUMBERS for rule in number.rules())
ENTITIES = tuple(number.row() for number in NUMBERS)
