package rewrite

import (
	_ "embed"
	"strings"
	"sync"
)

// rivals are words that are often confused with each other, by sound or by agreement. A word may be in several groups.
var rivals = table(true, `their there; its it's; your you're; than then; to too; lose loose; of off; where were; am is are; was were; has have; do does; don't doesn't; isn't aren't; wasn't weren't; hasn't haven't;
this these; that those; much many; who's whose; weather whether; quite quiet; hear here`)

// rareRivals are words that are confused less often.
var rareRivals = table(true, `know now; no know; by buy; right write; accept except; meet meat; week weak; for four; see sea; through threw; though tough through thought; form from; new knew; one won; advice advise;
dessert desert; later latter; send sent; break brake; peace piece; plane plain; wear where; hole whole; buy bye; price prize; diner dinner; sing sign; hungry Hungary; which witch; chose choose; collage college; losing loosing`)

// oneWayRivals are words that are often written in place of others, but rarely the other way round.
var oneWayRivals = table(false, `to two; too two; are our; our hour; their they're; there they're; where we're; were we're; past passed`)

// corrections map what is always or sometimes wrong to what may be meant. A hyphen stands for a space.
var corrections = table(false, `dont don't doesn't; didnt didn't; doesnt doesn't; isnt isn't; arent aren't; wasnt wasn't; werent weren't; hasnt hasn't; havent haven't; hadnt hadn't; couldnt couldn't; wouldnt wouldn't;
shouldnt shouldn't; wont won't; cant can't; im I'm; ive I've; ill I'll; id I'd; youre you're your; youve you've; youll you'll; weve we've; well we'll; hes he's; shes she's; thats that's; whats what's; wheres where's;
theres there's; whos who's; lets let's; theyre they're; theyve they've; i I; i'm I'm; i'll I'll; i've I've; i'd I'd; i'am I'm; childrens children; peoples people; informations information; advices advice;
furnitures furniture; homeworks homework; luggages luggage; childs children; womens women; mens men; alot a-lot; aswell as-well; infact in-fact; eachother each-other; everytime every-time; noone no-one; thankyou thank-you;
ofcourse of-course; atleast at-least; incase in-case; abit a-bit; upto up-to; gonna going-to; wanna want-to; gotta have-to; wich which; ther there their; fone phone; foto photo; cause because; evry every; thay they; no know`)

//go:embed misspellings.txt
var misspellingsFile string

// misspelt maps the misspellings of the list to what they stand for.
var misspelt = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(misspellingsFile) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		for _, w := range words[1:] {
			out[w] = append(out[w], within(words[0]))
		}
	}
	return out
})

// within returns a word of the list as it stands within a sentence.
func within(word string) string {
	if capitals[word] || strings.HasPrefix(word, "i'") {
		return upper(word)
	}
	return word
}

// sometimesRight are keys of corrections that may be right.
var sometimesRight = set("ill id well lets wont cant cause no hes shes everytime gonna wanna gotta im peoples furnitures advices")

// pairs are two words that may be one, or another two.
var pairs = map[string][]string{
	"an other": {"another"}, "can not": {"cannot"}, "should of": {"should have"}, "could of": {"could have"}, "would of": {"would have"}, "must of": {"must have"}, "might of": {"might have"}, "i'd of": {"I'd have"},
	"any one": {"anyone"}, "every one": {"everyone"}, "some one": {"someone"}, "some thing": {"something"}, "to day": {"today"}, "in to": {"into"}, "with out": {"without"}, "married with": {"married to"},
	"depends of": {"depends on"},
}

// verbs: base, with he, past, after have.
var verbs = strings.Split(`go goes went gone;send sends sent sent;bring brings brought brought;call calls called called;tell tells told told;check checks checked checked;read reads read read;sign signs signed signed;
finish finishes finished finished;return returns returned returned;clean cleans cleaned cleaned;print prints printed printed;find finds found found;open opens opened opened;close closes closed closed;book books booked booked;
cancel cancels cancelled cancelled;buy buys bought bought;sell sells sold sold;pay pays paid paid;pick picks picked picked;take takes took taken;write writes wrote written;change changes changed changed;prepare prepares prepared prepared;
show shows showed shown;paint paints painted painted;repair repairs repaired repaired;order orders ordered ordered;help helps helped helped;meet meets met met;come comes came come;stay stays stayed stayed;wait waits waited waited;
answer answers answered answered;give gives gave given;leave leaves left left;talk talks talked talked;forget forgets forgot forgotten;lose loses lost lost;make makes made made;see sees saw seen;know knows knew known;
like likes liked liked;need needs needed needed;want wants wanted wanted;watch watches watched watched;eat eats ate eaten;drink drinks drank drunk;cook cooks cooked cooked;learn learns learned learned;teach teaches taught taught;
work works worked worked;live lives lived lived;think thinks thought thought;hear hears heard heard;move moves moved moved;start starts started started;try tries tried tried;ask asks asked asked;use uses used used;play plays played played;
visit visits visited visited;plan plans planned planned;remember remembers remembered remembered;invite invites invited invited;fix fixes fixed fixed;share shares shared shared;update updates updated updated;review reviews reviewed reviewed;
walk walks walked walked;turn turns turned turned;look looks looked looked;join joins joined joined;explain explains explained explained;park parks parked parked;drive drives drove driven;fly flies flew flown;speak speaks spoke spoken;
choose chooses chose chosen;hold holds held held;keep keeps kept kept;run runs ran run;sleep sleeps slept slept;wear wears wore worn;break breaks broke broken;lend lends lent lent;get gets got got;have has had had;do does did done;
say says said said;feel feels felt felt;begin begins began begun;depend depends depended depended;cost costs cost cost;happen happens happened happened;mean means meant meant;seem seems seemed seemed;believe believes believed believed;
belong belongs belonged belonged;sound sounds sounded sounded;hope hopes hoped hoped;live lives lived lived;rain rains rained rained;stop stops stopped stopped;arrive arrives arrived arrived;study studies studied studied;
carry carries carried carried;enjoy enjoys enjoyed enjoyed;travel travels travelled travelled;put puts put put;sit sits sat sat;stand stands stood stood;understand understands understood understood;win wins won won;grow grows grew grown;
follow follows followed followed;include includes included included;agree agrees agreed agreed;let lets let let;spend spends spent spent;build builds built built;become becomes became become;fall falls fell fallen;sing sings sang sung;
swim swims swam swum;ring rings rang rung;throw throws threw thrown;hide hides hid hidden;ride rides rode ridden;hurt hurts hurt hurt;catch catches caught caught;fight fights fought fought;feed feeds fed fed;bite bites bit bitten`, ";")

// bases precede a verb's base form, participles the form after have.
var (
	bases       = set("did didn't do don't does doesn't to can can't cannot could couldn't will won't would wouldn't should shouldn't must may might not please let's")
	participles = set("have has had haven't hasn't hadn't having been i've you've we've they've")
	comparative = set("better worse older younger bigger smaller cheaper easier faster slower longer shorter taller higher lower warmer colder nicer earlier later happier")
	capitals    = set("monday tuesday wednesday thursday friday saturday sunday january february april june july august september october november december english german french spanish italian polish dutch turkish christmas easter")
)

// formsOf returns the verbs that have a form.
var formsOf = func() map[string][][]string {
	out := map[string][][]string{}
	for _, line := range verbs {
		forms := strings.Fields(line)
		for _, f := range forms {
			out[f] = append(out[f], forms)
		}
	}
	return out
}()

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// table returns, for each word of the groups, the others of its groups; if it works one way, only for the first.
func table(both bool, groups string) map[string][]string {
	out := map[string][]string{}
	for g := range strings.SplitSeq(groups, ";") {
		words := strings.Fields(g)
		for i, w := range words {
			for _, other := range words {
				if w != other && (both || i == 0) {
					out[strings.ToLower(w)] = append(out[strings.ToLower(w)], strings.ReplaceAll(other, "-", " "))
				}
			}
		}
	}
	return out
}
