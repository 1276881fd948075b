package node

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/transport"
)

// written is a log that several goroutines write.
type written struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// A cloud warns of what it refuses, and its log names a device as the operator does, with the beginning of its key.
func TestLogOfACloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log written
		devices, cloud, _ := square(t, 2, func(c *CloudConfig) {
			c.KVMemory = 1
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
			c.Name = func(id transport.ID) string { return "operator's" }
		})
		if err := cloud.Fits(Question{Text: "?"}, tandem.Settings{Documents: 1, MaxTokens: 1}); err == nil {
			t.Error("a byte has room for a question")
		}
		exchange := openQuestion(t, devices[0])
		m, err := exchange.Receive(t.Context())
		if _, refused := m.(transport.Fail); !refused {
			t.Errorf("%T, %v", m, err)
		}
		synctest.Wait()
		for line := range strings.Lines(log.String()) {
			if !strings.Contains(line, `device=operator's key=`) {
				t.Errorf("who is meant by %s", line)
			}
		}
		if !strings.Contains(log.String(), `level=WARN msg=refused`) || !strings.Contains(log.String(), "MB for all questions") {
			t.Errorf("the log:\n%s", &log)
		}
	})
}

// However often a device is refused, it does not fill the log of the cloud, nor hide there what becomes of another.
func TestNoDeviceFillsTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log written
		writes := func(c *CloudConfig) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) }
		devices, _, _ := square(t, 2, writes, func(c *CloudConfig) { c.KVMemory = 1 })
		for i, d := range devices {
			for range []int{20, 1}[i] {
				if m, err := openQuestion(t, d).Receive(t.Context()); err != nil {
					t.Fatalf("%T, %v", m, err)
				}
			}
		}
		synctest.Wait()
		lines := map[string]int{} // by key
		for line := range strings.Lines(log.String()) {
			if _, key, _ := strings.Cut(line, "key="); strings.Contains(line, "msg=refused") {
				lines[strings.Fields(key)[0]]++
			}
		}
		for key, n := range lines {
			if n != 1 || len(lines) != 2 {
				t.Errorf("%d lines about %s", n, key)
			}
		}
	})
}

// However many messages a device sends that do not belong into an answer, the log has one line about them.
func TestNoAnswerFillsTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log written
		devices, _, _ := square(t, 2, func(c *CloudConfig) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		exchange := openQuestion(t, devices[0])
		for {
			m, err := exchange.Receive(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := m.(transport.Ready); ok {
				break
			}
		}
		for i := range 100 {
			if err := exchange.Send(transport.Got{Bytes: i}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // of virtual time
		}
		if n := strings.Count(log.String(), "unexpected message"); n != 1 {
			t.Errorf("%d lines about the messages of a device:\n%s", n, &log)
		}
	})
}
