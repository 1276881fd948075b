package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/lora/streams"
)

func TestParseTalk(t *testing.T) {
	for text, want := range map[string]talk{
		"Ada: Hi!\nTom: Hello.\n  How are you?\n": {{"Ada", "Hi!"}, {"Tom", "Hello. How are you?"}},
		"[12:05] Ada: See https://example.org":    {{"Ada", "See https://example.org"}},
		"Are you free?\nCall me.":                 {{"They", "Are you free? Call me."}},
	} {
		if got := parseTalk(text); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if who := parseTalk("Tom: Hello.\nAda: Hi!\nAda: Are you there?").other(); who != "Tom" {
		t.Errorf("%s replies, want Tom", who)
	}
	if who := parseTalk("Ada: Hi!").other(); who != "Me" {
		t.Errorf("%s replies, want Me", who)
	}
}

func TestInventsName(t *testing.T) {
	for reply, want := range map[string]bool{
		"Great idea, Ada!": false, "Great idea, Ruth!": true, "Great! And you?": false, "OK, I'll wait.": false, "Friday is fine.": false, "See you on Monday!": true,
	} {
		if inventsName(reply, "Ada: Are you free on Friday?") != want {
			t.Errorf("%q: want %v", reply, want)
		}
	}
}

// Replies come from standard input, from arguments and from a long conversation; none is like another one, and the same command
// says the same.
func TestReply(t *testing.T) {
	t.Parallel()
	h := clitest.NewHome(t)
	type replies struct {
		Replies []replyJSON
		As      string
		Streams int
		Passes  int
		Tokens  int
	}
	ask := func(input string, args ...string) (r replies) {
		t.Helper()
		cmd := h.Command(t.Context(), append([]string{"reply", "--json", "--threads", "1"}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &r)
		}
		if err != nil {
			t.Fatalf("edge reply %q: %v\n%s", args, err, out)
		}
		return r
	}
	first := ask("Tom: Hello Ada.\nAda: Do you have time for lunch on Friday?\n")
	if first.As != "Tom" || first.Streams != 8 || len(first.Replies) < 3 || first.Passes >= first.Tokens {
		t.Errorf("%+v", first)
	}
	for i, r := range first.Replies {
		for _, other := range first.Replies[:i] {
			if streams.Similarity(r.Text, other.Text) >= streams.Alike {
				t.Errorf("%q and %q are alike", r.Text, other.Text)
			}
		}
	}
	if again := ask("Tom: Hello Ada.\nAda: Do you have time for lunch on Friday?\n"); fmt.Sprint(again.Replies) != fmt.Sprint(first.Replies) {
		t.Errorf("%v, then %v", first.Replies, again.Replies)
	}
	if drawn := ask("", "--streams", "3", "--temperature", "0.8", "--seed", "4", "--as", "Ruth", "Ada: Can you help me?"); drawn.As != "Ruth" || drawn.Streams != 3 {
		t.Errorf("%+v", drawn)
	}
	if long := ask(strings.Repeat("Tom: I wrote it all down in the book that you gave me.\nAda: Thank you.\n", 60)); len(long.Replies) == 0 {
		t.Error("no reply to a conversation longer than the context")
	}
	for _, args := range [][]string{{"--streams", "0", "Hi"}, {"--streams", "17", "Hi"}, {"--max-tokens", "0", "Hi"}, {"--lora", "nobody", "Hi"}} {
		if _, aside, err := h.Run(append([]string{"reply"}, args...)...); err == nil || aside == "" {
			t.Errorf("edge reply %q: %v", args, err)
		}
	}
}
