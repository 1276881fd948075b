package node

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"tandem"
	"tandem/decoder"
	"tandem/pair"
	"tandem/retrieval/passages"
	"tandem/transport"
)

// cracked is an index that is damaged: its library panics, or finds an error that names a file.
type cracked struct{ calls int }

func (c *cracked) Search(context.Context, passages.Query, int) ([]passages.Passage, error) {
	if c.calls++; c.calls%2 == 1 {
		panic("slice bounds out of range")
	}
	return nil, errors.New("index is damaged: /srv/secret/store/7.zap: its checksum differs")
}

// A cloud whose index is damaged ends no more than the answers that need it, and does not tell devices where its files are.
func TestDamageEndsOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, _, ended := square(t, 4, func(c *CloudConfig) { c.Local.Documents = new(cracked) })
		for i := range 4 {
			exchange := openQuestion(t, devices[i%2])
			m, err := exchange.Receive(t.Context())
			fail, ok := m.(transport.Fail)
			if !ok || strings.Contains(fail.Text, "secret") || strings.Contains(fail.Text, "slice") {
				t.Errorf("%#v, %v", m, err)
			}
			exchange.Close()
		}
		synctest.Wait()
		if n := ended.Load(); n != 4 {
			t.Errorf("%d answers ended", n)
		}
	})
}

// crackedExchange is an exchange whose messages cannot be received without a fault.
type crackedExchange struct{ exchange }

func (crackedExchange) Receive(context.Context) (transport.Message, error) {
	panic("slice bounds out of range")
}

// A panic while a device's messages are received ends the answer, and the device is told so.
func TestFaultOfReceiving(t *testing.T) {
	device, cloud := transport.Pipe(toyVocab)
	ctx, gone := context.WithCancelCause(t.Context())
	a := &cloudAnswer{exchange: crackedExchange{cloud}, ctx: ctx, inbox: make(chan any, inboxSize)}
	gone(a.listen())
	var fault *internalFault
	if err := a.refuse(ctx.Err()); !errors.As(err, &fault) {
		t.Errorf("%v", err)
	}
	m, err := device.Receive(t.Context())
	if told, ok := m.(transport.Fail); !ok || strings.Contains(told.Text, "slice") {
		t.Errorf("%#v, %v", m, err)
	}
}

// brittleExchange is an exchange whose first message cannot be sent without a fault.
type brittleExchange struct {
	exchange
	sent []transport.Message
}

func (l *brittleExchange) Send(m ...transport.Message) error {
	if l.sent = append(l.sent, m...); len(l.sent) == 1 {
		panic("slice bounds out of range")
	}
	return nil
}

// A panic that nothing else has caught ends the answer, which counts like any other.
func TestFaultOfAnAnswerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []Served
		var log strings.Builder
		devices, cloud, _ := square(t, 4, func(c *CloudConfig) {
			c.Tokens, c.Observe, c.Log = 1, func(s Served) { ended = append(ended, s) }, slog.New(slog.NewTextHandler(&log, nil))
		})
		exchange := new(brittleExchange)
		cloud.answerContained(newLease(t.Context(), devices[0], nil), devices[0], exchange, beginOf(baselineQuestion, baselineSettings(tandem.WantDrafts)))
		if len(ended) != 1 || !errors.As(ended[0].Error, new(*internalFault)) || len(exchange.sent) != 2 {
			t.Errorf("%+v ended; the device was told %+v", ended, exchange.sent)
		}
		if !strings.Contains(log.String(), "brittleExchange") {
			t.Errorf("the log does not say where: %s", log.String())
		}
	})
}

type faulty struct{}

func (faulty) Next(context.Context, int, []tandem.Token) (decoder.Output, error) {
	panic("index out of range")
}

// A panic of what decodes is an error of its job.
func TestFaultOfAJob(t *testing.T) {
	out := make(chan any, 1)
	w, rest := startWorker(t.Context(), faulty{}, out)
	defer rest()
	w.do(pair.Decode{ID: 7})
	var fault *internalFault
	if d := (<-out).(decoded); d.id != 7 || !errors.As(d.err, &fault) || len(fault.stack) == 0 {
		t.Errorf("%+v", d)
	}
}
