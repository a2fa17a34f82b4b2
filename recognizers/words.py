"""Small closed word lists, English and French, that tell names from the words around them.

All entries are folded (lower case, no accents), as `recognizers.base.fold` gives them.
May import: nothing.
"""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_EN = word_set(
    "a about above after again against all also am an and any are as at back be because been before being below "
    "between both but by can cannot could did do does doing done down during each either else even ever every few "
    "for from further get go got had has have having he her here hers herself him himself his how i if in into is "
    "it its itself just know let like look made make many may me might more most much must my myself neither never "
    "no none nor not nothing now of off on once one only or other our ours ourselves out over own per please put "
    "same say says said see shall she should since so some someone something still such take than that the their "
    "theirs them themselves then there these they this those though through thus to too two three under until "
    "unless up upon us use used using very via want was we well were what when where whether which while who whom "
    "whose why will with within without would yes yet you your yours yourself hello hi hey dear thanks thank cheers "
    "regards best sincerely kind warm sorry okay ok"
)
FUNCTION_FR = word_set(
    "a afin ai ainsi alors apres as assez au aucun aucune aujourd aujourd'hui aupres auquel aussi autre autres aux "
    "avant avec avez avoir avons ayant beaucoup bien bon bonjour bonsoir car ce ceci cela celle celles celui "
    "cependant ces cet cette ceux chaque chez ci comme comment contre d dans de deja depuis des dessous dessus deux "
    "donc dont du durant elle elles en encore entre est et etaient etait etant ete etes etre eu eux fait faire fois "
    "font hors il ils j je jusque l la laquelle le lequel les lesquelles lesquels leur leurs lors lorsque lui m ma "
    "mais me meme memes merci mes moi moins mon n ne ni non nos notre nous on ont ou oui par parce pas pendant peu "
    "peut peux plus plusieurs plutot pour pourquoi pouvez puis puisque qu quand que quel quelle quelles quelqu "
    "quelque quelques quels qui quoi s sa salut sans sauf se selon sera seront ses si sinon soit sommes son sont "
    "sous suis suivant sur t ta tandis te tel telle telles tels tes toi ton tous tout toute toutes tres trois trop "
    "tu un une vers veuillez via voici voila vos votre vous y cordialement cher chere"
)
FUNCTION_DE = word_set(
    "heisse heiße heisst heißt grüßen gruß "
    "aber als am anbei auch auf aus bei beim bin bis bitte da damit danke dann das dass dein deine dem den denn der "
    "des deshalb die "
    "dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es euch euer fur "
    "gegen "
    "hab habe haben hallo hat hatte heute hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ist ja jede "
    "jeden jeder "
    "jetzt kann kannst kein keine keinen konnen konnten man mein meine meinem meinen meiner mich mir mit muss nach "
    "nicht nichts noch "
    "nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so soll uber um und uns unser "
    "unsere unter viele vielen vom von vor war waren was wegen weil wenn wer werden wie wir wird wo wohne wohnt "
    "wohnhaft wurde zu zum zur "
    "zwischen geehrte geehrter grusse grussen freundlichen"
)
FUNCTION_ES = word_set(
    "al algo alguien aqui asi aunque bien buenas buenos cada como con cual cuando de del desde donde dos el ella "
    "ellas ellos "
    "en entre era eres es esa ese eso esta estaba estan estas este esto estos estoy fue fui gracias ha hace hasta "
    "hay he hola hoy "
    "la las le les lo los mas me mi mis muy nada ni no nos nosotros nuestra nuestro o os otra otro para pero por "
    "porque puede "
    "puedes que quien quiero se ser si sin sobre son soy su sus tambien te tengo ti tiene todo todos tu tus un una "
    "unas uno unos "
    "usted ustedes vivo y ya yo saludo saludos atentamente estimado estimada"
)
FUNCTION_IT = word_set(
    "abito ai al alla alle allo agli anche avere c che chi ci cio ciao come con cosa cui da dal dalla degli dei "
    "del della delle dello di "
    "dopo dove due e ed era essere fino fra gli grazie ha hai hanno ho i il in io la le lei li lo loro lui ma mi mio "
    "miei ne nel nella "
    "nelle nello noi non nostra nostro o oggi ogni per pero perche piu poi prima puo quale quando quanto quella "
    "quelle quelli quello "
    "questa queste questi questo qui se sei senza si sono sua sue sugli sui sul sulla suo suoi ti tra tu tua tuo "
    "tutti tutto un una "
    "uno vi voi vorrei vostra vostro saluti cordiali gentile egregio"
)
FUNCTION = FUNCTION_EN | FUNCTION_FR | FUNCTION_DE | FUNCTION_ES | FUNCTION_IT
"""Words that carry grammar, greetings and closings: never a name on their own."""

CALENDAR = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december lundi mardi mercredi jeudi vendredi samedi dimanche janvier fevrier mars "
    "avril mai juin juillet aout septembre octobre novembre decembre mon tue wed thu fri sat sun jan feb mar apr "
    "jun jul aug sep sept oct nov dec janv fevr juil today tomorrow yesterday demain hier "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar marz juni juli dezember oktober "
    "gestern morgen "
    "lunes martes miercoles jueves viernes sabado domingo enero febrero abril mayo junio julio septiembre setiembre "
    "octubre "
    "noviembre diciembre ayer manana lunedi martedi mercoledi giovedi venerdi sabato domenica gennaio febbraio "
    "aprile maggio giugno "
    "luglio settembre ottobre dicembre ieri domani"
)

TITLES = word_set(
    "mr mrs ms miss mx dr dr. doctor prof professor sir madam madame monsieur mademoiselle messieurs mesdames m mm "
    "mme mmes mlle mlles pr docteur docteure professeur professeure maitre me lord lady rev reverend fr father "
    "sister hon honorable judge justice capt captain col colonel gen general lt lieutenant sgt sergeant maj major "
    "president senator ambassador nurse frau herr herrn infirmiere infirmier juge don dona sra sr srta senor "
    "senora senorita dra doctora sig sigra signor signora signorina dott dottor dottore dottoressa avv dipl ing lic"
)
"""Forms of address that stand before a name and stay outside its span (a trailing point is ignored)."""

SUFFIXES = word_set("jr sr ii iii iv phd md esq")
"""What stands behind a name and belongs to it; with its point when written with one."""

PARTICLES = word_set(
    "de du des da das do dos di della del dal la le les van von der den ter ten zu zur af av bin ibn ben el al bint "
    "abu y e d l o mac mc san santa st ste saint sainte t"
)
"""Lower-case words that may stand inside a family name (`van der Berg`, `de la Tour`)."""

TECHNICAL = word_set(
    "terraform python readme json yaml yml xml html css sql csv tsv pdf http https url uri api sdk cli gui ide aws "
    "gcp azure kubernetes docker linux ubuntu debian windows macos ios android git github gitlab bitbucket jira "
    "confluence slack bearer token basic lorem ipsum dolor amet java javascript typescript rust golang perl php "
    "scala kotlin swift bash shell powershell node npm yarn pip pytest django flask fastapi spring react angular "
    "vue redis postgres postgresql mysql sqlite mongodb kafka rabbitmq nginx apache hadoop spark ansible helm "
    "courriel courriels email emails fax "
    "prometheus grafana elasticsearch kibana logstash excel word powerpoint outlook sharepoint chrome firefox "
    "safari chatgpt gpt llm openai anthropic copilot regex unicode utf ascii base64 uuid guid sha md5 rsa aes tls "
    "ssl ssh ftp smtp imap dns dhcp vpn tcp udp ip mac none null nan true false undefined void int str float bool "
    "list dict tuple string number object array boolean todo fixme error warning warn info debug trace exception "
    "traceback select insert update delete join eks ec2 s3 iam rds vpc arn gmail iban bic swift sepa vat tva ssn "
    "nhs nir siret siren rpps mrn dob ref arial helvetica verdana calibri courier tahoma serif markdown latex "
    "bluetooth wifi sms cv rgpd gdpr hipaa "
    "qty amt acct dept mob ext attn bcc inv sku pcs uom avg qte mnt montants nb stk menge betrag cant cantidad qta "
    "importo troponin"
)

ALSO_WORDS = word_set(
    "pierre claire blanche marine clemence constance ange juste aurore fleur dolores pilar mercedes consuelo remedios "
    "soledad luz mar paz estrella blanca salvador leon clemente cruz bruno chiara bianca franco fiore gioia allegra "
    "serena stella grazia felice modesto massimo costanza speranza ernst wolf heide"
)
"""Given names that are words of their own language in lower case: `Pierre est une pierre`, `Dolores tiene dolores`."""

COMMON = word_set(
    # English nouns, verbs and adjectives that models and headings write with a capital, and that are also rare names.
    "account address agent amount answer appointment april art bank bay bill black blue book branch bread brown bug "
    "business call camp card care case cash chase check child city claim class client code company contact content "
    "contract copy customer data date day dean deal department description detail details document door draft east "
    "email employee end english fax field file first form france french full god gold good grant gray great green "
    "grey ground group guest guide hall head health help hill home hope hotel house id image inbox invoice issue "
    "item job joy key king label lake last law lead level life line link lock love mail main manager mark market "
    "master meeting member message method model money month name new news note notes number office open order owner "
    "page park part party patient pay phone photo place plan point policy post power price private product profile "
    "project public question rate reason record red report request result review rich river road role room rose "
    "rule sale sales school score search section security send sender sent service set ship sign signature size "
    "skill source south star start state status step stone street subject summary summer supplier support system "
    "table task tax team test text ticket time title total town trade trust type user value version view visit "
    "water week west white wife will winter wood word work world year young"
    # French.
    "accord adresse agence amie annee appel article assurance atelier avenant avis banque beau besoin blanc blanche "
    "bois bonne bureau carte cas champ chef chemin client clients code commande commune compte conseil contrat cour "
    "courrier cours date demande departement dernier directeur directrice docteur document dossier droit ecole "
    "eglise entreprise equipe etat facture famille femme fete fichier fille fils fin fleur fonction forme france "
    "gauche grand groupe guerre heure homme hopital hotel information infirmier jardin jour juste ligne liste livre "
    "lettre loi maison mairie mairie maladie marche mari mere mesure message mission mois monde montagne montant "
    "mort nom note nouveau numero objet page pays pere personne petit petite piece place plan point politique pont "
    "porte premier prenom prix probleme produit projet question rapport references reference rendez region reponse "
    "reunion roi route rue saint salle sante service signature societe soir suite sujet telephone temps titre "
    "travail usager utilisateur valeur vente verre ville vie vin vue"
)
"""Frequent words that must not be looked for everywhere only because a name holds them."""

OFFICES = word_set(
    "president presidente vice-president directeur directrice maire ministre juge procureur procureure commissaire "
    "ambassadeur ambassadrice depute deputee senateur senatrice rapporteur greffier greffiere avocat avocate consul "
    "prefet prefete recteur rectrice doyen doyenne chairman chairwoman chair speaker minister secretary "
    "commissioner chief justice general chancellor mayor chef presidente ceo cto cfo who "
    "prasident prasidentin burgermeister burgermeisterin kanzler kanzlerin richter richterin ministerin alcalde "
    "alcaldesa "
    "ministra jueza fiscal sindaco giudice ministro senatore rektor dekan director directora direttore direttrice "
    "doktor"
)
"""What follows a form of address without being a name (`M. le Président`, `Madam Secretary`)."""

DETERMINERS = word_set(
    "a an the this that these those my your our their some any no le la les l un une des du ce cet cette ces"
)
"""In front of a lower-case word, they say that it is a thing."""

PRONOUNS = word_set("i he she they we you it him her them us je il elle ils elles nous vous on lui eux")
