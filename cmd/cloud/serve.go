package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/examples"
	"tandem/node"
	"tandem/pair"
	"tandem/retrieval/search"
	"tandem/transport"
)

// defaultPort is where a cloud listens unless told otherwise.
const defaultPort = "4433"

type serveCmd struct {
	cli.PassageFlags `group:"Documents:"`
	cli.ModelFlags   `group:"Model:"`
	cli.CacheFlags   `group:"Model:"`

	Listen  string `help:"UDP address to listen on." default:":4433" placeholder:"HOST:PORT"`
	Public  string `help:"Serve this folder instead of the index." type:"existingdir" placeholder:"DIR"`
	Titles  string `help:"Tell devices the titles of the documents used: ${enum}. auto: for the sample and --public documents, not for the index." enum:"auto,yes,no" default:"auto"`
	Answers int    `help:"Answers drafted at once; more wait. One device gets all but one of them at most." default:"8"`
	Metrics string `help:"Serve Prometheus metrics over HTTP on this address; without it, none." placeholder:"HOST:PORT"`

	AllowDocuments bool `help:"Let devices fetch passages, for comparisons with methods that do (edge ask --method drcg-text). Only for the sample documents: no others are ever sent."`
}

func (c *serveCmd) Help() string {
	return `Examples:
  cloud serve
  cloud serve --listen 0.0.0.0:4433 --model qwen2.5-1.5b-instruct-q4_k_m.gguf
  cloud serve --public ./handbook --metrics 127.0.0.1:9090

Only paired devices can connect: run "cloud pair" for a code. Ctrl-C ends.

Metrics, under /metrics: tandem_answers_total, tandem_answer_seconds, tandem_tokens_total, tandem_drafts_total by side and fate, tandem_divergences_total; of the
decoder tandem_passes_total, tandem_rows_total by fate (valid, wasted, underutilised), tandem_further_rows_total and tandem_spared_passes_total by kind (hedge, check, guess),
and tandem_device_hedges_used_total.`
}

func (c *serveCmd) Run(a *cli.App) (err error) {
	if c.Answers < 1 {
		return fmt.Errorf("--answers %d: want 1 or more", c.Answers)
	}
	dirs, err := a.Dirs()
	if err != nil {
		return err
	}
	id, err := transport.LoadOrCreateIdentity(dirs.Config)
	if err != nil {
		return err
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if !m.Processor() {
		a.Progress("warming up %s", m.Device())
		if err := m.Warm(a); err != nil {
			return err
		}
		a.Clear()
	}
	docs, public, err := c.documents(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, docs.Close()) }()
	if c.AllowDocuments && !(public && c.Public == "") {
		return errors.New("--allow-documents: only the sample documents may be fetched, and this cloud serves others; start one without an index and without --public")
	}
	kv := c.KV(a)
	if kv != nil {
		defer func() { err = errors.Join(err, kv.Close()) }()
	}
	reader := cli.Reader(m, docs, kv)
	listener, err := transport.Listen(c.Listen, transport.ServerConfig{
		Identity: id,
		Peers:    transport.OpenPeers(dirs.Peers()),
		Invites:  transport.OpenInvites(dirs.Invites()),
		Hello:    reader.Hello(tandem.Cloud, cli.Version(), cli.HostName("cloud")),
		Paired:   func(p transport.Peer) { a.Remark("paired with %s (%s)", cli.Plain(p.Name), p.ID.Short()) },
		Log:      a.Log,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	defer a.Listens(listener.Addr().String())()
	cloud := &node.Cloud{Reader: reader, Titles: c.Titles == "yes" || c.Titles == "auto" && public, Limit: c.Answers, GiveDocuments: c.AllowDocuments, Log: a.Log}
	stop, err := c.observe(a, cloud)
	if err != nil {
		return err
	}
	defer stop()
	c.announce(a, m.Config().Name, docs, listener.Addr(), cloud.Titles)
	return cloud.Serve(a, listener)
}

// documents opens what the cloud answers from, and says whether it is meant for everybody.
func (c *serveCmd) documents(a *cli.App) (x *search.Index, public bool, err error) {
	if c.Public != "" {
		x, err = a.Folder(c.Public, c.PassageFlags)
		return x, true, err
	}
	if x, err = a.OwnIndex(); x != nil || err != nil {
		return x, false, err
	}
	x, err = cli.Sample(a, examples.Public, c.PassageFlags)
	return x, true, err
}

func (c *serveCmd) announce(a *cli.App, model string, docs *search.Index, at net.Addr, titles bool) {
	files := 0
	if list, err := docs.List(); err == nil {
		files = len(list)
	}
	if a.Globals.JSON {
		a.JSON(map[string]any{"listening": at.String(), "model": model, "documents": files, "titles": titles})
		return
	}
	shown := "titles are kept to itself"
	if titles {
		shown = "titles are shown to devices"
	}
	fmt.Fprintf(a.Out, "Serving %d documents with %s on %s; %s.\nPair a device with: cloud pair\n", files, model, at, shown)
}

// observe turns the ends of answers into log lines and, when asked for, metrics.
func (c *serveCmd) observe(a *cli.App, cloud *node.Cloud) (stop func(), err error) {
	if c.Metrics == "" {
		cloud.Observe = nil
		return func() {}, nil
	}
	m, handler := newMetrics()
	cloud.Observe = m.observe
	l, err := net.Listen("tcp", c.Metrics)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(l)
	a.Remark("metrics on http://%s/metrics", l.Addr())
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a), time.Second)
		defer cancel()
		server.Shutdown(ctx)
	}, nil
}

// metrics of a cloud, fed by the ends of answers.
type metrics struct {
	answers  *prometheus.CounterVec
	tokens   prometheus.Counter
	drafts   *prometheus.CounterVec
	diverged prometheus.Counter
	seconds  prometheus.Histogram
	passes   prometheus.Counter
	rows     *prometheus.CounterVec
	further  *prometheus.CounterVec
	spared   *prometheus.CounterVec
	hedges   prometheus.Counter
}

// newMetrics returns metrics and what serves them under /metrics.
func newMetrics() (*metrics, http.Handler) {
	m := &metrics{
		answers:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_answers_total", Help: "Answers taken part in, by outcome."}, []string{"outcome"}),
		tokens:   prometheus.NewCounter(prometheus.CounterOpts{Name: "tandem_tokens_total", Help: "Tokens agreed."}),
		drafts:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_drafts_total", Help: "Drafts that met a target, by side and fate."}, []string{"side", "fate"}),
		diverged: prometheus.NewCounter(prometheus.CounterOpts{Name: "tandem_divergences_total", Help: "Times that the two sides lost agreement and started again from the last agreed token."}),
		seconds:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tandem_answer_seconds", Help: "Time from question to end of answer.", Buckets: prometheus.ExponentialBuckets(0.05, 2, 12)}),
		passes:   prometheus.NewCounter(prometheus.CounterOpts{Name: "tandem_passes_total", Help: "Passes of the decoder, but for those that were superseded."}),
		rows:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_rows_total", Help: "Beginnings of the answer that passes had room for, by fate: valid ones gave a step its draft, wasted ones did not, underutilised ones were left empty."}, []string{"fate"}),
		further:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_further_rows_total", Help: "Rows decoded beside the next draft's: hedges, checks of the device's drafts, guesses."}, []string{"kind"}),
		spared:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_spared_passes_total", Help: "Tokens for which the cloud's draft took no pass of its own, by the kind of row that it came of."}, []string{"kind"}),
		hedges:   prometheus.NewCounter(prometheus.CounterOpts{Name: "tandem_device_hedges_used_total", Help: "Hedges of devices that took the place of a draft still on its way."}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.answers, m.tokens, m.drafts, m.diverged, m.seconds, m.passes, m.rows, m.further, m.spared, m.hedges)
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return m, mux
}

func (m *metrics) observe(s node.Served) {
	outcome := "complete"
	if s.Error != nil {
		outcome = "broken"
	}
	m.answers.WithLabelValues(outcome).Inc()
	m.tokens.Add(float64(s.Pair.Steps))
	for _, side := range []tandem.Side{tandem.Device, tandem.Cloud} {
		m.drafts.WithLabelValues(side.String(), "accepted").Add(float64(s.Pair.Accepted[side]))
		m.drafts.WithLabelValues(side.String(), "rejected").Add(float64(s.Pair.Rejected[side]))
	}
	m.diverged.Add(float64(s.Pair.Divergences))
	m.observeRows(s.Pair)
	m.seconds.Observe(s.Took.Seconds())
}

// observeRows adds what the passes of an answer decoded, and what that was good for.
func (m *metrics) observeRows(s pair.Stats) {
	m.passes.Add(float64(s.Passes))
	m.hedges.Add(float64(s.Hedges))
	valid, wasted, underutilised := s.Rows()
	for fate, n := range map[string]int{"valid": valid, "wasted": wasted, "underutilised": underutilised} {
		m.rows.WithLabelValues(fate).Add(float64(n))
	}
	for kind, n := range map[string][2]int{"hedge": {s.Hedged, s.OfHedges}, "check": {s.Checked, s.OfChecks}, "guess": {s.Guessed, s.OfGuesses}} {
		m.further.WithLabelValues(kind).Add(float64(n[0]))
		m.spared.WithLabelValues(kind).Add(float64(n[1]))
	}
}
