package main

import (
	"bufio"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/netem"
)

// A phone whose address changes during an answer, and that then receives nothing for a second, gives the same text without
// a remark. A chat goes on with a cloud that was killed and restarted. Session tickets are kept for the next process.
func TestPhoneMovesBetweenProcesses(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	relay, err := netem.Listen(c.address, netem.Config{Delay: 40 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	out, err := c.Command("pair", "--json", "--address", relay.Addr()).Output()
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Code string }
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := h.Run("pair", said.Code); err != nil {
		t.Fatalf("pair: %v %s", err, stderr)
	}
	whole := h.ask("--seed", "1", question)
	if !holds(whole.Answer, deviceKnows, cloudKnows) || whole.LocalOnly {
		t.Fatalf("answer %+v", whole)
	}
	tickets, err := filepath.Glob(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "sessions", "*.session"))
	if err != nil || len(tickets) != 1 {
		t.Errorf("session tickets %q, %v", tickets, err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ask := h.Command(ctx, "ask", "--seed", "1", "--placement", "sync", "--wait", "60s", question) // 80 ms per token
	var errs strings.Builder
	ask.Stderr = &errs
	text, err := ask.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ask.Start(); err != nil {
		t.Fatal(err)
	}
	var answer strings.Builder
	in := bufio.NewReader(text)
	for n := 0; ; n++ {
		b, err := in.ReadByte()
		if err != nil {
			break
		}
		answer.WriteByte(b)
		switch n {
		case 10:
			relay.Rebind()
		case 30:
			relay.Interrupt(time.Second, true)
		}
	}
	if err := ask.Wait(); err != nil {
		t.Fatalf("ask: %v\n%s", err, errs.String())
	}
	if got := strings.TrimSpace(answer.String()); got != whole.Answer || strings.Contains(errs.String(), "alone") {
		t.Errorf("on the way %q, at rest %q; %s", got, whole.Answer, errs.String())
	}

	chat := h.chat(ctx, "--seed", "1")
	for _, when := range []string{"before", "after"} {
		if when == "after" {
			c.kill()
			c.serve()
		}
		a := chat(question)
		if a.Answer != whole.Answer || a.LocalOnly {
			t.Errorf("%s the cloud's death: %q, %v", when, a.Answer, a.Remarks)
		}
	}
}
