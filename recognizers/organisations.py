"""Organisations by what their name itself says: a legal form, `X and Sons`, `Clinique X`, `Hospital X`, `Banco X`.

Works in any language and without a model. May import: its neighbours in this package, presidio_analyzer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from presidio_analyzer import EntityRecognizer

from recognizers.base import Rule, RuleRecognizer, Span, fold
from recognizers.ordinary import inner
from recognizers.words import CALENDAR, FUNCTION, word_set

_FORM = (
    r"(?:GmbH & Co\.? (?:KG|KGaA|OHG)|GmbH|mbH|gGmbH|AG|KGaA|KG|OHG|GbR|UG(?: \(haftungsbeschränkt\))?|e\.\s?V\."
    r"|e\.\s?K\.|eG|SE|"
    r"S\.?A\.?R\.?L\.?|S\.?A\.?S\.?U?|S\.?A\.?|S\.?C\.?I\.?|SNC|S\.?N\.?C\.?|EURL|E\.?I\.?R\.?L\.?|S\.?C\.?P\.?"
    r"|S\.?C\.?O\.?P\.?|GIE|"
    r"S\.?L\.?U?\.?|S\.?L\.?L\.?|S\.?A\.?U\.?|S\.?Com\.?|C\.B\.|S\.?Coop\.?|S\.?r\.?l\.?s?\.?|s\.?r\.?l\.?s?\.?"
    r"|S\.?p\.?[aA]\.?|SPA|SRL|"
    r"S\.?a\.?s\.?|S\.?n\.?c\.?|Inc\.?|Incorporated|LLC|L\.L\.C\.|LLP|L\.L\.P\.|Ltd\.?|Limited|PLC|plc|Corp\.?"
    r"|Corporation|Co\.|Pty\.? Ltd\.?|"
    r"B\.?V\.?|N\.?V\.?|ApS|A/S|AB|Oy|AS|Sp\. z o\.o\.|Lda\.?|Ltda\.?|Holdings?|Partners|"
    r"and Sons|& Sons|and Company|& Co\.?|and Partners|et Fils|et Cie|& Cie|& Fils|& Söhne|und Söhne|& Partner"
    r"|y Hijos|y Asociados|"
    r"e figli|e Figli|& Figli|& Associati|e Associati|& Associés|et Associés|& Associates|and Associates)"
)
_WORD = r"[\p{Lu}\d][\pL\d'’&.\-]{0,30}"
_LINK = r"(?:(?:de la|de los|de las|de|del|della|des|du|di|da|la|le|of|for|the|and|und|et|y|e|&|\+)\s)"
_OF = r"(?:(?:de la|de los|de las|de|del|della|des|du|di|da|la|le|of|for the|am|an der)\s)"
_NAME = rf"{_WORD}(?:,? {_LINK}{{0,2}}{_WORD}){{0,5}}"
_KIND = (
    r"(?:Hôpital|Hôpitaux|Clinique|Polyclinique|Maternité|EHPAD|CHU|CHRU|CHR|Cabinet|Laboratoire|Pharmacie|Lycée"
    r"|Collège|"
    r"École|Université|Mutuelle|Banque|Crédit|Caisse|Mairie|Tribunal|Groupe|Société|Association|Fondation|Institut|"
    r"Hospital|Clínica|Centro de Salud|Centro Médico|Ambulatorio|Universidad|Instituto|Colegio|Banco|Caja|Ayuntamiento|"
    r"Fundación|Asociación|Grupo|Farmacia|Residencia|Ospedale|Policlinico|Clinica|Istituto|Università|Liceo|Banca"
    r"|Comune|"
    r"Azienda|Fondazione|Associazione|Gruppo|Casa di Cura|Klinikum|Klinik|Krankenhaus|Universitätsklinikum"
    r"|Hausarztpraxis|"
    r"Gemeinschaftspraxis|Praxis|Universität|Gymnasium|Sparkasse|Volksbank|Apotheke|Stiftung|Bank of|University of|"
    r"Church of)"
)
_KIND_BEHIND = (
    r"(?:Hospital|Infirmary|Clinic|Medical Center|Medical Centre|Health Centre|Health Center|Health|Surgery|Hospice"
    r"|University|"
    r"College|School|High School|Elementary|Academy|Institute|Bank|Savings|Insurance|Pharmacy|Foundation|Church"
    r"|Nursing Home|"
    r"Care Home|Rehabilitation Center|Laboratories|Labs|Group|Industries|Solutions|Technologies|Systems|Consulting"
    r"|Services|"
    r"Seguros|Consultores|Conseil|Assurances|Krankenhaus|Klinikum|Klinik|Universität|Versicherung|Verlag|Werke"
    r"|Stiftung|"
    r"Assicurazioni|Servizi)"
)
_PLACE = r"\p{Lu}[\pL'’\-]{1,30}(?:[ \-](?:(?:sur|en|la|le|de|del|sous) )?\p{Lu}[\pL'’\-]{1,30}){0,2}"
_PLAIN = word_set(
    "general public local community private regional national our your this that my any new old big small primary "
    "high health "
    "the a first good best city state county main open free nursing care royal saint central online mental home"
)


class OrganisationRecognizer(RuleRecognizer):
    """Leaves out what is only a kind of house: `the General Hospital`, `Public Health`."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for span in super().spans(rule, text):
            start, value = span.start, text[span.start : span.end]
            words = re.findall(r"[^\W_]+", fold(value))
            lead = re.match(r"(?:[^\W\d_]+ )+", value)
            while lead and words and (words[0] in FUNCTION or words[0] in CALENDAR) and " " in value:
                cut = value.index(" ") + 1
                start, value, words = start + cut, value[cut:], words[1:]
            own = [word for word in words if word not in _PLAIN and word not in FUNCTION]
            least = 1 if rule.name in ("legal form", "employer", "house of a place") else 2
            if len(own) >= least and any(len(word) > 1 for word in own) and words and not words[0].isdigit():
                place = inner(text, start, span.end)
                if place:
                    yield span._replace(start=place[0], end=place[1])


_OF_A_PLACE = (
    r"(?:(?i:tribunal (?:correctionnel|administratif|judiciaire|de (?:grande |première )?instance|de commerce"
    r"|pour enfants|de police)|cour (?:d['’]appel|d['’]assises|administrative d['’]appel)|conseil (?:de prud['’]hommes"
    r"|général|départemental|régional|municipal)|barreau|parquet|préfecture|sous-préfecture|mairie|commissariat"
    r"|maison d['’]arrêt|centre (?:pénitentiaire|de détention|hospitalier)|hôpital (?:psychiatrique|universitaire)"
    r"|tribunale|corte d['’]appello|procura della repubblica|giudice di pace|casa circondariale|questura"
    r"|audiencia provincial|tribunal superior de justicia|centro penitenciario|comisaría(?: de policía)?"
    r"|colegio de abogados|ayuntamiento|juzgado (?:central |mixto )?(?:de |de lo )?[\pL\-]{4,30}(?: [\pL\-]{1,15}){0,2}"
    r"(?: n[.ºª°o]{1,2} ?\d{1,2})?) (?:de |d['’]|du |des |di |del )(?:la |las |los |l['’]|les )?)"
)
_GERMAN_COURT = r"(?:Amts|Land|Oberlandes|Verwaltungs|Arbeits|Sozial|Finanz)gericht"
_ENGLISH_COURT = r"(?:Crown|County|District|Regional|Magistrates['’]?|Superior|Circuit|Appeal) Court"
_SHOUTED = (
    r"(?:H[ÔO]PITA(?:L|UX)|CLINIQUE|POLYCLINIQUE|CENTRE HOSPITALIER(?: UNIVERSITAIRE| R[ÉE]GIONAL)?|KLINIKUM"
    r"|KRANKENHAUS|KLINIK|HOSPITAL|CL[ÍI]NICA|OSPEDALE)"
    r"(?: (?:UNIVERSITARIO|DE|DU|DES|LA|LE|LES|D[’']|DEL|DI|SAN|SANTA))*"
)
_RULES = (
    Rule(
        "ORGANIZATION", "kind before, in capitals", rf"{_SHOUTED}(?:[ \-]\p{{Lu}}[\p{{Lu}}’']{{2,30}}){{1,4}}", bare=0.7
    ),
    Rule(
        "ORGANIZATION",
        "house of a place",
        rf"{_OF_A_PLACE}{_PLACE}|{_GERMAN_COURT} {_PLACE}|{_PLACE} {_ENGLISH_COURT}",
        bare=0.7,
    ),
    Rule("ORGANIZATION", "legal form", rf"{_NAME},? {_FORM}", bare=0.8),
    Rule("ORGANIZATION", "kind before", rf"{_KIND}(?:[ \-]{_OF}{{0,2}}{_WORD}){{1,5}}", bare=0.7),
    Rule("ORGANIZATION", "kind behind", rf"(?:(?:{_WORD} (?:{_OF})?){{1,4}}|{_WORD}-){_KIND_BEHIND}", bare=0.7),
    Rule(
        "ORGANIZATION",
        "family firm",
        r"\p{Lu}\pL{2,20}, \p{Lu}\pL{2,20} (?:and|&|et|und|y|e) \p{Lu}\pL{2,20}",
        bare=0.6,
    ),
    Rule(
        "ORGANIZATION",
        "employer",
        r"(?:(?i:work(?:s|ed|ing)? (?:at|for)|employed (?:at|by)|driving for|travaille (?:chez|pour)|bosse chez"
        r"|employée? chez|"
        r"assurée? chez|salariée? de|la société|la sociedad|la ditta|la società|die firma|arbeite (?:bei|für)"
        r"|arbeitet (?:bei|für)|"
        r"trabajo en|trabaja en|trabajo para|lavoro (?:per|presso)|lavora (?:per|presso)|devis transmis par"
        r"|documents? from)) "
        rf"(?P<v>{_NAME})",
        bare=0.7,
    ),
)


def build() -> list[EntityRecognizer]:
    return [OrganisationRecognizer("organisation", _RULES)]
