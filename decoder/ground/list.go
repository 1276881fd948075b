package ground

import (
	"strings"
	"unicode"
)

// Words returns the closed list of words that every context may write: English function words, and those in which a program
// says that it does not know. No name, number or other content word belongs in it. A word may begin with a capital, and an
// apostrophe may be a curved one.
func Words() []string { return strings.Fields(functionWords) }

const functionWords = `a an the this that these those there here it its he him his she her hers they them their theirs
we us our ours you your yours I me my mine itself himself herself themselves one ones
is are was were be been being am isn't aren't wasn't weren't has have had having hasn't haven't hadn't
do does did doing done doesn't don't didn't can can't cannot could couldn't may might must shall should shouldn't will won't would wouldn't
and or but nor so yet if then than because since as while when where which who whom whose what why how
of in on at by for from to into onto out off over under up down with without within between among through during before after until till
about above below against along across around behind beside beyond near per via
not no yes none neither either both each every any some all such same other another also too only just very more most less least much many few
again ever never always now still already
unknown known know mentioned stated said says say documents document passage passages text information found nothing answer question`

// listed returns all forms of the words of the list.
func listed() []string {
	var out []string
	for _, w := range Words() {
		forms := []string{w}
		if first := rune(w[0]); unicode.IsLower(first) {
			forms = append(forms, string(unicode.ToUpper(first))+w[1:])
		}
		for _, f := range forms {
			out = append(out, f)
			if curved := strings.ReplaceAll(f, "'", "’"); curved != f {
				out = append(out, curved)
			}
		}
	}
	return out
}

// Marks that a context may write between units. Closing marks follow a unit or stand alone; opening ones precede a unit.
var (
	closing = strings.Fields(`. , ; : ! ? … ) ] } " ' ” ’ “ » « - – — * 。 ， 、 ！ ？ ： ； 」 』 ） • ·`)
	opening = strings.Fields(`( [ { " ' “ ‘ „ ‚ « » ¿ ¡ 「 『 （ *`)
)

// possessives may follow a unit.
var possessives = []string{"'s", "’s"}

// blanks are the white space that a context may write between units.
const blanks = " \n\t"
