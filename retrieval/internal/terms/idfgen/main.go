// Command idfgen counts in how many 64-word pieces of an English text each term occurs, and writes the counts as the
// lexical scorer's statistics. The output holds terms and counts only, no text.
//
//	go run ./retrieval/internal/terms/idfgen -o retrieval/internal/terms/idf.txt TEXT…
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"tandem/retrieval/internal/terms"
)

const (
	pieceWords = 64
	least      = 3 // pieces that a term must occur in; rarer terms count as unknown
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "idf.txt", "the file to write")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("idfgen: name the text files to count")
	}
	frequency, pieces := make(map[string]int), 0
	for _, path := range flag.Args() {
		text, err := os.ReadFile(path)
		if err != nil {
			log.Fatalf("idfgen: %v", err)
		}
		pieces += count(string(text), frequency)
	}
	if err := os.WriteFile(*out, table(frequency, pieces), 0o644); err != nil {
		log.Fatalf("idfgen: %v", err)
	}
}

// count adds the pieces of text to frequency and returns their number.
func count(text string, frequency map[string]int) (pieces int) {
	fields := strings.Fields(text)
	for piece := range slices.Chunk(fields, pieceWords) {
		seen := make(map[string]bool)
		terms.Each(strings.Join(piece, " "), func(t []byte) { seen[string(t)] = true })
		for t := range seen {
			frequency[t]++
		}
		pieces++
	}
	return pieces
}

// table returns the number of pieces, then a line for each frequency with its terms in order.
func table(frequency map[string]int, pieces int) []byte {
	byCount := make(map[int][]string)
	for t, n := range frequency {
		if n >= least {
			byCount[n] = append(byCount[n], t)
		}
	}
	var counts []int
	for n, ts := range byCount {
		slices.Sort(ts)
		counts = append(counts, n)
	}
	slices.Sort(counts)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n", pieces)
	for _, n := range slices.Backward(counts) {
		fmt.Fprintf(&b, "%d %s\n", n, strings.Join(byCount[n], " "))
	}
	return b.Bytes()
}
