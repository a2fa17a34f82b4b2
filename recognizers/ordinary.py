"""Is what a model calls an organisation or a place only an ordinary thing? A post, a field, a ward, a program, a court.

Models mark what is written with a capital: `Head of Operations`, `Nationality:`, `PostgreSQL 15`, `ECG`, `la Cour`.
None of these names anybody. A phrase goes only if every word of it is of such a kind; where a name stands beside, the
name stays (`Analyst, Halden LLC`). Pure. May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recognizers.base import Span, fold
from recognizers.lexicon import Lexicon
from recognizers.shape import tokens
from recognizers.things import is_eponym, is_thing
from recognizers.words import CALENDAR, FUNCTION, OFFICES, SUFFIXES, TECHNICAL, TITLES, word_set

_POSTS = OFFICES | word_set(
    "account accounts senior junior deputy assistant associate vice head lead principal staff interim regional global "
    "manager managers director directors engineer engineers analyst analysts developer consultant architect officer "
    "executive counsel attorney lawyer solicitor clerk operations operating sales marketing finance financial data "
    "software product project program quality purchasing procurement logistics hr legal compliance technical customer "
    "claims support success business development research human resources relations security service nurse "
    "practitioner teacher coordinator supervisor administrator representative specialist technician trainee intern "
    "directeur directrice adjoint adjointe responsable gestionnaire ingenieur ingenieure analyste chef cheffe charge "
    "chargee comptable assistante juriste commercial commerciale achats ventes ressources humaines projet donnees "
    "interne externe praticien praticienne hospitalier hospitaliere attache attachee agregee assistant chirurgien "
    "leiter leiterin leitung abteilung stellvertretender oberarzt oberarztin chefarzt chefarztin assistenzarzt arzt "
    "facharzt sachbearbeiter geschaftsfuhrer geschaftsfuhrerin gerente jefe jefa responsabile impiegato dirigente"
)
_FIELDS = word_set(
    "customer client customers clients patient nationality sex gender accession specimen sample record medical exhibit "
    "annex appendix schedule section article clause recital deposition affidavit hearing witness testimony repair "
    "estimate quote colour color codes code sort hotel flight seat booking reference passenger ticket item subtotal "
    "total amount invoice order tracking education experience skills summary references languages gpa bsc "
    "msc mba phd beng degree mathematics physics computer science engineering employer employee name names "
    "national insurance social security medicare medicaid policy member group plan kyc aml gdpr device address "
    "prenom prenoms nom naissance objet lieu date experience formation competences employeur salarie bailleur "
    "locataire preneur vendeur acquereur societaire sinistre assure assuree securite sociale mutuelle amo amc nda nip "
    "ipp ins nir ddn tel fax urgent confidentiel isbn ean iva cif p.iva partita seguridad social numero n.o no primera "
    "segunda tercera cuarta quinta sexta primero segundo tercero alta ingreso informe paciente ciudad arrendador "
    "arrendatario locatore conduttore venditore acquirente vermieter vermieterin mieter mieterin kaufer "
    "verkaufer auftraggeber auftragnehmer versicherte patientin kunde kundin anamnese befund diagnose diagnosen "
    "npi itin ein tin ssn mrn dea usd eur gbp chf "
    "therapie epikrise verlauf procedere labor medikation aufnahme entlassung hausarzt ticket jira"
)
_CLINICAL = word_set(
    "avc ait hta ecg eeg emg efr irm tdm tep pet scanner radio echo ett eto eva oms imc bmi ta fc fr sao2 crp vs hb "
    "nfs inr tp tca dfg gfr egfr ckd epi mdrd hba1c ldl hdl tsh psa vih hiv vhb vhc hbv hcv bk covid sars bpco copd "
    "sep ida idm sca fa acfa hbpm avk aod ains iec ara2 ipp bmr eoh hdj uhcd sau urgences smur samu rea usi usic "
    "uscs ssr soins longue duree ehpad hdt mco pmsi ccam cim icd ap rcp irm pac chimio radiotherapie kardegic lovenox "
    "doliprane augmentin tahor levothyrox metformine paracetamol ibuprofene methotrexate cortancyl ct mri icu ed er "
    "picu nicu bp hr rr cbc bmp cmp lft tft ekg cxr ua uti mi chf cad dvt pe tia cva dm htn gcs asa nyha gold cha2ds2 "
    "vasc apache sofa curb wells child pugh barthel mmse moca phq gad aptt ptt wbc rbc mcv plt na k cl bun alt ast ggt "
    "ldh ckmb hemoglobin haemoglobin hematocrit troponin creatinine glucose sodium potassium leukocytes platelets "
    "vitamin ekg mrt roentgen rontgen sono usk cct opt endo gastro colo aiha ehec mrsa esbl tac rmn tc ecografia "
    "analitica hemograma rx aas uci eco vsg pcr tomografia"
)
_WARDS = word_set(
    "service services unite unites pole departement department dept ward clinic consultation consultations hopital "
    "jour medecine interne generale chirurgie digestive viscerale orthopedie orthopedique traumatologie cardiologie "
    "pneumologie neurologie neurochirurgie nephrologie rhumatologie dermatologie endocrinologie diabetologie "
    "gastroenterologie hepatologie hematologie oncologie cancerologie urologie gynecologie obstetrique pediatrie "
    "neonatologie psychiatrie geriatrie gerontologie infectieuses tropicales maladies reanimation anesthesie urgences "
    "radiologie imagerie medicale biologie biochimie bacteriologie virologie pharmacie anatomopathologie anatomie "
    "pathologique ophtalmologie orl stomatologie allergologie immunologie genetique readaptation reeducation "
    "cardiology pulmonology neurology neurosurgery nephrology rheumatology dermatology endocrinology gastroenterology "
    "hematology oncology urology gynecology obstetrics pediatrics psychiatry geriatrics radiology pathology "
    "orthopedics orthopaedics surgery internal medicine emergency intensive care unit outpatient inpatient "
    "laboratory laboratoire radiotherapy kardiologie pneumologie neurologie innere medizin chirurgie station ambulanz "
    "notaufnahme intensivstation radiologie urologie nuklearmedizin cardiologia neumologia neurologia urgencias "
    "cirugia medicina interna consulta externa servicio unidad planta pronto soccorso reparto"
)
_COURT = word_set(
    "cour court courts tribunal tribunaux tribunales gouvernement government gobierno governo etat estado stato "
    "convention convenio convenzione chambre sala cedh echr tedh requerant requerante applicant demandante greffe "
    "greffier parquet juge juges judge judges juez jueces republique republica arret sentencia"
)
_OF_COURTS = _COURT | word_set(
    "chamber grande gran seccion section ministere public ministerio fiscal europeenne european europeo europea droits "
    "homme human rights derechos humanos libertes fondamentales liberties freedoms conseil council consejo europe "
    "europa ministres ministers ministros supremo suprema supreme constitucional constitutional constitutionnel "
    "constitutionnelle nacional audiencia cassation casacion cassazione appel apelacion superior superieur justicia "
    "justice correctionnel administratif comite committee commission comision francaise procureur general constitution "
    "constitucion code codigo president presidente secretario registrar union"
)
_PROGRAMS = TECHNICAL | word_set(
    "unix "
    "oracle windows mozilla firefox nt office mysql mariadb sqlite mongodb redis server sql db2 sap salesforce hubspot "
    "android ios safari webkit gecko applewebkit khtml intel core ryzen xeon gitlab circleci sonarqube jupyter numpy "
    "pandas pytorch tensorflow keras openssl nginx tomcat wordpress drupal joomla magento shopify stripe zoom teams"
)
_PLAIN = _POSTS | _FIELDS | _CLINICAL | _WARDS | _PROGRAMS | FUNCTION | CALENDAR | TITLES | SUFFIXES
_BRANDS = word_set(
    "apple amazon shell target orange oracle visa gap sprint boots next uber free total meta alphabet caterpillar "
    "polaroid virgin subway square stripe slack zoom box lotus puma jaguar ford time fortune economist guardian post "
    "sun independent mirror express sky channel bell rogers chase citizens ally discover progressive allstate"
)
"""Companies that are called like a plain word."""
_CARDS = word_set("visa mastercard amex maestro")
_CARD_AFTER = re.compile(r"[ ]?[:(]?[ ]?(?:[\dxX*•]{2}|(?:card|debit|credit|ending)\b)", re.IGNORECASE)
_HOUSE = re.compile(
    r"(?<![^\W_])(?:hopital|hopitaux|chu|chru|chr|clinique|polyclinique|centre hospitalier|ehpad|hospital|klinikum"
    r"|klinik|krankenhaus|ospedale|clinica)(?![^\W_])"
)
_SEGMENT = re.compile(r"(?:, | [-–—] |: |\. (?=[^\W\d_]))")
_DATED = re.compile(r"[ ](?:le |du |the |el |am |il |on )?\d{1,2}[/.\-]\d{1,2}(?:[/.\-]\d{2,4})?$")
_VERSION = re.compile(r"[ /]v?\d+(?:\.\d+)+|/\d")
_LABEL_AFTER = re.compile(r"[ \t\u00a0]*(?:[:=]|[ \t]{2,}|\t|\|)|[ ]\d|\.(?:\s|$)|$", re.MULTILINE)
_FIELD_AFTER = re.compile(r"[ \t]*(?:[:=.)\n|]|[ \t]{2,}|$)|[ ](?:[A-Z]{2})?\d")
_PROSE_AFTER = re.compile(r"(?:['’]s)?[ ][a-zà-ÿ]")
_LINE_START = re.compile(r"(?:^|[\n|\t]|[ ]{2,}|[.!?:][ ])[ \t>*#\-]*$")


def kept(text: str, found: Iterable[Span], lexicon: Lexicon) -> list[Span]:
    """What models found in `text`, without what is an ordinary thing."""
    left: list[Span] = []
    for span in found:
        if span.entity != "PERSON":
            left += names(text, span, lexicon)
        elif not is_thing(text, span, lexicon) and not _is_label(text, span.start, span.end):
            left.append(span)
    return left


def names(text: str, span: Span, lexicon: Lexicon) -> Iterator[Span]:
    """What is left of an organisation or place that a model marked in `text`; nothing if it is an ordinary thing."""
    if is_eponym(text, span):
        return
    place = inner(text, span.start, span.end)
    if place and not _is_heading(text, *place, lexicon):
        yield span._replace(start=place[0], end=place[1])


def inner(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The part of a phrase that is not ordinary; None if there is none."""
    start, end = _inner(text, *_house(text, start, end))
    return None if start >= end or _is_plain(text, start, end) else (start, end)


def _house(text: str, start: int, end: int) -> tuple[int, int]:
    """`Medecine Interne de l'hopital Halden`: the house, without its ward before."""
    found = _HOUSE.search(fold(text[start:end]))
    if found and found.start() and _is_plain(text, start, start + found.start()):
        return start + found.start(), end
    return start, end


def _inner(text: str, start: int, end: int) -> tuple[int, int]:
    """Without plain parts before and behind: `Analyst, Halden LLC`, `Halden SA. Compte bancaire`."""
    if dated := _DATED.search(text[start:end]):
        end = start + dated.start()
    cuts = [match.span() for match in _SEGMENT.finditer(text, start, end)]
    while cuts and _is_plain(text, start, cuts[0][0]):
        start = cuts.pop(0)[1]
    while cuts and _is_plain(text, cuts[-1][1], end):
        end = cuts.pop()[0]
    return start, end


def _is_plain(text: str, start: int, end: int) -> bool:
    words = tokens(text, start, end)
    if not words:
        return False
    parts = [part for word in words for part in re.split(r"[-'’.]", word.folded) if part]
    if all(part in _OF_COURTS or part in FUNCTION or len(part) == 1 for part in parts):
        return any(part in _COURT for part in parts) or all(part in FUNCTION for part in parts)
    numbered = any(char.isdigit() for char in text[start:end])
    if numbered and words[0].folded not in _FIELDS | _PROGRAMS:
        return False
    return all(part in _PLAIN or len(part) <= 1 + numbered for part in parts)


def _is_heading(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """A plain word that begins a line, cell or sentence, and a product before its version."""
    words, after = tokens(text, start, end), text[end : end + 12]
    if _VERSION.match(after) and len(words) <= 2:
        return True
    if len(words) == 1 and words[0].folded in _CARDS and _CARD_AFTER.match(after):
        return True
    if len(words) != 1 or words[0].folded in _BRANDS or not lexicon.is_common(words[0].folded):
        return False
    begins = _LINE_START.search(text[max(0, start - 8) : start]) is not None
    return begins and (_LABEL_AFTER.match(after) or _PROSE_AFTER.match(after)) is not None


def _is_label(text: str, start: int, end: int) -> bool:
    """`ALTA`, `P. IVA`, `Segunda.`: what a form calls its fields, marked as somebody."""
    words = tokens(text, start, end)
    parts = [part for word in words for part in word.folded.split(".") if part]
    named = bool(parts) and all(part in _FIELDS or len(part) == 1 for part in parts) and any(len(p) > 1 for p in parts)
    return named and _FIELD_AFTER.match(text[end : end + 8]) is not None
