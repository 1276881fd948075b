package extract

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/model/span"
)

// language is one whose questions are read in English. Its phrases are in lower case without accents, since many people
// type none.
type language struct {
	also  map[string]bool   // what a question may begin with before it asks
	asks  map[string]string // what questions begin with
	words map[string]string // what stands between the words that say what a question is about
}

// word is a word of a question.
type word struct {
	text  string
	plain string // in lower case, without accents
	joins bool   // nothing stood between the word before and this one
}

// inEnglish returns a question in German, French or Spanish with the words that all questions are made of in English,
// and its language: "Wie viel kostet die Kurtaxe?" becomes "how much is the Kurtaxe?". The reader has learnt English
// questions only. The other words stay, since they stand in passages as they are; the reader translates them as it does
// those of passages. Any other question comes back as it was. sure says that at most half as many of the words may be
// English: of "Was war declared in June?" two of three may be.
func inEnglish(question string) (asked string, t span.Language, sure bool) {
	words := wordsOf(question)
	marked := strings.HasPrefix(strings.TrimSpace(question), "¿") || inversion.MatchString(question)
	best, others := -1, max(1, english.count(words))
	most := others
	for i, t := range languages {
		words := t.asking(words)
		_, begins := longest(t.asks, words)
		if n := t.count(words); (begins > 0 || marked) && n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		return question, span.English, false
	}
	return languages[best].english(words) + "?", span.German + span.Language(best), most >= 2*others
}

// asking returns words without those at the beginning that ask nothing.
func (t language) asking(words []word) []word {
	for len(words) > 0 && t.also[words[0].plain] {
		words = words[1:]
	}
	return words
}

// wordsOf divides a question into words: "l'eau" and "sont-ils" are two.
func wordsOf(question string) (out []word) {
	question = inversion.ReplaceAllString(strings.ReplaceAll(question, "’", "'"), "$1 $2")
	end := 0
	for _, at := range aWord.FindAllStringIndex(question, -1) {
		s := strings.Trim(question[at[0]:at[1]], ":.")
		if s == "" {
			continue
		}
		plain := strings.ToLower(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(s)))
		out = append(out, word{text: s, plain: plain, joins: at[0] == end && end > 0})
		end = at[1]
	}
	return out
}

var (
	// aWord matches a word: "l'", "Kurtaxe", "9:40".
	aWord = lazyregexp.New(`[\pL\pM]+'|[^\s,;?!¿¡"“”«»()]+`)
	// inversion matches a French verb and its pronoun: "sera-t-elle".
	inversion = lazyregexp.New(`(?i)([\pL\pM]+)-(?:t-)?(ils?|elles?|on|je|nous|vous)\b`)
)

// longest returns the translation of the longest phrase at the beginning of words, and how many words it is long.
func longest(phrases map[string]string, words []word) (string, int) {
	phrase, translation, n := "", "", 0
	for i, w := range words[:min(longestPhrase, len(words))] {
		if i > 0 && !strings.HasSuffix(phrase, "'") {
			phrase += " "
		}
		phrase += w.plain
		if s, ok := phrases[phrase]; ok {
			translation, n = s, i+1
		}
	}
	return translation, n
}

// longestPhrase is the length of the longest phrase of a language, in words.
const longestPhrase = 5

// next returns what words begin with in English and how many words that is for, or nothing and 0.
func (t language) next(words []word, first bool) (string, int) {
	if s, n := longest(t.asks, words); first && n > 0 {
		return s, n
	}
	return longest(t.words, words)
}

// count returns how many words belong to the language.
func (t language) count(words []word) (n int) {
	for i := 0; i < len(words); {
		_, k := t.next(words[i:], i == 0)
		n, i = n+k, i+max(k, 1)
	}
	return n
}

// english translates the words that it knows. A question that begins with none of those that ask wants yes or no.
func (t language) english(words []word) string {
	words = t.asking(words)
	var b strings.Builder
	if _, n := longest(t.asks, words); n == 0 {
		b.WriteString("is it true that")
	}
	known := true // the word before
	for i := 0; i < len(words); {
		s, n := t.next(words[i:], i == 0)
		if n == 0 {
			s = words[i].text
		}
		if s != "" && b.Len() > 0 && (n > 0 || known || !words[i].joins) {
			b.WriteByte(' ')
		}
		b.WriteString(s)
		known, i = n > 0, i+max(n, 1)
	}
	return b.String()
}

// phrases reads "phrase, phrase = translation; …".
func phrases(list string) map[string]string {
	m := map[string]string{}
	for line := range strings.SplitSeq(list, ";") {
		from, to, _ := strings.Cut(line, "=")
		for phrase := range strings.SplitSeq(from, ",") {
			m[strings.Join(strings.Fields(phrase), " ")] = strings.TrimSpace(to)
		}
	}
	return m
}

// english has the words by which a question is known to be English.
var english = language{words: phrases(`the, of, to, and, what, how, when, where, who, which, why, is, are, was, were, do, does, did, has, have, had, can, may,
	will, would, should, must, my, our, for, with, from, at, by, there, it, that, this, i, you, we, in, on, a, an, or, not =`)}

// languages are in the order of span.German and those after it.
var languages = [...]language{{ // German
	also: words.Set("und also oder aber bitte hallo"),
	asks: phrases(`wie viel kostet, wieviel kostet, was kostet, wie teuer ist, wie hoch ist = how much is;
		wie viel kosten, wieviel kosten, was kosten, wie teuer sind, wie hoch sind = how much are;
		wie viele, wieviele = how many; wie viel, wieviel = how much; wie lange = how long; wie oft = how often; wie weit = how far; wie alt = how old;
		wie gross = how big; wie spat = how late; wie heisst = what is the name of; wie heissen = what are the names of; wie lautet, was ist = what is;
		wie lauten, was sind = what are; wie = how; um wie viel uhr, um wieviel uhr = at what time; wann = when; bis wann, bis wie viel uhr, bis um wie viel uhr, bis wieviel uhr = until when; ab wie viel uhr = since when; ab wann, seit wann = since when;
		wer = who; wen = whom; wem, an wen = to whom; bei wem = from whom; wessen = whose; was = what; wo = where; woher = where from; wohin = where to;
		warum, wieso, weshalb = why; womit = with what; wofur = what for; welche, welcher, welches, welchen, welchem = which;
		bis zu welchem, bis zu welcher = up to which; an welchem tag = on which day; ist = is; sind = are; war = was; waren = were; hat = has; haben = have;
		kann, konnen = can; darf, durfen = may; muss, mussen = must; soll, sollen = should; wird = is; werden = are; wurde = was; wurden = were; gibt es = is there`),
	words: phrases(`der, die, das, dem, den, des = the; ein, eine, einen, einem, einer, eines = a; im = in the; in = in; am = on the; an, auf = on;
		zum, zur = to the; zu = to; beim = at the; bei = at; vom = of the; von = of; fur = for; mit = with; ohne = without; aus = from; nach = after; vor = before;
		bis = until; ab, seit = since; uber = about; unter = under; um = at; pro, je = per; und = and; oder = or; nicht = not; kein, keine, keinen = no; ich = I;
		man = one; wir = we; es = it; er = he; mein, meine, meinen, meinem, meiner = my; unser, unsere, unseren, unserem, unserer = our; ist = is; sind = are;
		war = was; waren = were; hat = has; haben = have; kann, konnen = can; darf, durfen = may; muss, mussen = must; soll, sollen = should;
		wird = is; werden = are; wurde = was; wurden = were; dieser, diese, dieses, diesem, diesen = this; wenn = if; als = than; sich =`),
}, { // French
	also: words.Set("et alors mais bonjour"),
	asks: phrases(`combien coute, combien coutent, combien est, quel est le prix de = how much is; combien de temps = how long; combien de = how many; combien = how much;
		a quelle heure = at what time; a quelle date, quand est-ce que, quand = when; jusqu'a quand, jusqu'a quelle heure, jusqu'a quelle date = until when; a partir de quand, a partir de quelle heure = since when; quel jour, quels jours = on which day; depuis quand = since when; ou = where; d'ou = where from;
		qui = who; chez qui = from whom; a qui = to whom; qu'est-ce que, qu'est-ce qu', que, qu' = what; quel est, quelle est = what is; quels sont, quelles sont = what are;
		quel, quelle, quels, quelles = which; pourquoi = why; comment s'appelle = what is the name of; comment = how; est-ce que, est-ce qu' = is it true that; y a il = is there`),
	words: phrases(`le, la, les, l' = the; un, une = a; des, de, d' = of; du = of the; au, aux = at the; a = at; en, dans = in; sur = on; pour = for; avec = with; sans = without; par = per;
		avant = before; apres = after; jusqu'a, jusqu'au = until; est = is; sont = are; etait = was; sera = is; seront = are; ont = have; peut, peut-on = can; doit = must;
		faut il = must one; il y a = there is; et = and; ou = or; pas = not; ne, n', se, s', il, ils, elle, elles, y = ; je, j' = I; on = one; nous = we; mon, ma, mes = my;
		notre, nos = our; ce, cet, cette, ces = this; est-ce que, est-ce qu' = ; si = if`),
}, { // Spanish
	also: words.Set("y o pero hola"),
	asks: phrases(`cuanto cuesta, cuanto vale, cuanto es = how much is; cuanto cuestan, cuanto son = how much are; cuanto tiempo = how long; cuantos, cuantas = how many;
		cuanto, cuanta = how much; a que hora = at what time; cuando = when; hasta cuando, hasta que hora = until when; a partir de que hora = since when; que dia, que dias = on which day; desde cuando = since when; donde esta = where is; donde estan = where are; donde = where; quien, quienes = who;
		a quien = to whom; que = what; cual es = what is; cuales son = what are; cual, cuales = which; como se llama = what is the name of; como = how; por que = why;
		con que = with what; es, esta = is; son, estan = are; hay = is there; se puede, puedo, puede = can; tengo que, hay que = must; tiene = has`),
	words: phrases(`el, la, los, las = the; un, una = a; de = of; del = of the; a = to; al = to the; en = in; con = with; sin = without; por = by; para = for; desde = from;
		hasta = until; antes de = before; despues de = after; y = and; o = or; no = not; es, esta = is; son, estan = are; hay = there is; mi, mis = my;
		nuestro, nuestra, nuestros, nuestras = our; este, estos, estas = this; se, lo = ; si = if; que = that`),
}}
