package sentences

import "tandem/internal/words"

var (
	// beforeNames are abbreviations that never end a sentence: titles, and those that introduce an example or a name.
	beforeNames = words.Set(`mr mrs ms mx dr prof fa hr fr frl st rev hon capt cpt lt col gen sgt sr sra dra mme mlle dipl ing hl
 e.g i.e z.b d.h p.p vs bzw inkl incl evtl ggf sog vgl z`)
	// beforeWords are abbreviations that end a sentence only if a word follows that begins one.
	beforeWords = words.Set("tel tél tfno teléf fax mob ext extn approx ca circa mt ft ave blvd rd sq dept est geb gest jr mah cad cf resp av abs ziff nr nrn bd ed eds med")
	// beforeNumbers are abbreviations if a number follows; some are words, too.
	beforeNumbers = words.Set(`no nos num núm nº art kap chap ch sec fig figs tab vol pp p s seite str max min temp conc ref app apt ste etg og lit c plz
 op dep arr abf ank jan feb mar apr jun jul aug sep sept oct okt nov dec dez mon tue tues wed thu thur thurs fri sat sun mo di mi do sa so`)
	// counting are those of them that stand before codes, too.
	counting = words.Set("no nos nr nrn num núm nº ref")
	// labels are abbreviations at the start of a label.
	labels = words.Set("max min temp conc ref")
	// afterTimes are abbreviations that end a sentence if a capital letter follows.
	afterTimes = words.Set("a.m p.m am pm etc usw ff inc ltd co corp bros dgl")
	units      = words.Set("kg mg g km cm mm m nm ml cl dl l h s ms hr hrs min kb mb gb tb hz khz mhz ghz kw kwh mw db bn lb lbs px pm")
	// unitLetters are capital letters that are units behind a number.
	unitLetters = words.Set("A C F J K L N V W")
	// lettered are things that people tell apart by letters.
	lettered = words.Set(`vitamin vitamine vitamins hepatitis plan type class group team grade option section appendix annex hall gate terminal block building wing zone
 platform typ klasse gruppe abschnitt anhang halle gebäude haus gleis steig bahnsteig eingang aufgang zone`)
	months = words.Set(`january february march april may june july august september october november december januar februar märz mai juni juli
 oktober dezember jan feb mär mrz apr jun jul aug sep sept okt oct nov dez dec jänner`)
	// numbered has what German counts with ordinals, even without an article: "Schlüssel bei Frau Lang, 2. Stock".
	numbered = words.Set("stock etage og obergeschoss ug untergeschoss jahrhundert kapitel liga auflage quartal halbjahr semester schuljahr lebensjahr geburtstag weltkrieg")
	// determiners stand before an ordinal in German.
	determiners = words.Set("am im der die das dem den des vom zum zur ab bis seit jeden jede jedes jeder ein eine einen einem einer und oder ihr ihre ihren mein meine sein seine unser unsere")
	// starters are words that often begin a sentence, and rarely follow an abbreviation within one.
	starters = words.Set(`the a an it its he she they we you i this that these those there here his her their our my your
 in on at for from to by with without of as if when while where why how what who which because since after before during until although though but and or so
 yet then also only please no not yes both all some any each every many most more one two three is are was were do does did can could will would should may might must
 let another however instead therefore otherwise
 der die das dem den des ein eine einen einem einer es er sie wir ich ihr sein seine mein meine unser unsere dies diese dieser dieses
 im am um auf an aus bei mit nach seit von vor zu zum zur für bis durch gegen ohne über unter wenn weil als ob da dann aber und oder denn sondern auch nur bitte nicht kein keine
 ist sind war waren hat haben wird werden kann können muss darf soll alle jeder jede man wer was wie wo wann warum
 le la les un une il elle ils elles nous vous je ce cette ces dans pour avec sur par si el los las una unos en con por para es son`)
)
