package rewrite

import "strings"

// A cue is a word that is probably wrong after one of some words, or before one. An empty set stands for any word.
type cue struct{ words, after, before map[string]bool }

var cues = parseCues(`
your | | right welcome late wrong kidding going coming not very so always sure invited
its | | a the not my very too so been raining time going cold hot nice good great ok okay fine impossible possible important easy hard difficult late early just only all
it's | | own name way
their | | is are was were not will has a no isn't aren't
there | | own house car dog kids children parents
then | better worse more less rather other older younger bigger smaller cheaper easier faster slower longer shorter taller higher lower earlier later nicer |
than | and since until but |
to | | cold late expensive small big hot much many far loud long early fast slow bad often short heavy difficult easy old young tired busy
two | | cold late expensive small big hot much many far loud long early fast slow bad often short heavy difficult easy old young tired busy
two | this it that is was are |
our | a an |
hour | | is are was were
there their | | going coming
too | | the a an my your his her our their be go see come get make do have take meet bed work school hear know me you him us them tell
loose | to will can don't not didn't might could would i'll you'll |
were | know wonder see tell remember check forgot forget |
where | we they |
off | because out instead lot most some all one two piece cup kind sort end front top full |
here | can can't could couldn't to | you me him them from the
hear | over right from |
now | me don't didn't | if when what whether how where that
weather | | you we he she they i to or
whether | the nice bad good cold hot |
weak | next last this every per |
quiet | | a an nice good long sure expensive
quite | be very keep |
whose | | is coming going there
who's | | car house book bag umbrella phone keys dog idea
advise | some your good my the an any |
advice | i please can would to |
send | have has i've |
is are | i |
am | he she it we you they |
are have were don't | he she it |
is was has doesn't | we you they |
doesn't has | i |
is was | there | two three four five six seven eight nine ten many several some
are were | there | a an one
`)

func parseCues(table string) (list []cue) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		parts := strings.Split(line+"||", "|")
		list = append(list, cue{set(parts[0]), set(parts[1]), set(parts[2])})
	}
	return list
}

var (
	third  = set("he she it")
	others = set("i we you they")

	// plain stand before base forms.
	plain     = set("did didn't do don't does doesn't can can't cannot could couldn't will won't would wouldn't should shouldn't must might may")
	auxiliary = set("do does did don't doesn't didn't can could will would shall should may might must can't couldn't won't wouldn't shouldn't let lets make makes made help helps helped see saw hear heard watch have has had if suggest that")
)

// suspect reports whether a word is probably wrong between its neighbours, of which before2 and before stand before it.
// All are in lower case, and "" stands for none.
func suspect(before2, before, low, next string) bool {
	for _, c := range cues {
		if c.words[low] && (len(c.after) == 0 || c.after[before]) && (len(c.before) == 0 || c.before[next]) && !inverted(before2, low, c) {
			return true
		}
	}
	if low == "much" && len(next) > 4 && strings.HasSuffix(next, "s") && !strings.HasSuffix(next, "ss") {
		return true
	}
	for _, forms := range formsOf[low] {
		base, with, past := forms[0], forms[1], forms[2]
		if plain[before] && low != base && (low == with || low == past) {
			return true
		}
		if third[before] && low == base && low != past && !auxiliary[before2] || others[before] && low == with && low != past {
			return true
		}
	}
	return false
}

// inverted reports whether a verb may follow its pronoun in another form: "does she have", "if I were", "let him have".
func inverted(before2, low string, c cue) bool {
	return c.after["he"] && (low == "have" || low == "were") && auxiliary[before2]
}
