package extract

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder"
	"tandem/internal/refusal"
	"tandem/internal/scripts"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/model/tokenizer"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// opened opens the built-in models once.
var opened = sync.OnceValues(func() (*span.Reader, *tokenizer.Tokenizer) {
	pointing, err := gguf.Parse("span", models.Span)
	if err != nil {
		panic(err)
	}
	r, err := span.New(pointing, native.New(1), 0)
	if err != nil {
		panic(err)
	}
	writing, err := gguf.Parse("reader", models.Decoder)
	if err != nil {
		panic(err)
	}
	tok, err := tokenizer.New(writing)
	if err != nil {
		panic(err)
	}
	return r, tok
})

func config(temperature float64) Config {
	r, tok := opened()
	return Config{Reader: r, Tokenizer: tok, Scorer: search.Lexical(), Temperature: temperature, TopP: 1}
}

// notes are the documents of one side.
func notes(texts ...string) []passages.Passage {
	var out []passages.Passage
	for _, t := range texts {
		title, text, _ := strings.Cut(t, "\n")
		out = append(out, passages.Passage{Source: title + ".md", Title: title, Text: text})
	}
	return out
}

var (
	deviceNotes = notes(
		"Lake cabin\nThe wifi password is harbour-7421. The key hangs behind the blue door.",
		"Recipe\nThe lentil soup simmers for 35 minutes on low heat.",
	)
	cloudNotes = notes(
		"Harbour museum\nThe harbour museum opens at 9:40 on weekdays. It closes at 17:20.",
		"Marina\nThe marina belongs to Jürgen Müller.",
	)
)

func open(t *testing.T, cfg Config, question string, ps []passages.Passage) *Decoder {
	t.Helper()
	d, err := New(t.Context(), cfg, decoder.Request{Question: question, Passages: ps})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// answer lets one side, or two, answer in lock step.
func answer(t *testing.T, rule aggregator.Rule, sides ...*Decoder) string {
	t.Helper()
	var producers [2]decoder.Producer
	for i, d := range sides {
		producers[i] = d
	}
	tok := sides[0].cfg.Tokenizer
	targets, err := decoder.LockStep(t.Context(), producers[0], producers[1], rule, tok.EOGs(), 256)
	if err != nil {
		t.Fatal(err)
	}
	var ids []tandem.Token
	for _, x := range targets {
		ids = append(ids, x.Token)
	}
	for _, d := range sides { // the producers know all but the last token
		if _, err := d.Next(t.Context(), min(len(d.answer), len(ids)), ids[min(len(d.answer), len(ids)):]); err != nil {
			t.Fatal(err)
		}
	}
	return tok.Decode(ids)
}

// A sentence that answers two parts of a question is said once; the second part gets its value.
func TestSentenceSaidOnce(t *testing.T) {
	cfg := config(0)
	cfg.Constants = DefaultConstants
	cfg.Constants.Bare = -1 // any passage answers with the sentence
	sides := [2]*Decoder{
		open(t, cfg, "When does the harbour museum open, and when does the harbour museum close?", notes(
			"Harbour museum\nThe harbour museum opens at 9:40 on weekdays and closes at 17:20.")),
		open(t, cfg, "When does the harbour museum open, and when does the harbour museum close?", deviceNotes),
	}
	for _, s := range [][]*Decoder{{sides[0], sides[1]}, {sides[1], sides[0]}} {
		const want = "The harbour museum opens at 9:40 on weekdays and closes at 17:20.\n17:20"
		if got := answer(t, aggregator.Rule{Greedy: true}, s...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A sentence counts as said if an earlier part of the question was answered from it, with the whole of it or with a value.
func TestAlreadySaid(t *testing.T) {
	from := func(text, sentence string) []answerText {
		return []answerText{{text: text, quote: decoder.Quote{Text: sentence}}}
	}
	const times = "The mill opens at 9 and closes at 5."
	d := Decoder{parts: []part{{contexts: []docContext{
		{r: 1, texts: []spelledText{{answerText: from("9", times)[0]}}}, {r: 0, texts: []spelledText{{}}},
	}}}}
	if !d.alreadySaid(from(times, times)) || d.alreadySaid(from("The mill is shut.", "The mill is shut.")) || d.alreadySaid(nil) {
		t.Error("the sentence of an answer is not told from others")
	}
}

// The pair answers each part from the side that knows it, and says so where none does.
func TestPairAnswers(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{"What is the wifi password?", "harbour-7421"},
		{"When does the harbour museum open?", "9:40"},
		{"Who owns the marina?", "Jürgen Müller"},
		{"What is the wifi password, and who owns the marina?", "harbour-7421\nJürgen Müller"},
		{"what is the wifi pasword", "harbour-7421"},
		{"who owns the marnia, and what is the wifi passwrod?", "Jürgen Müller\nharbour-7421"},
	} {
		device, cloud := open(t, config(0), c.question, deviceNotes), open(t, config(0), c.question, cloudNotes)
		if got := answer(t, aggregator.Rule{Greedy: true}, device, cloud); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// A part is cited with the sentence of the passage that says it, and with no other side's passage.
func TestCitations(t *testing.T) {
	question := "Who owns the marina? What is the wifi password?"
	device, cloud := open(t, config(0), question, deviceNotes), open(t, config(0), question, cloudNotes)
	text := answer(t, aggregator.Rule{Greedy: true}, device, cloud)
	own, other := device.Parts(), cloud.Parts()
	if len(own) != 2 || len(other) != 2 {
		t.Fatalf("%q has %d and %d parts, want 2", text, len(own), len(other))
	}
	if own[0].H != decoder.Mute || other[1].H != decoder.Mute {
		t.Errorf("weights of the sides that do not say a part: %v and %v, want %d", own[0].H, other[1].H, decoder.Mute)
	}
	q := other[0].Quotes[0]
	if q.Passage != 1 || q.Weight < 0.99 || q.Text[q.From:q.To] != "Jürgen Müller" || q.Text != "The marina belongs to Jürgen Müller." {
		t.Errorf("the owner is cited as %+v", q)
	}
}

// An answer's distribution does not depend on how the answer came about.
func TestRollback(t *testing.T) {
	question := "What is the wifi password, and who owns the marina?"
	ps := slices.Concat(deviceNotes, cloudNotes)
	d := open(t, config(1), question, ps)
	r := rand.New(rand.NewPCG(1, 2))
	var said []tandem.Token // the answer as it should be
	for range 60 {
		said = said[:r.IntN(len(said)+1)]
		out, err := d.Next(t.Context(), len(said), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range r.IntN(6) {
			next := out.Dist.IDs[r.IntN(len(out.Dist.IDs))]
			if out, err = d.Next(t.Context(), len(said), []tandem.Token{next}); err != nil {
				t.Fatal(err)
			}
			said = append(said, next)
		}
		if want := fresh(t, question, ps, 1, said); !reflect.DeepEqual(out.Dist, want.Dist) || out.H != want.H {
			t.Fatalf("after %v: %v, want %v", said, out, want)
		}
	}
}

// fresh returns what a new decoder says after an answer.
func fresh(t *testing.T, question string, ps []passages.Passage, temperature float64, answer []tandem.Token) decoder.Output {
	t.Helper()
	out, err := open(t, config(temperature), question, ps).Next(t.Context(), 0, answer)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What NextAhead says about other answers is what Next says.
func TestAhead(t *testing.T) {
	const question = "Who owns the marina?"
	d := open(t, config(0), question, cloudNotes)
	first, err := d.Next(t.Context(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	pass := tandem.Pass{Keep: 0, Append: first.Dist.IDs[:1], Branches: []tandem.Branch{{Token: 5, Back: 1}, {Token: 7, Back: 1}, {Token: 5, After: 2}}, Guess: 4}
	out, also, chain, err := d.NextAhead(t.Context(), pass)
	if err != nil {
		t.Fatal(err)
	}
	if len(also) != 3 || len(chain) == 0 {
		t.Fatalf("%d alternatives, %d guesses", len(also), len(chain))
	}
	same := func(what string, answer []tandem.Token, dist tandem.Dist, h tandem.Fixed) {
		if want := fresh(t, question, cloudNotes, 0, answer); !reflect.DeepEqual(want.Dist, dist) || want.H != h {
			t.Errorf("%s: %v %v, want %v %v", what, dist, h, want.Dist, want.H)
		}
	}
	same("answer", pass.Append, out.Dist, out.H)
	for i, way := range [][]tandem.Token{{5}, {7}, {7, 5}} {
		same("branch", way, also[i].Dist, also[i].H)
	}
	said := slices.Clone(pass.Append)
	for _, f := range chain {
		said = append(said, f.Token)
		same("guess", said, f.Dist, f.H)
	}
}

// Sampled answers of one side, and of a pair in both couplings, follow the posterior over texts: their frequencies pass a
// chi-square test.
func TestSamplesFollowPosterior(t *testing.T) {
	for _, temperature := range []float64{1, 0.6} {
		testSamples(t, temperature)
	}
}

func testSamples(t *testing.T, temperature float64) {
	const question = "When does the museum open?"
	device := open(t, config(temperature), question, notes("Museums\nThe museum opens at 9:40 on weekdays and at 10:15 on Sundays. It opened in 1987."))
	cloud := open(t, config(temperature), question, notes("News\nFrom May on the museum will open at 8:30, not at 9:40. The doors open half an hour earlier.", "Leaflet\nIn winter the museum opens at 10:00."))
	for _, d := range []*Decoder{device, cloud} { // a sure reader tests little
		for i, c := range d.parts[0].contexts {
			d.parts[0].contexts[i].r, d.parts[0].contexts[i].texts = 0.3*c.r, flattened(c.texts)
		}
	}
	for _, c := range []struct {
		name  string
		rule  aggregator.Rule
		sides []*Decoder
	}{
		{"alone", aggregator.Rule{}, []*Decoder{cloud}},
		{"pair, shared", aggregator.Rule{Coupling: tandem.CouplingShared}, []*Decoder{device, cloud}},
		{"pair, speculative", aggregator.Rule{Coupling: tandem.CouplingSpeculative, Gamma: tandem.Mass / 2}, []*Decoder{device, cloud}},
	} {
		t.Run(fmt.Sprintf("%s at %v", c.name, temperature), func(t *testing.T) {
			want := posterior(c.sides)
			const n = 8_000
			count := map[string]int{}
			for seed := range uint64(n) {
				c.rule.Seed = seed
				count[answer(t, c.rule, c.sides...)]++
			}
			stat, cells, rest, restWant := 0.0, -1, n, 1.0
			for text, p := range want {
				if p*n < 5 {
					continue
				}
				d := float64(count[text]) - p*n
				stat += d * d / (p * n)
				cells++
				rest, restWant = rest-count[text], restWant-p
			}
			if restWant*n >= 5 {
				d := float64(rest) - restWant*n
				stat += d * d / (restWant * n)
				cells++
			}
			// Six standard deviations above the mean hardly ever happen by chance, and the seeds are fixed.
			if limit := float64(cells) + 6*math.Sqrt(2*float64(cells)); cells < 2 || stat > limit {
				t.Errorf("chi-square %.1f of %d degrees of freedom", stat, cells)
			}
		})
	}
}

// flattened returns the texts with probabilities that are closer to each other.
func flattened(texts []spelledText) []spelledText {
	sum := 0.0
	for i := range texts {
		texts[i].p = math.Pow(texts[i].p, 0.3)
		sum += texts[i].p
	}
	for i := range texts {
		texts[i].p /= sum
	}
	return texts
}

// posterior returns the probability of each text that sides may answer together.
func posterior(sides []*Decoder) map[string]float64 {
	out := map[string]float64{}
	var weights []float64
	for _, d := range sides {
		weights = append(weights, total(d))
	}
	h := decoder.LogSumExp(weights)
	for i, d := range sides {
		for _, c := range d.parts[0].contexts {
			share := math.Exp(weights[i]-h) * math.Exp(c.r/d.cfg.Temperature-total(d))
			for _, x := range c.texts {
				out[d.cfg.Tokenizer.Decode(x.tokens)] += x.p * share
			}
		}
	}
	return out
}

// total returns logsumexp(R_0 / T) over the contexts of a side.
func total(d *Decoder) float64 {
	var all []float64
	for _, c := range d.parts[0].contexts {
		all = append(all, c.r/d.cfg.Temperature)
	}
	return decoder.LogSumExp(all)
}

// The lower the temperature, the closer a pair is to what it says at 0.
func TestLowTemperature(t *testing.T) {
	const question = "When does the museum open?"
	say := func(temperature float64, seed uint64) string {
		device := open(t, config(temperature), question, notes("Museums\nThe museum opens at 9:40 on weekdays."))
		cloud := open(t, config(temperature), question, notes("Ships\nThe ferry leaves at 8:15."))
		return answer(t, aggregator.Rule{Greedy: temperature == 0, Seed: seed}, device, cloud)
	}
	want := say(0, 0)
	for _, temperature := range []float64{1e-9, 0.001, 0.1} {
		for seed := range uint64(40) {
			if got := say(temperature, seed); got != want {
				t.Errorf("at %v with seed %d: %q, want %q", temperature, seed, got, want)
			}
		}
	}
}

// At temperature 0 a side says the likeliest text of its most relevant context, however many others begin with another
// token, and a pair says that it does not know only if both sides do.
func TestLikeliest(t *testing.T) {
	const question = "Who owns the marina?"
	device, cloud := open(t, config(0), question, deviceNotes), open(t, config(0), question, notes("A\nThe boat is red.", "B\nThe bus is red."))
	say := func(c *docContext, r float64, text string) {
		c.r, c.texts = r, device.spell(formValue, []answerText{{text: text, p: 1}}, device.ends(0))
	}
	own, other := device.parts[0].contexts, cloud.parts[0].contexts
	for _, c := range []struct {
		device, cloud [2]float64
		want          string
	}{
		{[2]float64{-2.9, -9}, [2]float64{-3.1, -3.2}, "red boat"},
		{[2]float64{-3.1, -9}, [2]float64{-3.1, -3.2}, Unknown},
		{[2]float64{-5, -9}, [2]float64{-2.8, -2.9}, "old bus"},
		{[2]float64{-2.7, -9}, [2]float64{-2.8, -2.6}, "old car"},
	} {
		say(&own[0], c.device[0], "red boat")
		say(&own[1], c.device[1], "no")
		say(&own[2], -3, Unknown)
		say(&other[0], c.cloud[0], "old bus")
		say(&other[1], c.cloud[1], "old car")
		say(&other[2], -3, Unknown)
		device.answer, cloud.answer = nil, nil
		if got := answer(t, aggregator.Rule{Greedy: true}, device, cloud); got != c.want {
			t.Errorf("relevances %v and %v: %q, want %q", c.device, c.cloud, got, c.want)
		}
	}
}

// Of a sentence that is too long, a question why is told the clauses with what the reader points at, and never that alone.
func TestLongReason(t *testing.T) {
	const note = "Bridge\nThe old bridge in the valley, which had been closed to all traffic by the town, the county and the state, was taken down in May because its piers, of oak and larch, were rotten."
	cfg := config(0)
	cfg.MaxTokens = 24
	d := open(t, cfg, "Why was the old bridge taken down?", notes(note))
	sentence := note[len("Bridge\n"):]
	at := strings.Index(sentence, "its piers")
	got := d.spell(formReason, []answerText{{text: sentence, p: 1, quote: decoder.Quote{Text: sentence, From: at, To: at + len("its piers")}}}, nil)[0].text
	if !strings.HasPrefix(got, "… ") || !strings.Contains(got, "because its piers") {
		t.Errorf("%q", got)
	}
}

// Answers are spelled byte for byte, whatever the script.
func TestAnyScript(t *testing.T) {
	_, tok := opened()
	d := &Decoder{cfg: Config{Tokenizer: tok, MaxTokens: 1000}, end: tok.EOGs()[0]}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 10_000 {
		text := scripts.Text(r)
		c := d.spell(formValue, []answerText{{text: text, p: 1}}, []tandem.Token{d.end})[0]
		if got := tok.Decode(c.tokens); got != text {
			t.Fatalf("case %d: %q is spelled %q", i, text, got)
		}
	}
}

// Every word of an answer to any question stands in a passage, or the answer is Unknown.
func FuzzNothingInvented(f *testing.F) {
	f.Add("When does it open?", "Museum\nIt opens at 9:40.", uint64(1))
	f.Add("wifi", "- a\n- b: c\n| d | e |", uint64(2))
	f.Fuzz(func(t *testing.T, question, note string, seed uint64) {
		ps := notes(strings.ToValidUTF8(note, "?"), "Other\nThe marina belongs to Anna.")
		d := open(t, config(1), strings.ToValidUTF8(question, "?"), ps)
		text := answer(t, aggregator.Rule{Seed: seed}, d)
		held := strings.Join(refusal.Sentences[:], "\n") + "\n" + ps[0].Title + "\n" + ps[0].Text + "\n" + ps[1].Title + "\n" + ps[1].Text
		for _, word := range wholeWords(text) {
			if !slices.Contains(wholeWords(held), word) {
				t.Fatalf("%q of %q is in no passage", word, text)
			}
		}
	})
}

// A text that is too long is cut after a whole word.
func TestShortened(t *testing.T) {
	long := "Why it failed: " + strings.Repeat("unforeseeable circumstances ", 40) + "stopped us."
	cfg := config(0)
	cfg.MaxTokens = 30
	d := open(t, cfg, "Why did it fail?", notes("Report\n"+long))
	text := answer(t, aggregator.Rule{Greedy: true}, d)
	if len(d.answer) > 30 || text == Unknown || !strings.Contains(long, strings.TrimSuffix(text, " …")+" ") {
		t.Errorf("%d tokens: %q", len(d.answer), text)
	}
}

// What is too long is cut between words, or between the characters of scripts that have no spaces, and never within a
// word or a number.
func TestNothingIsCutWithin(t *testing.T) {
	_, tok := opened()
	for _, c := range []struct {
		text string
		room int
		want string
	}{
		{"4711-B", 4, "…"}, {"9:30", 3, "…"}, {"9:30", 1, ""}, {"the brothers Anselm", 3, "…"}, {"the brothers Anselm", 7, "the …"},
		{"12 000 500 euros", 9, "…"}, {"at 12 000 500 euros", 9, "at …"}, {"橋は古い", 9, "橋 …"}, {"4711-B", 6, "4711-B"},
	} {
		d := &Decoder{cfg: Config{Tokenizer: tok, MaxTokens: c.room}, end: tok.EOGs()[0]}
		got := d.spell(formValue, []answerText{{text: c.text, p: 1, quote: decoder.Quote{Text: c.text, To: len(c.text)}}}, nil)[0].tokens
		if text := tok.Decode(got); text != c.want {
			t.Errorf("%q in %d tokens: %q, want %q", c.text, c.room, text, c.want)
		}
		d.cfg.MaxTokens = 6
		if got := tok.Decode(d.spell(formValue, []answerText{{text: Unknown, p: 1}}, nil)[0].tokens); got != "I …" {
			t.Errorf("a refusal is cut to %q", got)
		}
	}
}

// A span is widened until it cuts no word and no amount, and never into the mark that makes a title a heading.
func TestWiden(t *testing.T) {
	for _, c := range []struct{ title, text, span, want string }{
		{"Manual", "AERODRY D20 DEHUMIDIFIER", "20 DEHUMIDIFIER", "D20 DEHUMIDIFIER"},
		{"Museum", "It opens at 9:40.", "9", "9:40"},
		{"Rent", "It costs 1.234,50 € a month.", "50", "1.234,50 €"},
		{"Cabin", "The password is harbour-7421.", "7421", "harbour-7421"},
		{"Law", "See No. 4, 5 and 6.", "4", "4"},
		{"", "Łukasz Żak", "ukasz", "Łukasz"},
		{"Lake cabin", "The key is there.", "# Lake", "Lake"},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		at := strings.Index(p.text, c.span)
		from, to := p.widen(at, at+len(c.span))
		if got := p.text[from:to]; got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.span, p.text, got, c.want)
		}
	}
}

// wholeWords returns the runs of letters, digits and marks in a text.
func wholeWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
}

// The form of an answer follows from how the question begins.
func TestForm(t *testing.T) {
	for question, want := range map[string]form{
		"When does the museum open?":        formValue,
		"And how much is the ferry?":        formValue,
		"Why was the trip cancelled?":       formReason,
		"how do I reset the router":         formSteps,
		"What does tea cost?":               formValue,
		"what costs 3 euros?":               formValue,
		"Which does Anna like?":             formValue,
		"Is the pool open on Sundays?":      formSentence,
		"What are the ingredients?":         formList,
		"which books did Anna lend me?":     formList,
		"On which days is it closed?":       formList,
		"who were the founders?":            formList,
		"Which two books did Anna lend me?": formList,
		"Which two do you mean?":            formValue,
		"On what date did it open?":         formValue,
		"wifi password":                     formValue,
		"What is the status of the order?":  formValue,
		"":                                  formValue,
	} {
		if got := formOf(question); got != want {
			t.Errorf("%q: form %d, want %d", question, got, want)
		}
	}
}

// A misspelt question has the form of the one that is meant, and is looked up as that is.
func TestMisspelt(t *testing.T) {
	for _, c := range []struct {
		text, misspelt, question string
		whole, named             bool
	}{
		{"Inn\nBreakfast is from 7:00. Guests can pay by card.", "Cuold I pay by card?", "Could I pay by card?", true, false},
		{"Boats\nBoat | Length | Berths\nHeron 24 | 7.3 | 4\nHeron 20 | 6.1 | 2", "How many berhts does the Heron 20 have?", "How many berths does the Heron 20 have?", false, true},
	} {
		for _, q := range []string{c.misspelt, c.question} {
			choices, err := config(0).Choices(t.Context(), q, notes(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if e := choices[0].Evidence; e.Whole != c.whole || e.Named != c.named || (e.Slips > 0) != (q == c.misspelt) {
				t.Errorf("%s: %+v", q, e)
			}
		}
	}
}

// Of a mail, what it says comes near, not the lines above it, unless they are asked for. A ticket has lines like these, too.
func TestNearInMail(t *testing.T) {
	const mail = "Inbox\nSubject: Boiler\nFrom: Ada Lund <ada@mill.example>\nTo: Ben Orr <ben@mill.example>\nDate: Mon, 6 May 2024\n\n" +
		"The boiler was repaired on Friday. The bill comes next month. Please keep the cellar dry."
	const ticket = "Ticket\nFrom: Kiel\nTo: Oslo\nDate: Mon, 6 May 2024\n\nKeep this ticket. Bikes cost extra."
	for _, c := range []struct {
		note, question string
		head           bool
	}{
		{mail, "When will the chimney in the cellar be swept?", false},
		{mail, "When does the swimming pool of the mill open?", false},
		{mail, "Wann wird der Kamin im Keller gefegt?", false},
		{mail, "When was the mail about the roof to Ada sent?", true},
		{ticket, "When does the swimming pool in Oslo open?", true},
	} {
		d := open(t, config(0), c.question, notes(c.note))
		if said := answer(t, aggregator.Rule{Greedy: true}, d); said != d.refusal {
			t.Errorf("%s: %s", c.question, said)
		}
		q := d.Parts()[0].Quotes[0]
		if near := q.Text[q.From:q.To]; strings.HasPrefix(near, "Date: ") != c.head {
			t.Errorf("%s: near is %q", c.question, near)
		}
	}
}

func TestRefusesConfig(t *testing.T) {
	good := config(0)
	for name, spoil := range map[string]func(*Config){
		"reader":      func(c *Config) { c.Reader = nil },
		"top-p":       func(c *Config) { c.TopP = 2 },
		"support":     func(c *Config) { c.MaxSupport = tandem.MaxSupport + 1 },
		"temperature": func(c *Config) { c.Temperature = -1 },
		"length":      func(c *Config) { c.MaxTokens = -1 },
	} {
		c := good
		spoil(&c)
		if _, err := New(t.Context(), c, decoder.Request{Question: "?"}); err == nil {
			t.Errorf("a bad %s passes", name)
		}
	}
}

// Under an answer that nobody knows stand the passages that come near, whole and each once; under others the sentences.
func TestNearPassages(t *testing.T) {
	long := "The ferry needs 40 minutes. " + strings.Repeat("A gull sat on the rail and looked at the water. ", 30) + "Bikes cost 3 euros."
	ps := notes("Ferry\n"+long, "Harbour museum\nThe harbour museum opens at 9:40. It closes at 17:20. Children pay nothing.")
	for question, want := range map[string]string{
		"When does the harbour museum close?":                 "It closes at 17:20.",
		"Who was the architect of the museum at the harbour?": "The harbour museum opens at 9:40. It closes at 17:20. Children pay nothing.",
		"How heavy may a passenger's dog be on the ferry?":    "",
	} {
		d := open(t, config(0), question, ps)
		said := answer(t, aggregator.Rule{Greedy: true}, d, open(t, config(0), question, nil))
		seen := map[int]bool{}
		for _, q := range d.Parts()[0].Quotes {
			if q.Passage == 1 && want != "" && q.Text != want {
				t.Errorf("%s: %s: quoted %q", question, said, q.Text)
			}
			if said == Unknown && (seen[q.Passage] || q.From >= q.To || len(q.Text) > decoder.MaxQuoteBytes || !strings.Contains(ps[q.Passage].Text, q.Text)) {
				t.Errorf("%s: quoted %q, %d to %d", question, q.Text, q.From, q.To)
			}
			seen[q.Passage] = true
			if q.Weight > 0 {
				break
			}
		}
		if want == "" && (said != Unknown || !seen[0]) {
			t.Errorf("%s: %s, with passages %v", question, said, seen)
		}
	}
}

// stopping is a scorer with which nobody waits for the answer once the passages are scored.
type stopping struct {
	decoder.Scorer
	stop func()
}

func (s stopping) Prepare(ps []passages.Passage) func([]float64, string) []float64 {
	score := s.Scorer.Prepare(ps)
	return func(dst []float64, query string) []float64 {
		s.stop()
		return score(dst, query)
	}
}

// An answer that is cancelled while its passages are read stops.
func TestReadingStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cfg := config(0)
	cfg.Scorer = stopping{cfg.Scorer, stop}
	if _, err := New(ctx, cfg, decoder.Request{Question: "What is the wifi password?", Passages: deviceNotes}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}
