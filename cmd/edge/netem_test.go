package main

import (
	"encoding/json"
	"net"
	"os"
	"testing"

	"tandem/netem"
)

// With --json, a relay says where it listens before it says what passed.
func TestNetemSaysWhereItListens(t *testing.T) {
	h := newHome(t)
	cmd := h.Command(t.Context(), "netem", "--json", "--listen", "127.0.0.1:0", "127.0.0.1:9")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := json.NewDecoder(out)
	var begin struct{ Listening, Target string }
	if err := said.Decode(&begin); err != nil {
		t.Fatal(err)
	}
	if _, port, err := net.SplitHostPort(begin.Listening); err != nil || port == "0" || begin.Target != "127.0.0.1:9" {
		t.Errorf("%+v", begin)
	}
	cmd.Process.Signal(os.Interrupt)
	var end map[string]map[string]uint64
	if err := said.Decode(&end); err != nil || cmd.Wait() != nil {
		t.Errorf("%v: %+v", err, end)
	}
	if _, ok := end["up"]["dropped"]; !ok {
		t.Errorf("names are not in small letters: %v", end)
	}
}

// What follows the two probabilities of --burst is no part of them.
func TestNetemBurst(t *testing.T) {
	for text, want := range map[string]bool{"0.01,0.3": true, "1,1": true, "0.01": false, "0.01,0.3x": false, "0.01,0.3,0.5": false, "0.01 0.3": false, "0.01,2": false} {
		cmd := netemCmd{Distribution: "normal", Queue: 150_000, Burst: text}
		cfg, err := cmd.path(netem.Up)
		if (err == nil) != want || want && (cfg.Burst.Enter <= 0 || cfg.Burst.Leave <= 0) {
			t.Errorf("--burst %s: %+v, %v", text, cfg.Burst, err)
		}
	}
}
