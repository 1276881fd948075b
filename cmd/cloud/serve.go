package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/cmd/internal/server"
	"tandem/decoder"
	"tandem/node"
	"tandem/node/batch"
	"tandem/transport"
)

// defaultPort is the port of --listen.
const defaultPort = "4433"

// defaultTokens is how long answers may be where a device does not say.
const defaultTokens = 256

type serveCmd struct {
	indexcmd.PassageFlags `group:"Documents:"`
	indexcmd.IndexFlag    `group:"Documents:"`
	indexcmd.ExcludeFlag  `group:"Documents:"`
	modelcmd.ScorerFlag   `group:"Documents:"`
	modelcmd.ModelFlags   `group:"Model:"`
	engineFlags           `group:"Model:"`
	modelcmd.LoraFlags    `group:"Model:"`
	modelcmd.DraftFlags   `group:"Model:"`
	modelcmd.ReaderFlags  `group:"Model:"`
	cli.CacheFlags        `group:"Model:"`
	cli.BucketFlag        `group:"Model:"`

	Listen         string        `help:"UDP address to listen on. Default: port 4433 on all addresses." default:":4433" placeholder:"HOST:PORT"`
	Public         string        `help:"Serve this folder instead of the index. It is read when the server starts." type:"existingdir" placeholder:"DIR"`
	Sample         bool          `help:"Serve the sample documents, even if others are indexed. Without this flag they are served until something is indexed."`
	Titles         string        `help:"Show devices the titles of the documents used: ${enum}. auto: those of the samples and of --public, not those of the index. no holds for answers over HTTP (--http), too." enum:"auto,yes,no" default:"auto"`
	Quotes         string        `help:"Send devices the sentences that support the answer and, when nobody knows, the passages that come close: ${enum}. auto: those of the samples and of --public, not those of the index. no holds for answers over HTTP (--http), too." enum:"auto,yes,no" default:"auto"`
	Answers        int           `help:"Maximum number of answers at the same time; others wait. A single device gets at most one fewer." default:"32"`
	MaxDocuments   int           `help:"Maximum number of passages to read for a question, whatever a device asks for." default:"16" placeholder:"N"`
	MaxTokens      int           `help:"Maximum number of tokens in an answer, also where a device allows more; by default devices allow 256." default:"4096" placeholder:"N"`
	KVMemory       int           `name:"kv-memory" help:"Memory for the KV caches of all answers, in MB; answers that would exceed it wait. 0 for no limit." default:"4096" placeholder:"MB"`
	Connections    int           `help:"Maximum number of connections at the same time." default:"64" placeholder:"N"`
	KeyConnections int           `help:"Maximum number of connections from one device." default:"8" placeholder:"N"`
	Batch          bool          `help:"Compute the passes of all answers together. The answers stay the same." default:"true" negatable:""`
	Shared         int           `help:"Memory for passages that several answers read, in MB; they are computed once. 0 for none." default:"256" placeholder:"MB"`
	Drain          time.Duration `help:"How long answers may continue after Ctrl-C, SIGTERM or SIGHUP, while new questions are refused." default:"25s"`
	Metrics        string        `help:"Serve Prometheus metrics over HTTP on this address. Default: none." placeholder:"HOST:PORT"`

	replicaFlags `group:"Replicas:"`
	httpFlags    `group:"Over HTTP:"`

	AllowDocuments bool `help:"Let devices fetch passages, for the baselines of edge ask --method drcg-text and drcg-kv. Only sample documents are ever sent." hidden:""`
}

func (c *serveCmd) Help() string {
	return `Examples:
  cloud serve
  cloud serve --listen 0.0.0.0:4433 --model qwen2.5-1.5b-instruct-q4_k_m.gguf
  cloud serve --public ./handbook --metrics 127.0.0.1:9090
  cloud serve --index weaviate://h1,h2,h3
  cloud serve --engine llama-server://gpu.example.net:8080 --model qwen2.5-7b-instruct-q4_k_m.gguf
  cloud serve --service /srv/tandem --advertise cloud-b.example.net:4433

Only paired devices can connect; "cloud pair" prints a code for pairing. Ctrl-C ends the server.

Metrics, under /metrics:
  tandem_answers_total                             by outcome: complete, cancelled, broken
  tandem_answer_seconds, tandem_tokens_total
  tandem_drafts_total                              by side and fate
  tandem_divergences_total
  tandem_passes_total, tandem_rows_total           by fate: valid, wasted, underutilised
  tandem_further_rows_total                        by kind: hedge, check, guess
  tandem_spared_passes_total                       by kind: hedge, check, guess
  tandem_device_hedges_used_total
  tandem_http_request_seconds                      by route and status
  tandem_devices, tandem_answering, tandem_waiting, tandem_kv_reserved_bytes
  tandem_batch_passes_total, _rows_total, _jobs_total, _seconds_total, tandem_batch_waiting
  tandem_engine_requests_total, _retries_total, _failures_total, _rows_total, _kept_rows_total, _covered_total, _seconds_total
  tandem_bucket_fetched_total, _missed_total, _sent_total, _failed_total, _left_total`
}

func (c *serveCmd) Run(a *cli.App) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	keys, err := c.openKeys(a)
	if err != nil {
		return err
	}
	m, engine, done, err := c.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	l, err := c.openLocal(a, m, engine)
	defer func() { err = errors.Join(err, l.close()) }()
	if err != nil {
		return err
	}
	hello := l.Hello(tandem.Cloud, cli.Version(), cli.HostName("cloud"))
	if hello.Replica, err = c.name(c.Listen); err != nil {
		return err
	}
	listener, err := c.listen(a, keys, hello)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	leave, err := c.enter(a, hello.Replica)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	cloud := c.cloud(a, l, keys.peers)
	counts, err := c.observe(a, cloud)
	if err != nil {
		return err
	}
	defer counts.stop()
	web, err := c.serveHTTP(a, cloud, c.ModelFlags, counts.Metrics, c.Drain, hidden{titles: c.Titles == "no", quotes: c.Quotes == "no"})
	if err != nil {
		return err
	}
	defer a.Register(cli.Process{Command: "serve", Model: l.model, Documents: string(l.from), Address: listener.Addr().String()})()
	c.announce(a, l, addresses{listener.Addr(), web.at, counts.at}, cloud)
	c.warn(a, cloud, keys.peers)
	return c.serve(a, cloud, listener, web, leave)
}

// keys are the cloud's own key, and whose it accepts.
type keys struct {
	id      transport.Identity
	peers   *transport.Peers
	invites *transport.Invites
}

// openKeys opens the program's keys, or those that the replicas share.
func (c *serveCmd) openKeys(a *cli.App) (k keys, err error) {
	dirs, err := a.Dirs()
	if err != nil {
		return k, err
	}
	k.peers, k.invites = transport.OpenPeers(c.Service.Peers(dirs)), transport.OpenInvites(c.Service.Invites(dirs))
	k.id, err = transport.LoadOrCreateIdentity(c.Service.Identity(dirs))
	return k, err
}

// listen waits for devices.
func (c *serveCmd) listen(a *cli.App, k keys, hello transport.Hello) (*transport.Listener, error) {
	listener, err := transport.Listen(c.Listen, transport.ServerConfig{
		Identity: k.id,
		Peers:    k.peers,
		Invites:  k.invites,
		Hello:    hello,
		Addrs:    c.addrs(a),
		Limits:   transport.Limits{Conns: c.Connections, PerKey: c.KeyConnections, Exchanges: node.Exchanges(c.Answers)},
		Paired:   paired(a),
		Log:      a.Log,
	})
	if err != nil {
		return nil, server.ListenError("--listen", c.Listen, err)
	}
	return listener, nil
}

// paired returns what says that a device was paired, nil where the log does.
func paired(a *cli.App) func(transport.Peer) {
	if a.Log.Enabled(a, slog.LevelInfo) {
		return nil
	}
	return func(p transport.Peer) { a.Remark("paired with %s (%s)", cli.Escape(p.Name), p.ID.Short()) }
}

// check refuses numbers that no cloud can have.
func (c *serveCmd) check() error {
	switch {
	case c.Answers < 1:
		return fmt.Errorf("--answers %d: want 1 or more", c.Answers)
	case c.MaxDocuments < 1 || c.MaxTokens < 1 || c.Connections < 1 || c.KeyConnections < 1:
		return errors.New("--max-documents, --max-tokens, --connections, --key-connections: want 1 or more")
	case c.Shared < 0 || c.KVMemory < 0:
		return errors.New("--shared, --kv-memory: want 0 or more")
	case c.Drain < 0:
		return fmt.Errorf("--drain %v: want 0s or more", c.Drain)
	case c.HTTP == "":
		if err := c.httpFlags.CheckUnused(); err != nil {
			return err
		}
	}
	return c.Service.Check()
}

// cloud makes the node.
func (c *serveCmd) cloud(a *cli.App, l local, peers *transport.Peers) *node.Cloud {
	public := l.from == fromFolder || l.from == fromSamples
	shown := func(flag string) bool { return flag == "yes" || flag == "auto" && public }
	cfg := node.CloudConfig{
		Local: l.Local, Titles: shown(c.Titles), Quotes: shown(c.Quotes), GiveDocuments: c.AllowDocuments,
		Limit: c.Answers, Documents: c.MaxDocuments, Tokens: c.MaxTokens, KVMemory: int64(c.KVMemory) << 20,
		Priority: priorityOf(peers), Name: nameOf(peers), Log: a.Log,
	}
	c.join(&cfg)
	return node.NewCloud(cfg)
}

// serve answers until the program is to end, or a server fails. When it returns, nobody uses what the cloud answers with.
func (c *serveCmd) serve(a *cli.App, cloud *node.Cloud, listener *transport.Listener, web web, leave func() error) error {
	served := make(chan error, 1)
	ctx, end := context.WithCancel(context.WithoutCancel(a))
	defer end()
	go func() { served <- cloud.Serve(ctx, listener) }()
	select {
	case err := <-web.ended:
		return errors.Join(err, listener.Close(), <-served)
	case err := <-served:
		return errors.Join(err, web.close())
	case <-a.Done():
		a.Log.Info("stopping: no new questions are taken")
		if err := leave(); err != nil {
			a.Log.Warn("other replicas may still name this one", "error", err)
		}
		a.MarkDraining()
		c.drain(a, cloud) // answers over HTTP drain at the same time
		err := web.close()
		end()
		return errors.Join(err, <-served)
	}
}

// drain lets the answers end that the cloud takes part in, for some time. A second signal ends the program.
func (c *serveCmd) drain(a *cli.App, cloud *node.Cloud) {
	if n := cloud.Load().Answers; n > 0 {
		a.Remark("answers in progress: %d; they have %v to finish, and another Ctrl-C stops now", n, c.Drain)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a), c.Drain)
	defer cancel()
	if err := cloud.Drain(ctx); err != nil {
		a.Remark("answers left unfinished: %d; their devices continue alone", cloud.Load().Answers)
	}
}

// priorityOf looks up what the operator has given a device.
func priorityOf(peers *transport.Peers) func(transport.ID) node.Priority {
	return func(id transport.ID) node.Priority {
		p, err := peers.Lookup(id)
		switch {
		case err != nil || p.Priority == 0:
			return node.Normal
		case p.Priority < 0:
			return node.Low
		}
		return node.High
	}
}

// nameOf looks up what the operator calls a device.
func nameOf(peers *transport.Peers) func(transport.ID) string {
	return func(id transport.ID) string {
		p, _ := peers.Lookup(id)
		return p.Name
	}
}

// warn says in the log what keeps the cloud from taking part in answers, and devices from the cloud.
func (c *serveCmd) warn(a *cli.App, cloud *node.Cloud, peers *transport.Peers) {
	if _, err := peers.List(); err != nil {
		a.Log.Warn("some paired devices cannot connect", "reason", err)
	}
	q, s := node.Question{Text: "?"}, tandem.Settings{Documents: 1, MaxTokens: 1}
	if err := cloud.Fits(q, s); err != nil {
		a.Log.Warn("every question will be refused: raise --kv-memory", "reason", err)
		return
	}
	s.Documents, s.MaxTokens = modelcmd.DecoderDocuments, min(defaultTokens, c.MaxTokens)
	if err := cloud.Fits(q, s); err != nil {
		a.Log.Warn("questions with the devices' usual settings will be refused: raise --kv-memory", "reason", err)
	}
}

// join lets answers share passes and passages. A span reader has nothing to share, and a server joins them itself.
func (c *serveCmd) join(cloud *node.CloudConfig) {
	if cloud.Local.Reader != nil || c.Engine != "" {
		return
	}
	if c.Batch {
		cloud.Batch = batch.New(cloud.Local.Model, batch.Config{})
	}
	if c.Shared > 0 {
		cloud.Local.Shared = decoder.NewShared(int64(c.Shared) << 20)
	}
}
