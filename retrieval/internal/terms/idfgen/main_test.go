package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	frequency := make(map[string]int)
	text := strings.Repeat("filler ", pieceWords-1)
	pieces := count(text+"open "+text+"opens "+text+"opening "+text+"rare", frequency)
	if got, want := string(table(frequency, pieces)), "4\n4 filler\n3 open\n"; got != want {
		t.Errorf("table %q, want %q", got, want)
	}
}

// TestShippedTable checks that the statistics that ship are what the generator makes of their source.
func TestShippedTable(t *testing.T) {
	text, err := os.ReadFile("../../../../../shared/data/wikitext2/wiki.valid.raw")
	if err != nil {
		t.Skipf("no source: %v", err)
	}
	shipped, err := os.ReadFile("../idf.txt")
	if err != nil {
		t.Fatal(err)
	}
	frequency := make(map[string]int)
	if pieces := count(string(text), frequency); !bytes.Equal(table(frequency, pieces), shipped) {
		t.Error("idf.txt is not what idfgen writes: run go generate, and give the scorer a new name")
	}
}
