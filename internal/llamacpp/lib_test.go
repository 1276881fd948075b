package llamacpp

import (
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	lib := Need(t)
	got, err := lib.ApplyTemplate("chatml", []Message{{"system", "S"}, {"user", "U"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if want := "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"; got != want {
		t.Errorf("chatml: %q, want %q", got, want)
	}
	if _, err := lib.Open("no-such-file.gguf", true); err == nil || !strings.Contains(err.Error(), "no-such-file") {
		t.Errorf("opening a missing file: %v", err)
	}
}
