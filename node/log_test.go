package node

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

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
		link := openQuestion(t, devices[0])
		m, err := link.Receive(t.Context())
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
