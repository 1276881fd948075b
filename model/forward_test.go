package model

import (
	"context"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
)

func openTiny(t testing.TB, s tinymodel.Spec) *Model {
	t.Helper()
	m, err := OpenBytes("tiny", tinymodel.GGUF(s), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestSmoke(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{})
	out, err := m.Forward(context.Background(), []Row{{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2, 3}, All: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(len(out), out[2][:5])
	t.Log(m.Graphs(8)[1])
}
