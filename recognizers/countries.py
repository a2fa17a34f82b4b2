"""Countries, capitals and large towns by list, in five languages, where no model marked anything.

A model reads `c. Bélgica` or `ESTRASBURGO` over; a closed list does not. What also is a given name (`Jordan`), a plain
word (`Nice`, `Essen`) or part of a longer name (`Air France`, `Paris Hilton`) is left to the models.

May import: recognizers.base, recognizers.words, ahocorasick, phonenumbers, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import ahocorasick
from phonenumbers.geodata.locale import LOCALE_DATA

from recognizers.base import Span, fold
from recognizers.words import FUNCTION, word_set

SCORE = 0.6
_NAME = "names:list"
_LANGUAGES = ("en", "fr", "de", "es", "it")
_MOST_ALIASES = 3
_SHORTEST = 4
_AMBIGUOUS = (
    "Chad|Jordan|Georgia|Jersey|Island|Maurice|Mauricio|Maurizio|Dominique|Dominica|Grenade|Reunion|Reunión|Chili|"
    "Guadalupe|Malte|Montserrat|Turkey|San Martín|Saint Martin|Saint-Martin|Santa Lucia|Sainte Lucia|Santa Helena|"
    "Sant'Elena|Palau|Bermuda|Samoa|Anguilla|Anguila|Inde|Man|Pitcairn|Vatican|Macao"
)
_MORE = (
    "Great Britain|England|Scotland|Wales|Northern Ireland|Czechia|Ivory Coast|North Macedonia|Kosovo|Russian "
    "Federation|Soviet Union|USSR|Grande-Bretagne|Angleterre|Écosse|Pays de Galles|Tchéquie|Kosovo|Macédoine du Nord|"
    "Großbritannien|Schottland|England|Tschechien|Nordmazedonien|Weißrussland|Inglaterra|Escocia|Gales|Gran Bretaña|"
    "República Checa|Países Bajos|Federación de Rusia|Fédération de Russie|Inghilterra|Scozia|Galles|Gran Bretagna|"
    "República de Moldavia|Bosnia y Herzegovina|Bosnie-et-Herzégovine|Côte d’Ivoire|États-Unis|Émirats arabes unis|"
    "Vereinigte Staaten|Saint-Siège|Cataluña|Andalucía|País Vasco|Galicia|Navarra|Asturias|Extremadura|Cantabria|"
    "Aragón|Castilla y León|Castilla-La Mancha|Bretagne|Normandie|Alsace|Lorraine|Bavaria|Bayern|Sachsen|Hessen|"
    "Nordrhein-Westfalen|Niedersachsen|Brandenburg|Thüringen|Rheinland-Pfalz|Baden-Württemberg|Schleswig-Holstein|"
    "Lombardia|Toscana|Sicilia|Sardegna|Puglia|Piemonte|Campania|Europe|Africa|Asia|Afrique|Europa|"
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Hawaii|Idaho|Illinois|Indiana|"
    "Iowa|Kansas|Kentucky|Louisiana|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Nebraska|Nevada|"
    "New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|"
    "Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|West Virginia|Wisconsin|Wyoming|"
    "Ontario|Quebec|Québec|Alberta|British Columbia|Manitoba|Saskatchewan|Nova Scotia|New South Wales|Queensland"
)
_TOWNS = (
    "London|Londres|Londra|Birmingham|Manchester|Liverpool|Leeds|Sheffield|Bristol|Newcastle|Nottingham|Edinburgh|"
    "Édimbourg|Edimburgo|Glasgow|Cardiff|Belfast|Dublin|Dublín|Dublino|Paris|París|Parigi|Marseille|Marsella|Lyon|"
    "Toulouse|Nantes|Montpellier|Strasbourg|Straßburg|Estrasburgo|Strasburgo|Bordeaux|Burdeos|Lille|Rennes|Reims|"
    "Toulon|Grenoble|Dijon|Nîmes|Clermont-Ferrand|Le Havre|Saint-Étienne|Villeurbanne|Aix-en-Provence|Limoges|"
    "Amiens|Perpignan|Metz|Besançon|Orléans|Rouen|Mulhouse|Caen|Nancy|Bayonne|Versailles|Nanterre|Bobigny|Créteil|"
    "Berlin|Berlín|Berlino|Hamburg|Hambourg|Hamburgo|München|Munich|Múnich|Köln|Cologne|Colonia|Frankfurt|Francfort|"
    "Fráncfort|Francoforte|Stuttgart|Düsseldorf|Leipzig|Dortmund|Bremen|Dresden|Hannover|Nürnberg|Nuremberg|"
    "Duisburg|Bochum|Wuppertal|Bielefeld|Bonn|Münster|Mannheim|Karlsruhe|Augsburg|Wiesbaden|Freiburg|Heidelberg|"
    "Würzburg|Regensburg|Tübingen|Göttingen|Kiel|Lübeck|Rostock|Mainz|Wien|Vienna|Vienne|Viena|Salzburg|Innsbruck|"
    "Zürich|Zurich|Zúrich|Zurigo|Genf|Genève|Geneva|Ginebra|Ginevra|Basel|Bâle|Basilea|Bern|Berne|Lausanne|Lugano|"
    "Madrid|Barcelona|Barcelone|Valencia|Sevilla|Seville|Séville|Zaragoza|Málaga|Malaga|Murcia|Bilbao|Alicante|"
    "Córdoba|Valladolid|Vigo|Gijón|Oviedo|Granada|Pamplona|Almería|San Sebastián|Santander|Burgos|Salamanca|"
    "Badajoz|Logroño|Huelva|Lleida|Tarragona|Girona|Castellón|Cádiz|Jaén|Ourense|Pontevedra|Vitoria|Melilla|Ceuta|"
    "Palma de Mallorca|Las Palmas|Albacete|Toledo|Roma|Rome|Milano|Milan|Milán|Mailand|Napoli|Naples|Nápoles|Neapel|"
    "Torino|Turin|Turín|Palermo|Genova|Gênes|Bologna|Bologne|Firenze|Florenz|Bari|Catania|Venezia|Venice|Venise|"
    "Venecia|Venedig|Verona|Messina|Padova|Trieste|Brescia|Parma|Modena|Perugia|Livorno|Cagliari|Ravenna|Rimini|"
    "Brussels|Bruxelles|Brüssel|Bruselas|Antwerp|Antwerpen|Anvers|Amberes|Gent|Gand|Liège|Lüttich|Namur|Amsterdam|"
    "Ámsterdam|Rotterdam|The Hague|La Haye|La Haya|Den Haag|Utrecht|Eindhoven|Luxembourg|Lisbon|Lisboa|Lisbonne|"
    "Lissabon|Lisbona|Porto|Oporto|Copenhagen|Copenhague|Kopenhagen|København|Stockholm|Estocolmo|Göteborg|Oslo|"
    "Helsinki|Reykjavik|Tallinn|Riga|Vilnius|Warsaw|Varsovie|Varsovia|Warschau|Varsavia|Kraków|Krakow|Cracovie|"
    "Gdansk|Wroclaw|Prague|Praga|Prag|Brno|Bratislava|Budapest|Bucharest|Bucarest|Bukarest|Sofia|Belgrade|Belgrado|"
    "Belgrad|Zagreb|Ljubljana|Sarajevo|Skopje|Tirana|Athens|Athènes|Atenas|Athen|Atene|Thessaloniki|Nicosia|Valletta|"
    "Istanbul|Estambul|Ankara|Izmir|Diyarbakir|Moscow|Moscou|Moscú|Moskau|Mosca|Saint Petersburg|Saint-Pétersbourg|"
    "San Petersburgo|Kyiv|Kiev|Kiew|Odessa|Lviv|Minsk|Chisinau|Tbilisi|Yerevan|Baku|Tehran|Téhéran|Teherán|Baghdad|"
    "Bagdad|Damascus|Damas|Beirut|Beyrouth|Amman|Jerusalem|Jérusalem|Jerusalén|Tel Aviv|Cairo|Kairo|Alexandria|"
    "Tripoli|Tunis|Algiers|Alger|Argel|Rabat|Casablanca|Marrakech|Tanger|Dakar|Abidjan|Lagos|Abuja|Accra|Nairobi|"
    "Addis Ababa|Kinshasa|Johannesburg|Cape Town|Pretoria|Durban|Riyadh|Jeddah|Dubai|Dubái|Abu Dhabi|Doha|Kabul|"
    "Islamabad|Karachi|Lahore|New Delhi|Delhi|Mumbai|Bombay|Calcutta|Kolkata|Chennai|Bangalore|Hyderabad|Dhaka|"
    "Colombo|Kathmandu|Bangkok|Hanoi|Saigon|Ho Chi Minh City|Kuala Lumpur|Jakarta|Manila|Beijing|Pékin|Peking|Pekín|"
    "Pechino|Shanghai|Shenzhen|Guangzhou|Wuhan|Taipei|Seoul|Séoul|Seúl|Tokyo|Tokio|Osaka|Kyoto|Sydney|Melbourne|"
    "Brisbane|Perth|Adelaide|Canberra|Auckland|Wellington|Ottawa|Toronto|Montreal|Montréal|Vancouver|Calgary|"
    "Edmonton|Winnipeg|New York City|Los Angeles|Chicago|Houston|Philadelphia|San Antonio|San Diego|San Jose|"
    "San Francisco|Seattle|Denver|Boston|Detroit|Nashville|Memphis|Portland|Las Vegas|Baltimore|Milwaukee|"
    "Albuquerque|Tucson|Sacramento|Kansas City|Atlanta|Omaha|Miami|Oakland|Minneapolis|Tulsa|Cleveland|New Orleans|"
    "Honolulu|Pittsburgh|Cincinnati|St. Louis|Orlando|Indianapolis|Washington|Salt Lake City|Mexico City|"
    "Ciudad de México|Guadalajara|Monterrey|Havana|La Habana|La Havane|Bogotá|Bogota|Medellín|Caracas|Quito|Lima|"
    "Santiago de Chile|Buenos Aires|Montevideo|Asunción|La Paz|São Paulo|Sao Paulo|Rio de Janeiro|Brasilia|Brasília"
)
_ALSO_NAMES = (
    "Sofia|Washington|Lima|Orlando|Wellington|Verona|Florence|Adelaide|Sydney|Cleveland|Houston|Colonia|Nancy|"
    "Valencia|Lorraine|Memphis|Portland|Phoenix|Essen|Mainz|Parma|Modena|Bologna|Damas|Chester|Milan|Toledo|Victoria|"
    "Indiana|Gales|Bern|Vienne|Burgos|Roma|Lagos|Kiel|Minsk|Rome|Baku|Bari|Vigo|Gent|Gand|Oxford|Asia|Genova|Messina|"
    "Catania|Salamanca|Toscana|Odessa|Alexandria|Perth|Europa|Europe|Africa|Afrique|Galicia|Navarra|Amman|Santander|"
    "Alger|Aragón|Trinidad"
)
"""Family names, given names, firms and half-words among these: the models decide."""
_LINKED = FUNCTION | word_set("contra contre gegen contro versus vs v c")
_BEFORE = re.compile(r"([^\W\d_][\w'’.]*)[ \u00a0\-]$")
_AFTER = re.compile(r"[ \u00a0\-]([^\W\d_]+)|[.@]\w|[/_\\]|['’](?!s\b)")


def listed(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """The places of the list in `text` that nothing in `found` touches."""
    folded = fold(text)
    taken = sorted((span.start, span.end) for span in found)
    reached = 0
    for last, length in sorted(_automaton().iter_long(folded)):
        start, end = last + 1 - length, last + 1
        while reached < len(taken) and taken[reached][1] <= start:
            reached += 1
        free = all(b <= start for a, b in taken[reached:] if a < end)
        if free and text[start].isupper() and not _goes_on(text, start, end):
            yield Span(start, end, "LOCATION", SCORE, _NAME, "country or town by list")


def _goes_on(text: str, start: int, end: int) -> bool:
    """A letter adjoins, or a capitalised word that makes it a longer name (`Air France`, `Berlin Wall`)."""
    if (text[start - 1 : start] or " ").isalnum() or (text[end : end + 1] or " ").isalnum():
        return True
    if text[start - 1 : start] in {"@", ".", "/", "_", "\\", "#"}:
        return True
    after = _AFTER.match(text, end)
    if after and (after[1] is None or (after[1][0].isupper() and fold(after[1]) not in _LINKED)):
        return True
    before = _BEFORE.search(text, max(0, start - 30), start)
    word = before[1].rstrip(".") if before else ""
    return bool(word) and word[0].isupper() and fold(word) not in _LINKED


@cache
def _automaton() -> ahocorasick.Automaton:
    """Of the folded names; read only once made."""
    automaton = ahocorasick.Automaton()
    for name in sorted(_names()):
        automaton.add_word(name, len(name))
    automaton.make_automaton()
    return automaton


def _names() -> frozenset[str]:
    countries = {_in(names, language) for names in LOCALE_DATA.values() for language in _LANGUAGES}
    every = {fold(name) for name in (*countries, *_MORE.split("|"), *_TOWNS.split("|"))}
    left_out = {fold(name) for name in (*_AMBIGUOUS.split("|"), *_ALSO_NAMES.split("|"))}
    return frozenset(name for name in every - left_out if len(name) >= _SHORTEST and "(" not in name)


def _in(names: Mapping[str, str], language: str) -> str:
    """A country's name; `*en` in the library's table means that it is called there as in that language."""
    name = names.get(language, "")
    for _ in range(_MOST_ALIASES):
        if not name.startswith("*"):
            break
        name = names.get(name[1:], "")
    return name
