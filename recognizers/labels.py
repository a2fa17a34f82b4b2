"""Field names and what they say about the value behind them, English and French.

May import: recognizers.base, the standard library.
"""

from __future__ import annotations

import re
from enum import IntEnum
from types import MappingProxyType

from recognizers.base import fold


class Tier(IntEnum):
    """How much a label proves. A value must look the more like a name, the less its label says so."""

    GUESS = 0
    """No label but a turn of phrase (`I'm X`, `X:` at a line's start): only a given name is believed."""
    WEAK = 1
    """The label often means something else: `name` of a build step, `from` a range, `owner` root."""
    ROLE = 2
    """The label means a person, but what follows may be a sentence about them."""
    TITLE = 3
    """A form of address: whatever capitalised word follows is a name, unless it is an office."""
    NAME = 4
    """The label means a part of a name: whatever stands there is one."""


def _labels(text: str) -> frozenset[str]:
    return frozenset(fold(label.strip()) for label in text.split(","))


def _tier(tier: Tier, text: str) -> dict[str, Tier]:
    return dict.fromkeys(_labels(text), tier)


PERSON: MappingProxyType[str, Tier] = MappingProxyType(
    {
        **_tier(
            Tier.NAME,
            "first name, firstname, fname, given name, given names, givenname, forename, forenames, middle name, "
            "middlename, "
            "last name, lastname, lname, surname, surnames, family name, familyname, maiden name, birth name, "
            "full name, "
            "fullname, legal name, preferred name, patient name, patient's name, name of patient, customer name, "
            "client name, "
            "employee name, student name, contact name, card holder, cardholder, cardholder name, card holder name, "
            "account holder, account holder name, beneficiary name, account name, recipient name, sender name, "
            "applicant name, author name, user full name, doctor name, physician name, holder name, name on card, "
            "mother's maiden name, nom de famille, nom de naissance, nom d'usage, nom de jeune fille, nom d'epouse, "
            "nom et prenom, nom et prenoms, nom prenom, nom/prenom, prenom nom, prenom et nom, noms et prenoms, "
            "nom complet, "
            "prenom, prenoms, prenom(s), nom(s), nom du patient, nom de la patiente, nom du client, nom du titulaire, "
            "nom du salarie, titulaire du compte, titulaire, nom marital, vorname, nachname, nombre, apellido, "
            "apellidos, "
            "cognome, achternaam, voornaam",
        ),
        **_tier(
            Tier.NAME,
            "familienname, geburtsname, rufname, vollstandiger name, name des patienten, name der patientin, "
            "patientenname, name und vorname, vor- und nachname, vor und nachname, name vorname, kontoinhaber, "
            "karteninhaber, ansprechpartner, ansprechpartnerin, nombre y apellidos, nombre completo, nombres, "
            "apellidos y nombre, primer apellido, segundo apellido, nombre del paciente, nombre del titular, "
            "titular de la cuenta, nombre del cliente, nombre de pila, nome, nome e cognome, cognome e nome, "
            "cognome nome, nome completo, nome del paziente, intestatario, intestatario del conto, nominativo, "
            "nome del cliente, nome di battesimo",
        ),
        **_tier(
            Tier.ROLE,
            "patient, patiente, child, carer, parent/carer, provider, ordering provider, requesting provider, "
            "declarant, garant, employeur actuel, proche, ayant droit, doctor, physician, treating physician, "
            "attending physician, attending, referring physician, "
            "consultant, surgeon, nurse, therapist, gp, next of kin, emergency contact, parent, guardian, mother,"
            " father, "
            "spouse, husband, wife, son, daughter, customer, client, employee, candidate, applicant, student, "
            "teacher, tenant, "
            "landlord, buyer, seller, beneficiary, insured, policyholder, policy holder, claimant, plaintiff, "
            "defendant, "
            "witness, lawyer, attorney, judge, notary, passenger, guest, traveller, traveler, driver, member, holder, "
            "signed, signed by, signature, signatory, author, authors, written by, prepared by, reviewed by, "
            "approved by, "
            "reported by, requested by, created by, assigned to, assignee, reporter, reviewer, approver, submitted by, "
            "manager, line manager, supervisor, attendees, participants, present, speaker, interviewer, interviewee, "
            "sales rep, account manager, contact person, person, attn, attention, bill to, ship to, sold to, "
            "billed to, "
            "deliver to, invoice to, caller, cc, bcc, reply to, sender, recipient, "
            "nom, medecin, medecin traitant, docteur, praticien, chirurgien, infirmier, infirmiere, interne, internes, "
            "externe, senior, chef de service, correspondant, personne a prevenir, personne de confiance, pere, "
            "mere, conjoint, "
            "epoux, epouse, mari, fils, fille, enfant, tuteur, representant legal, cliente, salarie, salariee, "
            "employe, "
            "employee, candidat, candidate, eleve, etudiant, etudiante, locataire, bailleur, proprietaire, "
            "acheteur, vendeur, "
            "beneficiaire, assure, assuree, adherent, demandeur, demanderesse, defendeur, temoin, avocat, "
            "avocate, juge, "
            "notaire, passager, voyageur, conducteur, signe, signe par, signataire, auteur, auteurs, redige par, "
            "etabli par, valide par, cree par, suivi par, affaire suivie par, responsable, gestionnaire, dossier "
            "suivi par, "
            "patientin, versicherter, versicherte, kunde, kundin, mieter, mieterin, vermieter, vermieterin, arzt, "
            "arztin, hausarzt, hausarztin, behandelnder arzt, chefarzt, oberarzt, angehorige, angehoriger, "
            "vorgesetzte, vorgesetzter, bearbeiter, bearbeiterin, sachbearbeiter, sachbearbeiterin, mitarbeiter, "
            "mitarbeiterin, antragsteller, antragstellerin, klager, klagerin, beklagter, beklagte, zeuge, zeugin, "
            "rechtsanwalt, rechtsanwaltin, notar, notarin, empfanger, absender, verfasser, unterzeichner, fahrer, "
            "fahrerin, teilnehmer, gezeichnet, gez, unterschrift, z. hd, z.hd, zu handen, bewerber, bewerberin, "
            "schuler, "
            "ehefrau, ehemann, vater, mutter, sohn, tochter, notfallkontakt, kontaktperson, betreuer, "
            "paciente, medico, medico responsable, medico de cabecera, doctora, enfermera, enfermero, familiar, "
            "contacto familiar, contacto, agente, empleado, empleada, trabajador, trabajadora, titular, asegurado, "
            "asegurada, arrendador, arrendadora, arrendatario, arrendataria, inquilino, inquilina, comprador, "
            "vendedor, "
            "demandante, demandado, demandada, testigo, abogado, abogada, juez, notario, firmado, firma, firmado por, "
            "remitente, autor, alumno, alumna, conductor, conductora, padre, madre, hijo, hija, conyuge, esposo, "
            "esposa, responsable directo, superior, supervisora, solicitante, candidato, a la atencion de, atn, "
            "paziente, medico curante, medico di base, medico richiedente, dottore, dottoressa, infermiere, "
            "infermiera, "
            "familiare, operatore, operatrice, dipendente, responsabile, lavoratore, assicurato, assicurata, locatore, "
            "locatrice, conduttore, conduttrice, inquilino, acquirente, venditore, attore, convenuto, convenuta, "
            "teste, "
            "avvocato, giudice, notaio, firmato, sottoscritto, sottoscritta, mittente, destinatario, destinataria, "
            "autore, studente, studentessa, autista, marito, moglie, figlio, figlia, coniuge, referente, richiedente, "
            "candidato, alla cortese attenzione di, c.a, superiore, "
            "presents, expediteur, destinataire, interlocuteur, a l'attention de, dest, "
            "facturer a, livrer a, pris en charge par, conseiller, conseillere, copie a, operateur, prescripteur",
        ),
        **_tier(
            Tier.WEAK,
            "name, names, noms, owner, contact, contacts, user, from, to, de, a, by, par, first, last, agent, "
            "user name, display name, "
            "displayname, name/surname, von, an, para, da, bei, benutzer, usuario, utente, who, host, organizer, "
            "organiser, organisateur, lead, referent, usager",
        ),
    }
)
"""Label -> tier, for persons. Folded, words separated by one space."""

ORGANIZATION = _labels(
    "company, company name, employer, organisation, organization, organisation name, organization name, "
    "org, firm, business name, vendor name, supplier name, bank name, hospital name, societe, entreprise,"
    " employeur, raison sociale, nom de la societe, nom de l'entreprise, etablissement, organisme, "
    "denomination sociale, firma, firmenname, unternehmen, arbeitgeber, gesellschaft, klinik, krankenhaus, praxis, "
    "krankenkasse, versicherung, bank, schule, behorde, empresa, nombre de la empresa, razon social, empleador, "
    "compania, centro, centro de trabajo, centro medico, organizacion, entidad, aseguradora, banco, azienda, ragione "
    "sociale, "
    "ditta, societa, datore di lavoro, ente, istituto, ospedale, struttura, compagnia, hospital, hopital, clinique, "
    "clinica, clinic, school, university, universite, universidad, universita, assureur, insurer, bank"
)
LOCATION = _labels(
    "city, town, place, place of birth, birthplace, birth place, country, county, village, residence, "
    "ville, commune, pays, lieu de naissance, ville de naissance, localite, nationality country, country "
    "of birth, pays de naissance, stadt, ort, wohnort, geburtsort, land, gemeinde, bundesland, ciudad, localidad, "
    "poblacion, provincia, municipio, lugar de nacimiento, pais, citta, comune, luogo di nascita, "
    "paese, localita, residenza, lieu, luogo, lugar, birth city, hometown, home town, naissance a, fait a"
)
POSTCODE = _labels(
    "zip, zip code, zipcode, postcode, post code, postal code, code postal, cp, plz, postleitzahl, codigo postal, cap, "
    "codice postale"
)
"""Labels of a bare postcode; the value is judged by its form."""
ADDRESS = _labels(
    "address, home address, postal address, mailing address, street address, street, billing address, "
    "shipping address, delivery address, residential address, current address, address line 1, address1, "
    "adresse, adresse postale, adresse du domicile, adresse de livraison, adresse de facturation, "
    "domicile, rue, lieu d'intervention, adresse d'installation, anschrift, adresse des patienten, wohnanschrift, "
    "postanschrift, lieferadresse, rechnungsadresse, strasse, straße, direccion, direccion postal, domicilio, "
    "direccion de envio, direccion de facturacion, calle, indirizzo, indirizzo di residenza, indirizzo di spedizione, "
    "residenza, domicilio fiscal, sede, sede legale, adres, patient address, work address, site address, "
    "siege social, registered office, registered address"
)
NOT_ADDRESS = _labels(
    "ip, email, e-mail, e mail, mail, mac, web, wallet, url, electronique, memory, bitcoin, btc, source, destination"
)
"""A word before `address` that makes it something else."""

PLURAL = _labels(
    "to, cc, bcc, a, authors, auteurs, attendees, participants, present, presents, names, noms, internes,"
    " contacts, reply to, teilnehmer, an, para, asistentes, participantes, presentes, partecipanti, presenti, "
    "referencias"
)
"""Labels whose value is a list."""

HEADERS = _labels(
    "id, uuid, email, e mail, mail, courriel, phone, telephone, tel, mobile, fax, dob, date of birth, "
    "birth date, birthdate, date de naissance, naissance, ddn, age, sex, sexe, gender, iban, bic, ssn, "
    "mrn, ipp, nir, nss, amount, montant, price, prix, date, status, statut, role, title, titre, "
    "department, service, zip, zipcode, postcode, code postal, cp, account, card, comment, notes, salary,"
    " salaire, username, login, password, ip, url, state, region, total, qty, quantite, "
    "telefon, telefono, handy, mobil, movil, cellulare, geburtsdatum, geburtstag, geschlecht, alter, betrag, preis, "
    "datum, plz, gehalt, abteilung, bemerkung, kundennummer, correo, correo electronico, fecha de nacimiento, edad, "
    "sexo, importe, precio, fecha, estado, codigo postal, departamento, salario, dni, nif, data di nascita, eta, "
    "sesso, "
    "importo, prezzo, data, stato, cap, reparto, stipendio, codice fiscale, e mail, e-mail"
)
"""Further words that make a line the head of a table."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SEPARATORS = re.compile(r"[\s_\-.]+")


def normalise(label: str) -> str:
    """`firstName`, `FIRST_NAME`, ` First-Name ` -> `first name`."""
    words = _SEPARATORS.sub(" ", _CAMEL.sub(" ", label.strip(" \t\"'`*_#:")))
    return fold(words).replace("’", "'").strip()


def person_tier(label: str) -> Tier | None:
    """What a normalised label says about persons; `emergency contact name`, `patient last name` by their end."""
    found = PERSON.get(label)
    if found is not None:
        return found
    head, _, tail = label.rpartition(" ")
    if tail in {"name", "nom", "prenom", "surname", "firstname", "lastname"} and head:
        owner = head.rpartition(" ")[2]
        if owner in {"first", "last", "given", "family", "middle"} or PERSON.get(owner) == Tier.ROLE or tail != "name":
            return Tier.NAME
    last_two = " ".join(label.split(" ")[-2:])
    return PERSON.get(last_two) if PERSON.get(last_two) == Tier.NAME else None
