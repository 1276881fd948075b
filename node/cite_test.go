package node

import (
	"math"
	"testing"

	"tandem"
	"tandem/internal/refusal"
	"tandem/transport"
)

// A sentence is not known when the contexts without a document outweigh all others of both sides, and not
// because the cloud's message about its documents was lost.
func TestCite(t *testing.T) {
	together := []Token{{Text: "A", Own: .5}, {Text: " a.", Own: .5}, {Text: " B", Own: .5}, {Text: " b.", Own: .5}}
	alone := []Token{{Text: "A", Alone: true}, {Text: " a.", Alone: true}, {Text: " B", Alone: true}, {Text: " b.", Alone: true}}
	own := []sidePart{
		{from: 0, h: 3, nothing: 0.1, sources: []Source{{"Cabin", 0.9}}},
		{from: 2, h: 0, nothing: 0.9, sources: []Source{{"Cabin", 0.1}}},
	}
	cloud := []sidePart{
		{from: 0, h: 0, nothing: 0.8, sources: []Source{{"Museum", 0.2}}},
		{from: 2, h: 3, nothing: 0.1, sources: []Source{{"Museum", 0.9}}},
	}
	eta := 1 / (1 + math.Exp(-3))
	for _, c := range []struct {
		name    string
		tokens  []Token
		cloud   []sidePart
		first   string // source of the second sentence
		unknown [2]float64
	}{
		{"both sides", together, cloud, "Museum", [2]float64{0.1*eta + 0.8*(1-eta), 0.9*(1-eta) + 0.1*eta}},
		{"the cloud's message was lost", together, nil, "Cabin", [2]float64{0, 0}},
		{"without the cloud", alone, nil, "Cabin", [2]float64{0.1, 0.9}},
	} {
		got := cite(c.tokens, own, c.cloud)
		if len(got) != 2 || got[0].Text != "A a." || got[1].Text != "B b." {
			t.Fatalf("%s: %+v", c.name, got)
		}
		for i, p := range got {
			if math.Abs(p.Unknown-c.unknown[i]) > 1e-12 {
				t.Errorf("%s: sentence %d is unknown by %v, want %v", c.name, i, p.Unknown, c.unknown[i])
			}
		}
		if title := got[1].Sources[0].Title; title != c.first {
			t.Errorf("%s: the second sentence comes from %q", c.name, title)
		}
		if got[0].Relevance != 3 || (got[1].Relevance == 3) != (c.cloud != nil) {
			t.Errorf("%s: relevances %v and %v", c.name, got[0].Relevance, got[1].Relevance)
		}
	}
	own[0].quotes = []Quote{{Weight: .2, Relevance: 7}, {Weight: .6, Relevance: 2}, {Relevance: 9}}
	if got := cite(together, own, cloud); got[0].Relevance != 2 {
		t.Errorf("the heaviest sentence has 2, not %v", got[0].Relevance)
	}
}

// If the cloud was lost before it said what it drew on, a refusal that the device's documents do not say is still not known.
func TestCiteRefusalWithLostCloud(t *testing.T) {
	for _, c := range []struct {
		text    string
		own     float64 // share of the device's distributions
		by      tandem.By
		nothing float64
		unknown bool
	}{
		{"I don't know.", .9, tandem.ByBoth, .95, true},
		{"Das weiß ich nicht.", .9, tandem.ByBoth, .95, true},
		{"I don't know.", .4, tandem.ByCloud, .4, true},
		{"I don't know.", 0, tandem.ByCloud, .01, true}, // the cloud outvoted what the device thought
		{"The painter is not known.", .9, tandem.ByBoth, .7, true},
		{"The painter is not known.", .9, tandem.ByBoth, .05, false}, // a note of the device says so
		{"The painter is not known.", 0, tandem.ByCloud, .95, false}, // a document of the cloud's says so
		{"3 March 2026", .1, tandem.ByCloud, .95, false},             // so does one of these
		{"Nobody knows.", .9, tandem.ByBoth, .05, false},
	} {
		own := []sidePart{{nothing: c.nothing, sources: []Source{{"Cabin", 1 - c.nothing}}}}
		got := cite([]Token{{Text: c.text, Own: c.own, By: c.by}}, own, nil)[0]
		if unknown := refusal.Unknown(got.Text, got.Unknown); unknown != c.unknown {
			t.Errorf("%+v: unknown %v (%v)", c, unknown, got.Unknown)
		}
	}
}

// What a side has that says something else is shown also where its documents are not cited, the likelier of both.
func TestCiteOtherwise(t *testing.T) {
	foreign := []Token{{Text: "10"}, {Text: ":15"}} // words of the cloud's alone
	own := []sidePart{{h: 1, sources: []Source{{"Mine", 1}}, quotes: []Quote{{Text: "at 9:00", Relevance: 2.5}}, alternatives: []Quote{{Text: "at 9:00", Relevance: 1}}, odds: true}}
	cloud := []sidePart{{h: 3, sources: []Source{{"Its", 1}}, alternatives: []Quote{{Relevance: .5}}}}
	for _, c := range []struct {
		own, cloud []sidePart
		text       string
	}{{own, cloud, "at 9:00"}, {nil, cloud, ""}, {own, nil, "at 9:00"}} {
		if got := cite(foreign, c.own, c.cloud)[0].Otherwise; len(got) != 1 || got[0].Text != c.text {
			t.Errorf("%v, want %q", got, c.text)
		}
	}
	m := sourcesMessage(nil, own, true, false)
	if got := m.Parts[0].Otherwise; len(got) != 1 || got[0].Text != "" || got[0].Relevance != 1 {
		t.Errorf("a cloud that shows no sentences sends %+v", got)
	}
	if got := partsOf(sourcesMessage(nil, own, true, true))[0].alternatives; len(got) != 1 || got[0].Text != "at 9:00" {
		t.Errorf("a cloud that shows sentences sends %+v", got)
	}
}

// A cloud that claims every token by its weight and disowns the sentence afterwards does not get the device's note cited
// for it.
func TestCiteForged(t *testing.T) {
	forged := []Token{{Text: "The code is"}, {Text: " 0"}, {Text: "000"}, {Text: "."}}
	forged[0].Own = .3 // a beginning that the note shares
	own := []sidePart{{h: 9.4, nothing: 0.01, sources: []Source{{"Cabin", 0.99}}, quotes: []Quote{{Title: "Cabin", Text: "The code is 5827.", Weight: 1, Relevance: 9}}, odds: true}}
	for _, cloud := range [][]sidePart{nil, {{h: -100, nothing: 1, sources: []Source{{Title: "Codes"}}}}} {
		got := cite(forged, own, cloud)
		if len(got) != 1 || !got[0].Overruled {
			t.Fatalf("%+v", got)
		}
		for _, s := range got[0].Sources {
			if s.Title == "Cabin" {
				t.Errorf("the device's note is cited: %+v", got[0].Sources)
			}
		}
		if len(got[0].Quotes) != 0 {
			t.Errorf("the device's note is quoted: %+v", got[0].Quotes)
		}
	}
	own[0].h, own[0].nothing = -4096, 0 // its passages say nothing that goes on so, but one answers
	if got := cite(forged, own, []sidePart{{h: 5, sources: []Source{{"Codes", 1}}}}); !got[0].Overruled || len(got[0].Quotes) != 0 {
		t.Errorf("a device that would say otherwise: %+v", got)
	}
	own[0].odds = false // the relevance is a scorer's, and says nothing of that
	if got := cite(forged, own, []sidePart{{h: 5, sources: []Source{{"Codes", 1}}}}); got[0].Overruled {
		t.Errorf("a device whose passages have the question's words: %+v", got)
	}
	own[0].odds, own[0].quotes[0].Relevance = true, -3
	if got := cite(forged, own, []sidePart{{h: 5, sources: []Source{{"Codes", 1}}}}); got[0].Overruled {
		t.Errorf("a device that is mute: %+v", got)
	}
	own[0].h, own[0].nothing = 1, .99 // it knows nothing of it
	if got := cite(forged, own, []sidePart{{h: 5, sources: []Source{{"Codes", 1}}}}); got[0].Overruled || got[0].Sources[0].Title != "Codes" {
		t.Errorf("an answer of the cloud's that contradicts nobody: %+v", got)
	}
}

// What a cloud says of sentences that are in disorder, or lie beyond the answer, harms nobody.
func TestCiteDisorder(t *testing.T) {
	tokens := []Token{{Text: "a"}, {Text: " b"}, {Text: " c"}}
	cloud := []sidePart{{from: 2}, {from: 1}, {from: 9}}
	got := cite(tokens, nil, cloud)
	if len(got) != 1 || got[0].Text != "b c" {
		t.Errorf("%+v", got)
	}
	if s := sourcesOf([]transport.Source{{Weight: 1 + 1e-12}, {Weight: -1}}); s[0].Weight != 1 || s[1].Weight != 0 {
		t.Errorf("%+v", s)
	}
}

// A quote of the cloud keeps the column that answers.
func TestCloudQuoteKeepsColumn(t *testing.T) {
	got := quotesOf(wireQuotes([]Quote{{Title: "Fees", Text: "Row | 135", From: 6, To: 9, Column: "Fee EUR"}}, true))
	if len(got) != 1 || got[0].Column != "Fee EUR" {
		t.Errorf("%+v", got)
	}
}
