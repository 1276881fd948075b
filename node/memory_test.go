package node

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
	"tandem/transport"
)

// Answers never have more memory than there is together, each gets its share in the end, in the order in which they came, and all
// is given back.
func TestMemoryOfSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{total: 10}
		p := newSlots(50, b)
		var mu sync.Mutex
		var all sync.WaitGroup
		held, most, order := int64(0), int64(0), []int{}
		for i := range 50 {
			n := int64(1 + i%7)
			if i == 20 {
				n = 10 // it is not passed over by those who need less
			}
			all.Go(func() {
				_, exchange := transport.Pipe(toyVocab)
				l, err := p.enter(t.Context(), t.Context(), &toyVisitor{id: transport.ID{byte(i)}}, Normal, n, exchange)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				held += n
				most, order = max(most, held), append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				held -= n
				mu.Unlock()
				p.release(l)
			})
			time.Sleep(time.Millisecond)
		}
		all.Wait()
		if most != 10 || len(order) != 50 || b.taken.Load() != 0 {
			t.Errorf("%d served, at most %d of 10 held, %d in the end", len(order), most, b.taken.Load())
		}
		for at, i := range order {
			if at-i > 8 || i-at > 8 { // some begin at the same instant
				t.Errorf("number %d was served after %d others", i, at)
			}
		}
	})
}

// What never fits is refused, with a hint; without a bound everything fits.
func TestBudget(t *testing.T) {
	b := budget{total: 10 << 20}
	if err := b.neverFits(11 << 20); err == nil || !strings.Contains(err.Error(), "--max-tokens") {
		t.Errorf("more than there is: %v", err)
	}
	if err := b.neverFits(10 << 20); err != nil || !b.fits(10<<20) || b.fits(11<<20) {
		t.Errorf("all that there is: %v", err)
	}
	var none budget
	if err := none.neverFits(1 << 60); err != nil || !none.fits(1<<60) {
		t.Error("no bound bounds")
	}
}

// Who gives up lets those pass that waited behind it for memory.
func TestGivingUpLetsOthersPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSlots(8, &budget{total: 10})
		enter := func(ctx context.Context, name byte, n int64) error {
			_, exchange := transport.Pipe(toyVocab)
			_, err := p.enter(t.Context(), ctx, &toyVisitor{id: transport.ID{name}}, Normal, n, exchange)
			return err
		}
		if err := enter(t.Context(), 1, 6); err != nil {
			t.Fatal(err)
		}
		large, hangUp := context.WithCancel(t.Context())
		defer hangUp()
		go enter(large, 2, 8)
		synctest.Wait()
		small, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		entered := make(chan error, 1)
		go func() { entered <- enter(small, 3, 2) }()
		synctest.Wait()
		if len(entered) > 0 {
			t.Fatal("it passed the one before it")
		}
		hangUp()
		if err := <-entered; err != nil {
			t.Error(err)
		}
	})
}

// Whatever a device wants that takes keys and values counts.
func TestMemoryOfQuestions(t *testing.T) {
	c, passage := reserving(t)
	if n := c.needs(ofEight(tandem.WantText, 0)); n != 0 {
		t.Errorf("passages as text need %d bytes", n)
	}
	drafts, answer, caches := c.needs(ofEight(tandem.WantDrafts, 0)), c.needs(ofEight(tandem.WantAnswer, 0)), c.needs(ofEight(tandem.WantKV, 1))
	if drafts < 8*passage || answer != drafts || caches != 3*drafts {
		t.Errorf("drafts need %d bytes, an answer %d, caches %d", drafts, answer, caches)
	}
}

// Passages that share a context count as much as others.
func TestMemoryOfSharedContexts(t *testing.T) {
	c, passage := reserving(t)
	for contexts := range 10 {
		if n := c.needs(ofEight(tandem.WantDrafts, contexts)); n < 8*passage {
			t.Errorf("%d contexts need %d bytes, which %d of 8 passages fill", contexts, n, n/passage)
		}
	}
}

// An answer without a device takes a slot and memory like any other.
func TestAloneTakesASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, cloud, _ := square(t, 1, func(c *CloudConfig) { c.KVMemory = 1 << 30 })
		s := baselineSettings(tandem.WantDrafts)
		ends := make(chan struct{})
		answered := make(chan error, 1)
		go func() {
			answered <- cloud.Alone(t.Context(), baselineQuestion, s, func(context.Context, tandem.Settings) error { <-ends; return nil })
		}()
		synctest.Wait()
		if load := cloud.Load(); load.Answers != 1 || load.Waiting != 0 || load.KVReserved == 0 {
			t.Errorf("%+v", load)
		}
		waits := openQuestion(t, devices[0])
		if taken(t, waits) {
			t.Error("a device has the only place, too")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := cloud.Alone(ctx, baselineQuestion, s, func(context.Context, tandem.Settings) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second one: %v", err)
		}
		close(ends)
		if err := <-answered; err != nil || !taken(t, waits) {
			t.Errorf("%v, or the place is not free", err)
		}
		waits.Close()
		synctest.Wait()
		cloud.memory.total = 1
		if err := cloud.Alone(t.Context(), baselineQuestion, s, nil); err == nil || !strings.Contains(err.Error(), "--max-tokens") {
			t.Errorf("with too little memory: %v", err)
		}
	})
}

// An answer without a device stays within the cloud's bounds, in what it reserves and in what it may use.
func TestAloneIsBounded(t *testing.T) {
	cloud, passage := reserving(t)
	cloud.Documents, cloud.Tokens = 2, 8
	s := baselineSettings(tandem.WantDrafts)
	s.Documents, s.Contexts, s.MaxTokens = tandem.MaxDocuments, tandem.MaxContexts, tandem.MaxAnswer
	err := cloud.Alone(t.Context(), baselineQuestion, s, func(_ context.Context, s tandem.Settings) error {
		if s.Documents != 2 || s.Contexts != 2 || s.MaxTokens != 8 {
			t.Errorf("%d documents in %d contexts, %d tokens", s.Documents, s.Contexts, s.MaxTokens)
		}
		if n := cloud.Load().KVReserved; n < 2*passage || n > 4*passage {
			t.Errorf("%d bytes reserved, which %d passages fill", n, n/passage)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// However many answers without a device are asked for, they wait for their turn. One that takes too long is told to ask again.
func TestAloneWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud, _ := reserving(t)
		s := baselineSettings(tandem.WantDrafts)
		answered := make(chan error, 2*maxWaiting)
		for range cap(answered) {
			go func() {
				answered <- cloud.Alone(t.Context(), baselineQuestion, s, func(ctx context.Context, _ tandem.Settings) error {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(maxHold + time.Minute):
						return nil
					}
				})
			}()
		}
		late := 0
		for range cap(answered) {
			if err := <-answered; errors.Is(err, errTooLong) && errors.Is(err, ErrLater) {
				late++
			} else if err != nil {
				t.Error(err)
			}
		}
		if want := cap(answered) - defaultLimit; late < want {
			t.Errorf("%d answers made room for others, want %d", late, want)
		}
	})
}

// reserving is a cloud that reserves memory, and what a passage may need.
func reserving(t *testing.T) (c *Cloud, passage int64) {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Context: 1 << 15}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	config := m.Config()
	return NewCloud(CloudConfig{Local: Local{Model: m}, KVMemory: 1 << 40}), passagePositions * config.KVBytes()
}

// ofEight is a question to be answered from eight passages.
func ofEight(want tandem.Want, contexts int) transport.Begin {
	s := baselineSettings(want)
	s.Documents, s.Contexts = 8, contexts
	return beginOf(baselineQuestion, s)
}
