package transport

import (
	"encoding/hex"
	"fmt"

	"tandem"
)

// ProtocolVersion is the version of the wire format. Sides of different versions refuse each other.
const ProtocolVersion = 1

// Hello is what each side says about itself before the first exchange. Two sides may answer together only when they use
// the same vocabulary, chat template and scorer: otherwise tokens and relevances do not mean the same on both (DRAGON §2).
type Hello struct {
	Version   int    // ProtocolVersion; filled in by Dial and Listen
	Software  string // for logs only
	Name      string // how the peer may call this side in logs and summaries
	Side      tandem.Side
	Vocab     [32]byte // fingerprint of the tokenizer
	VocabSize int
	Template  [32]byte // fingerprint of the chat template
	Scorer    string   // name of the relevance scorer, its version included
	Model     string   // for summaries only: the models may differ
	Adapter   string   // fingerprint of the model's adapter in hex, empty for none; the adapters may differ
	Replica   string   // names this process among the replicas of a cloud, by its own address; empty if it is the only one
	Addrs     []string // where all replicas can be reached; at most MaxReplicas
}

// MismatchError says which property keeps two sides from answering together.
type MismatchError struct {
	What          string // "vocabulary", "chat template", …
	Local, Remote string
	Models        [2]string // names of the models, here and there; both empty if the models do not matter
}

func (e *MismatchError) Error() string {
	if e.What == "side" {
		return fmt.Sprintf("both ends take the same side: %s here, %s there; %s", e.Local, e.Remote, e.remedy())
	}
	if here, there := e.Models[0], e.Models[1]; here != there {
		return fmt.Sprintf("the two sides run different models, %s here and %s there, with different %ss (%s and %s); %s", here, there, e.What, e.Local, e.Remote, e.remedy())
	}
	return fmt.Sprintf("the two sides have different %ss: here %s, there %s; %s", e.What, e.Local, e.Remote, e.remedy())
}

func (e *MismatchError) remedy() string {
	switch e.What {
	case "protocol version":
		return "run the same release on both sides"
	case "side":
		return "one side must be the device and the other the cloud"
	case "scorer":
		return "run both sides with the same --reader (--soc and --lora take the decoder) and the same release"
	}
	return "use models of the same family on both sides"
}

// check compares what both sides said. The first difference is returned as a *MismatchError.
func (h Hello) check(remote Hello) error {
	hash := func(b [32]byte) string { return fmt.Sprintf("%x", b[:6]) }
	differ := func(what, here, there string) error {
		return &MismatchError{What: what, Local: here, Remote: there, Models: [2]string{h.Model, clean(remote.Model)}}
	}
	switch {
	case h.Version != remote.Version:
		return &MismatchError{What: "protocol version", Local: fmt.Sprint(h.Version), Remote: fmt.Sprint(remote.Version)}
	case h.Side == remote.Side || remote.Side > tandem.Cloud:
		return &MismatchError{What: "side", Local: h.Side.String(), Remote: remote.Side.String()}
	case h.VocabSize != remote.VocabSize:
		return differ("vocabulary size", fmt.Sprint(h.VocabSize), fmt.Sprint(remote.VocabSize))
	case h.Vocab != remote.Vocab:
		return differ("vocabulary fingerprint", hash(h.Vocab), hash(remote.Vocab))
	case h.Template != remote.Template:
		return differ("chat template", hash(h.Template), hash(remote.Template))
	case h.Scorer != remote.Scorer:
		return differ("scorer", fmt.Sprintf("%q", h.Scorer), fmt.Sprintf("%q", remote.Scorer))
	}
	return nil
}

// limits reports whether a Hello can be sent or used at all.
func (h Hello) limits() error {
	if h.VocabSize < 1 || h.VocabSize > 1<<24 {
		return fmt.Errorf("hello: vocabulary of %d tokens", h.VocabSize)
	}
	if b, err := hex.DecodeString(h.Adapter); err != nil || len(b) != 0 && len(b) != 32 {
		return fmt.Errorf("hello: %.80q is not a fingerprint of an adapter", h.Adapter)
	}
	addrs := h.Addrs
	if h.Replica != "" {
		addrs = append([]string{h.Replica}, addrs...)
	}
	for _, addr := range addrs {
		if err := checkAddr(addr); err != nil {
			return fmt.Errorf("hello: %w", err)
		}
	}
	return atMost(
		bound{"hello: addresses", len(h.Addrs), MaxReplicas},
		bound{"hello: software", len(h.Software), MaxText},
		bound{"hello: name", len(h.Name), MaxText},
		bound{"hello: scorer", len(h.Scorer), MaxText},
		bound{"hello: model", len(h.Model), MaxText},
	)
}

func (h *Hello) clean() {
	h.Software, h.Name, h.Model = clean(h.Software), clean(h.Name), clean(h.Model)
}
