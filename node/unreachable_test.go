package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tandem/transport"
)

// away is the error of an engine none of whose nodes answers.
type away struct{ error }

func (away) Unreachable() bool { return true }

// A cloud whose documents are on an engine that cannot be reached says so, without naming the engine, and takes no part: an
// answer from no documents would be "unknown".
func TestUnreachableDocuments(t *testing.T) {
	device, cloud := transport.Pipe(toyVocab)
	err := fmt.Errorf("%w: %w", errSearch, fmt.Errorf("search: %w", away{errors.New("no node answers: http://10.0.0.1:8080")}))
	(&cloudAnswer{exchange: cloud}).refuse(err)
	m, err := device.Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if fail, ok := m.(transport.Fail); !ok || !strings.Contains(fail.Text, "documents cannot be reached") || strings.Contains(fail.Text, "10.0.0.1") {
		t.Errorf("%+v", m)
	}
}
