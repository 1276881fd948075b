package span

import (
	"testing"

	"tandem/model/gguf"
	"tandem/models"
)

func TestVocabulary(t *testing.T) {
	f, err := gguf.Parse("span", models.Span)
	if err != nil {
		t.Fatal(err)
	}
	v, err := VocabularyOf(f)
	if err != nil {
		t.Fatal(err)
	}
	if v.Rank("the") != 1 || v.Rank("recieved") != 0 || v.Rank("received") < 2 {
		t.Errorf("ranks of the %d, recieved %d, received %d", v.Rank("the"), v.Rank("recieved"), v.Rank("received"))
	}
	near := v.Near("recieved", 2, 3)
	if len(near) != 3 || near[0] != (Neighbour{"received", 1}) || near[1].Distance < near[0].Distance {
		t.Errorf("near recieved: %v", near)
	}
	for _, low := range []string{"", "q", "1234567"} {
		if near := v.Near(low, 2, 5); len(near) > 0 {
			t.Errorf("near %q: %v", low, near)
		}
	}
	reader, err := gguf.Parse("reader", models.Decoder)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := VocabularyOf(reader); err == nil {
		t.Errorf("a file without words gives %v", v)
	}
}
