package terms

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ./idfgen -o idf.txt $WIKITEXT

// idfTable is the number of pieces of text that were counted, then lines that hold a count and the terms that occur in
// that many pieces. WIKITEXT names the text: the validation part of WikiText-2 (raw).
//
//go:embed idf.txt
var idfTable string

type termStatistics struct {
	idf  map[string]float64 // 0 for function words
	most float64            // of a term in one piece of text
}

// IDF returns the inverse document frequency of a term in English text, 0 for function words, and whether the term is known.
func IDF(term []byte) (idf float64, known bool) {
	idf, known = statistics().idf[string(term)]
	return idf, known
}

// MaxIDF returns the greatest inverse document frequency of a known term.
func MaxIDF() float64 { return statistics().most }

var statistics = sync.OnceValue(func() *termStatistics {
	table, err := parse(idfTable)
	if err != nil {
		panic("terms: idf.txt, which is built in: " + err.Error())
	}
	return table
})

func parse(text string) (*termStatistics, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	pieces, err := strconv.ParseFloat(lines[0], 64)
	if err != nil {
		return nil, err
	}
	idf := func(n float64) float64 { return math.Log(1 + (pieces-n+0.5)/(n+0.5)) }
	t := &termStatistics{idf: make(map[string]float64, 8192), most: idf(1)}
	for i, line := range lines[1:] {
		count, rest, _ := strings.Cut(line, " ")
		n, err := strconv.ParseFloat(count, 64)
		if err != nil || n > pieces {
			return nil, fmt.Errorf("line %d: count %q", i+2, count)
		}
		for term := range strings.FieldsSeq(rest) {
			t.idf[term] = idf(n)
		}
	}
	Each(functionWords, func(w []byte) { t.idf[string(w)] = 0 })
	return t, nil
}

// functionWords say how a question is asked or how a sentence is built, not what it is about.
const functionWords = `a an the this that these those some any each every all both either neither no not nor
 i me my mine we us our ours you your yours he him his she her hers it its they them their theirs one
 be am is are was were been being have has had having do does did doing done can could will would shall
 should may might must let lets s t d ll re ve m don doesn didn isn aren wasn won
 and or but if then else so as than because while though although
 of in on at to from by for with without about into onto over under up down out off through during
 before after between against within
 what which who whom whose when where why how much many there here
 please tell say know give me just also too very more most other such only own same again once
 get got go goes going come comes happen exactly currently called named`
