package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/doctor"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/decoder"
	"tandem/node"
	"tandem/profiler"
	"tandem/retrieval/passages"
	"tandem/transport"
)

type doctorCmd struct {
	doctor.Flags
	Profile bool `help:"Measure the model's decoding delays again, with dummy documents, and keep them." env:"-"`
}

func (c *doctorCmd) Help() string {
	return `Examples:
  edge doctor
  edge doctor --model qwen2.5-0.5b-instruct-q4_k_m.gguf --profile
  edge doctor --json | jq '.checks[] | select(.state != "ok")'

Each line is ok, a note (something to know) or broken. The exit code is 1 if anything is broken.`
}

func (c *doctorCmd) Run(a *cli.App) error {
	return doctor.Run(a, c.Flags,
		func() []doctor.Check { return phoneChecks("/") },
		func() []doctor.Check { return c.profile(a) },
		func() []doctor.Check { return c.clouds(a) })
}

// profile reports the model's decoding delays, measured now or before.
func (c *doctorCmd) profile(a *cli.App) []doctor.Check {
	m, err := c.Open(a)
	if err != nil {
		return nil // the model check reports it
	}
	defer m.Close()
	reader, err := modelcmd.ReaderFlags{}.OpenSpan(c.ModelFlags)
	if err != nil {
		return []doctor.Check{doctor.Failed("profile", err)}
	}
	by := modelcmd.AnswererOf(m, reader, c.Threads)
	p, known := a.LoadProfile(by)
	read := profiled{documents: modelcmd.DecoderDocuments, unit: "tokens in all contexts together"}
	read.limit = read.documents * m.Config().Context
	if reader != nil {
		read = profiled{modelcmd.SpanDocuments, modelcmd.SpanDocuments * passages.DefaultWords, "words in all passages together"}
	}
	if c.Profile {
		a.Progress("measuring the decoding delays")
		defer a.Clear()
		settings := tandem.Settings{
			Nucleus: decoder.DefaultTopP, Support: decoder.DefaultMaxSupport, Documents: read.documents,
		}
		fresh, samples, err := cli.MeasureProfile(a, modelcmd.NewLocal(m, reader, nil, nil), by, settings)
		if err == nil {
			err = a.SaveProfile(by, fresh)
		}
		if err != nil {
			return []doctor.Check{doctor.Failed("profile", err)}
		}
		return []doctor.Check{read.check(fresh, samples)}
	}
	if !known {
		return []doctor.Check{{Name: "profile", State: doctor.Noted, Detail: "the model's delays are not measured yet: the first answer measures them", Hint: "or edge doctor --profile"}}
	}
	return []doctor.Check{read.check(p, nil)}
}

// profiled is what an answerer reads by default.
type profiled struct {
	documents int    // passages of a side
	limit     int    // the most that it reads of them
	unit      string // of limit, and of the lengths of a profile
}

// check says what a token takes behind some lengths. The constants of the fit are only in the data.
func (r profiled) check(p cli.DecodeProfile, samples []profiler.Sample) doctor.Check {
	var takes []string
	for _, tokens := range []int{256, 1024, 4096} {
		tokens = min(tokens, r.limit)
		takes = append(takes, fmt.Sprintf("%.3g ms behind %d", tandem.Milliseconds(p.Decode.At(tokens)), tokens))
		if tokens == r.limit {
			break
		}
	}
	text := fmt.Sprintf("%s on %s: a token takes about %s %s; measured with %s, %s", p.Model, p.Device,
		strings.Join(takes, ", "), r.unit, p.From, p.Made.Local().Format(time.DateTime))
	data := profileJSON{DecodeProfile: p}
	for _, s := range samples {
		data.Samples = append(data.Samples, sampleJSON{s.Length, tandem.Milliseconds(s.Took)})
	}
	return doctor.Check{Name: "profile", State: doctor.OK, Detail: text, Data: data}
}

// profileJSON is a profile with its measurements, for doctor --json.
type profileJSON struct {
	cli.DecodeProfile
	Samples []sampleJSON `json:"samples,omitempty"`
}

type sampleJSON struct {
	Length int     `json:"length"` // tokens in the contexts of all rows
	Ms     float64 `json:"ms"`
}

// clouds tries every paired cloud.
func (c *doctorCmd) clouds(a *cli.App) []doctor.Check {
	dirs, err := a.Dirs()
	if err != nil {
		return nil
	}
	peers, err := transport.OpenPeers(dirs.Peers()).List()
	if err != nil {
		return []doctor.Check{doctor.Failed("cloud", err)}
	}
	if len(peers) == 0 {
		who := "the sample cloud answers"
		if x, err := indexcmd.Open(a, indexcmd.PassageFlags{}); x != nil || err != nil {
			who = "this device answers alone"
			if x != nil {
				x.Close()
			}
		}
		return []doctor.Check{{Name: "cloud", State: doctor.Noted, Detail: "none is paired, so " + who, Hint: "cloud pair there, edge pair CODE here"}}
	}
	m, err := c.Open(a)
	if err != nil {
		return nil // the model check reports it
	}
	defer m.Close()
	id, err := transport.LoadOrCreateIdentity(dirs.Config)
	if err != nil {
		return []doctor.Check{doctor.Failed("cloud", err)}
	}
	reader, err := modelcmd.ReaderFlags{}.OpenSpan(c.ModelFlags)
	if err != nil {
		return []doctor.Check{doctor.Failed("cloud", err)}
	}
	hello := modelcmd.NewLocal(m, reader, nil, nil).Hello(tandem.Device, cli.Version(), cli.HostName("edge"))
	var checks []doctor.Check
	for _, p := range peers {
		checks = append(checks, tryCloud(a, p, transport.ClientConfig{Identity: id, Peer: p.ID, Hello: hello, Log: a.Log}))
	}
	return checks
}

// tryWithin is how long a cloud has to answer. On a busy machine a handshake may take seconds.
const tryWithin = 10 * time.Second

// tryCloud connects to a paired cloud, to each of its replicas if it has several, and closes the connections.
func tryCloud(a *cli.App, p transport.Peer, cfg transport.ClientConfig) doctor.Check {
	addresses := p.Addresses()
	if len(addresses) == 0 {
		return doctor.Check{Name: "cloud", State: doctor.Broken, Detail: cli.Escape(p.Name) + " has no address", Hint: pairAgain}
	}
	a.Progress("asking %s", p.Name)
	defer a.Clear()
	ctx, cancel := context.WithTimeout(a, tryWithin)
	defer cancel()
	conn, address, err := transport.DialAny(ctx, addresses, func(ctx context.Context, address string) (*transport.Conn, error) {
		return transport.Dial(ctx, address, cfg)
	})
	if err != nil {
		why := strings.ReplaceAll(err.Error(), "\n", "; ") // one per address
		return doctor.Check{Name: "cloud", State: doctor.Broken, Detail: fmt.Sprintf("%s: %s", cli.Escape(p.Name), why), Hint: wayBack(err)}
	}
	defer conn.Close("checked")
	hello := conn.Hello()
	c := doctor.Check{Name: "cloud", State: doctor.OK, Detail: fmt.Sprintf("%s at %s, model for decoding %s, RTT %v",
		cli.Escape(p.Name), address, cli.Escape(hello.Model), conn.RTT().Round(100*time.Microsecond))}
	if hello.Replica == "" {
		return c
	}
	for _, more := range hello.Addrs {
		if !slices.Contains(addresses, more) {
			addresses = append(addresses, more)
		}
	}
	replicas := tryReplicas(a, addresses, cfg)
	c.Detail, c.Data = fmt.Sprintf("%s, model for decoding %s, %s: ", cli.Escape(p.Name), cli.Escape(hello.Model), cli.Count(len(replicas), "replica")), replicas
	for i, r := range replicas {
		if i > 0 {
			c.Detail += ", "
		}
		if c.Detail += r.Address; r.Error == "" {
			c.Detail += fmt.Sprintf(" (RTT %.3g ms)", r.RTT)
			continue
		}
		c.Detail += " (not reached)"
		c.State, c.Hint = doctor.Noted, r.Address+": "+r.Error
	}
	return c
}

// replicaJSON is an address of a cloud with several replicas.
type replicaJSON struct {
	Address string  `json:"address"`
	Replica string  `json:"replica,omitempty"` // which answers there
	RTT     float64 `json:"rtt_ms,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// tryReplicas connects to all addresses, and returns the nearest first.
func tryReplicas(a *cli.App, addresses []string, cfg transport.ClientConfig) []replicaJSON {
	ctx, cancel := context.WithTimeout(a, tryWithin)
	defer cancel()
	out := make([]replicaJSON, len(addresses))
	var tries sync.WaitGroup
	for i, address := range addresses {
		tries.Go(func() {
			out[i].Address = address
			conn, err := transport.Dial(ctx, address, cfg)
			if err != nil {
				out[i].Error = err.Error()
				return
			}
			defer conn.Close("checked")
			out[i].Replica, out[i].RTT = conn.Hello().Replica, tandem.Milliseconds(conn.RTT())
		})
	}
	tries.Wait()
	slices.SortStableFunc(out, func(a, b replicaJSON) int {
		return cmp.Or(cmp.Compare(len(a.Error), len(b.Error)), cmp.Compare(a.RTT, b.RTT))
	})
	return out
}

const pairAgain = "pair again: \"cloud pair\" there, \"edge pair CODE\" here"

// wayBack returns what to do about err, the reason why a cloud could not be reached; "" if err says so itself.
func wayBack(err error) string {
	var stranger *transport.NotPairedError
	var differ *transport.MismatchError
	var refused *transport.RefusedError
	switch {
	case errors.As(err, &stranger), errors.Is(err, transport.ErrOtherKey):
		return pairAgain
	case errors.As(err, &differ), errors.Is(err, node.ErrDistrusted):
		return ""
	case errors.As(err, &refused):
		return "see what \"cloud serve\" says there"
	}
	return "is \"cloud serve\" running there, and does the network let UDP through?"
}
