package soak

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answerOf makes an answer of tokens; those below 0 were decided alone.
func answerOf(text string, marked bool, ids ...int) (a answer) {
	a.Answer, a.Degraded = text, marked
	a.LocalOnly = len(ids) > 0 && ids[0] < 0
	for _, id := range ids {
		a.Tokens = append(a.Tokens, struct {
			ID    int
			Alone bool
		}{max(id, -id), id < 0})
	}
	return a
}

// An answer is lost if it is another than the pair's and not marked so, or marked and not what it must be then.
func TestWrong(t *testing.T) {
	q := ask{whole: answerOf("nine", false, 1, 2, 3), alone: answerOf("unknown", true, -7, -8)}
	for name, c := range map[string]struct {
		got  answer
		lost bool
	}{
		"the pair's":                    {answerOf("nine", false, 1, 2, 3), false},
		"another, unmarked":             {answerOf("ten", false, 1, 2, 4), true},
		"cut short, unmarked":           {answerOf("ni", false, 1, 2), true},
		"alone from the second token":   {answerOf("nought", true, 1, -5, -6), false},
		"marked, with a wrong token":    {answerOf("nought", true, 2, -5, -6), true},
		"marked, agreed on too much":    {answerOf("nine ten", true, 1, 2, 3, 4, -5), true},
		"alone, the device's own":       {answerOf("unknown", true, -7, -8), false},
		"alone, not the device's own":   {answerOf("seven", true, -7, -9), true},
		"nothing, and nothing is said":  {answerOf("", false), true},
		"whole, the rest decided alone": {answerOf("nine!", true, 1, 2, 3, -9), false},
	} {
		if why := q.wrong(c.got); (why != "") != c.lost {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// A command that fails counts as lost unless it names a cause, and with a panic whatever it names.
func TestJudge(t *testing.T) {
	q := ask{question: "When?", whole: answerOf("nine", false, 1)}
	right, err := json.Marshal(q.whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		s    said
		lost bool
	}{
		"right":               {said{out: right}, false},
		"no JSON":             {said{out: []byte("nine")}, true},
		"an error":            {said{err: errors.New("exit status 1"), errs: []byte("edge: no")}, true},
		"an error with cause": {said{err: errors.New("exit status 1"), errs: []byte("edge: /x/y is damaged")}, false},
		"a panic":             {said{err: errors.New("exit status 2"), errs: []byte("panic: /x/y")}, true},
		"it hung":             {said{err: errHung}, true},
	} {
		w := &world{whole: t.Context(), result: Result{Faults: map[string]int{}}}
		(&device{world: w}).judge(q, c.s, "a test", "/x/y")
		if (len(w.result.Lost) > 0) != c.lost {
			t.Errorf("%s: %q", name, w.result.Lost)
		}
	}
}

// Damage is one bit of one file, and is undone.
func TestDamage(t *testing.T) {
	h := home{dir: t.TempDir()}
	if _, err := h.damage(rand.IntN); err != errNoFiles {
		t.Errorf("an empty home: %v", err)
	}
	for _, name := range []string{"a", "b/c"} {
		path := filepath.Join(h.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(name, 20)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		f, err := h.damage(rand.IntN)
		if err != nil {
			t.Fatal(err)
		}
		now, _ := os.ReadFile(f.path)
		bits := 0
		for i := range now {
			for x := now[i] ^ f.before[i]; x != 0; x &= x - 1 {
				bits++
			}
		}
		if bits != 1 || len(now) != len(f.before) {
			t.Errorf("%d bits of %s differ", bits, f.path)
		}
		if err := f.restore(); err != nil {
			t.Fatal(err)
		}
		if now, _ := os.ReadFile(f.path); string(now) != string(f.before) {
			t.Errorf("%s is not what it was", f.path)
		}
	}
}

// Lockers have names of their own.
func TestLockers(t *testing.T) {
	seen := map[string]int{}
	for n := range 4096 {
		if before, ok := seen[lockerName(n)]; ok {
			t.Fatalf("lockers %d and %d are called %s", before, n, lockerName(n))
		}
		seen[lockerName(n)] = n
	}
}
