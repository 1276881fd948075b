package main

import (
	"strings"
	"testing"
)

func TestALineForEachDocument(t *testing.T) {
	var out strings.Builder
	if err := run(strings.NewReader(`{"name":"a.md","text":"# The inn\n\nIt opens at 8:00."}`+"\n"+`{"name":"b.txt","text":""}`+"\n"+
		`{"name":"04-chat.txt","text":"Lake cabin\n\nAnna: the key is under the blue mat behind the door.\n[10:32] Ben: The door code of the cabin is 4471.\n"}`), &out); err != nil {
		t.Fatal(err)
	}
	if want := `[{"title":"The inn","text":"It opens at 8:00."}]` + "\n[]\n" +
		`[{"title":"Lake cabin","text":"Anna: the key is under the blue mat behind the door."},` +
		`{"title":"Lake cabin","text":"[10:32] Ben: The door code of the cabin is 4471."}]` + "\n"; out.String() != want {
		t.Errorf("%q, not %q", out.String(), want)
	}
	if err := run(strings.NewReader("{"), &out); err == nil {
		t.Error("half a line is accepted")
	}
	if err := run(strings.NewReader(`{"name":"c.xyz","text":"x"}`), &out); err == nil || !strings.Contains(err.Error(), "c.xyz") {
		t.Errorf("error %v for an unsupported file", err)
	}
}
