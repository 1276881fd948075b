package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tandem"
	"tandem/decoder/kvstore"
	"tandem/model/remote"
	"tandem/node"
	"tandem/node/batch"
	"tandem/pair"
)

// Metrics count what a side has answered. The end of each answer updates them.
type Metrics struct {
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
	requests *prometheus.HistogramVec
	pages    http.Handler
}

// BatchMetrics returns metrics that read the counts of a batch when they are asked for.
func BatchMetrics(b *batch.Batch) []prometheus.Collector {
	counter := func(name, help string, value func(batch.Stats) float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return value(b.Stats()) })
	}
	return []prometheus.Collector{
		counter("tandem_batch_passes_total", "Passes over the rows of several answers.", func(s batch.Stats) float64 { return float64(s.Passes) }),
		counter("tandem_batch_rows_total", "Rows of these passes.", func(s batch.Stats) float64 { return float64(s.Rows) }),
		counter("tandem_batch_jobs_total", "Answers in these passes: divided by the passes, how many share one.", func(s batch.Stats) float64 { return float64(s.Jobs) }),
		counter("tandem_batch_seconds_total", "Time of these passes.", func(s batch.Stats) float64 { return s.Took.Seconds() }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "tandem_batch_waiting", Help: "Jobs that wait for a pass."}, func() float64 { return float64(b.Stats().Waiting) }),
	}
}

// BucketMetrics returns metrics that read what a store has exchanged with its bucket when they are asked for.
func BucketMetrics(shares func() kvstore.Shares) []prometheus.Collector {
	counter := func(name, help string, value func(kvstore.Shares) int) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value(shares())) })
	}
	return []prometheus.Collector{
		counter("tandem_bucket_fetched_total", "Computed passages that came from the bucket.", func(s kvstore.Shares) int { return s.Fetched }),
		counter("tandem_bucket_missed_total", "Passages that the bucket does not have.", func(s kvstore.Shares) int { return s.Missed }),
		counter("tandem_bucket_sent_total", "Computed passages that were sent to the bucket.", func(s kvstore.Shares) int { return s.Sent }),
		counter("tandem_bucket_failed_total", "Requests to the bucket that failed.", func(s kvstore.Shares) int { return s.Failed }),
		counter("tandem_bucket_left_total", "Passages that were not asked for, kept or sent, because requests or the disk failed or many wait.", func(s kvstore.Shares) int { return s.Left }),
	}
}

// EngineMetrics returns metrics that read the counts of a server that computes the model when they are asked for.
func EngineMetrics(stats func() remote.Stats) []prometheus.Collector {
	counter := func(name, help string, value func(remote.Stats) float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return value(stats()) })
	}
	return []prometheus.Collector{
		counter("tandem_engine_requests_total", "Requests for rows to the server that computes the model.", func(s remote.Stats) float64 { return float64(s.Requests) }),
		counter("tandem_engine_retries_total", "Requests that were sent again.", func(s remote.Stats) float64 { return float64(s.Retries) }),
		counter("tandem_engine_failures_total", "Requests that gave no rows.", func(s remote.Stats) float64 { return float64(s.Failures) }),
		counter("tandem_engine_rows_total", "Rows that the server computed.", func(s remote.Stats) float64 { return float64(s.Rows) }),
		counter("tandem_engine_kept_rows_total", "Rows that were needed again and not asked for.", func(s remote.Stats) float64 { return float64(s.Kept) }),
		counter("tandem_engine_covered_total", "Probability mass that the server told of: divided by the rows, the mean share of a row.", func(s remote.Stats) float64 { return s.Covered }),
		counter("tandem_engine_seconds_total", "Time of the requests for rows.", func(s remote.Stats) float64 { return s.Took.Seconds() }),
	}
}

// LoadMetrics returns metrics of what a cloud is busy with when they are asked for.
func LoadMetrics(load func() node.Load) []prometheus.Collector {
	gauge := func(name, help string, value func(node.Load) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(load()) })
	}
	return []prometheus.Collector{
		gauge("tandem_devices", "Devices that are connected.", func(l node.Load) float64 { return float64(l.Devices) }),
		gauge("tandem_answering", "Answers that the cloud takes part in.", func(l node.Load) float64 { return float64(l.Answers) }),
		gauge("tandem_waiting", "Questions that wait for a place.", func(l node.Load) float64 { return float64(l.Waiting) }),
		gauge("tandem_kv_reserved_bytes", "Memory for keys and values that the answers may need, of what --kv-memory allows.", func(l node.Load) float64 { return float64(l.KVReserved) }),
	}
}

// NewMetrics returns metrics, which are served with more of them and those of the process.
func NewMetrics(more ...prometheus.Collector) *Metrics {
	m := &Metrics{
		answers:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_answers_total", Help: "Answers taken part in, by outcome."}, []string{"outcome"}),
		tokens:   prometheus.NewCounter(prometheus.CounterOpts{Name: "tandem_tokens_total", Help: "Tokens agreed."}),
		drafts:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_drafts_total", Help: "Drafts that met a target, by side and fate."}, []string{"side", "fate"}),
		diverged: prometheus.NewCounter(prometheus.CounterOpts{Name: "tandem_divergences_total", Help: "Times that the two sides disagreed and started again from the last agreed token."}),
		seconds:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tandem_answer_seconds", Help: "Time from question to end of answer.", Buckets: prometheus.ExponentialBuckets(0.05, 2, 12)}),
		passes:   prometheus.NewCounter(prometheus.CounterOpts{Name: "tandem_passes_total", Help: "Passes of the decoder, without superseded ones."}),
		rows:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_rows_total", Help: "Contexts that passes had room for, by fate: a valid one gave a step its draft, a wasted one did not, an underutilised one stayed empty."}, []string{"fate"}),
		further:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_further_rows_total", Help: "Contexts decoded in addition to that of the next draft: hedges, checks of the other side's drafts, guesses."}, []string{"kind"}),
		spared:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tandem_spared_passes_total", Help: "Tokens whose draft needed no pass of this side, by the kind of context that gave it."}, []string{"kind"}),
		hedges:   prometheus.NewCounter(prometheus.CounterOpts{Name: "tandem_device_hedges_used_total", Help: "Hedges of the other side that replaced a draft still on its way."}),
	}
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "tandem_http_request_seconds", Help: "Time of HTTP requests, by route and status.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 9)}, []string{"route", "status"})
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.answers, m.tokens, m.drafts, m.diverged, m.seconds, m.passes, m.rows, m.further, m.spared, m.hedges, m.requests)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(more...)
	m.pages = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// ServeHTTP serves the metrics.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.pages.ServeHTTP(w, r) }

// ObserveRequest counts an HTTP request that has ended.
func (m *Metrics) ObserveRequest(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// Observe counts an answer that has ended.
func (m *Metrics) Observe(s node.Served) {
	m.answers.WithLabelValues(outcomeOf(s)).Inc()
	m.tokens.Add(float64(s.Pair.Steps))
	for _, side := range []tandem.Side{tandem.Device, tandem.Cloud} {
		m.drafts.WithLabelValues(side.String(), "accepted").Add(float64(s.Pair.Accepted[side]))
		m.drafts.WithLabelValues(side.String(), "rejected").Add(float64(s.Pair.Rejected[side]))
	}
	m.diverged.Add(float64(s.Pair.Divergences))
	m.observeRows(s.Pair)
	m.seconds.Observe(s.Took.Seconds())
}

// outcomeOf says how an answer ended. Callers that go away are no fault of this side, so alerts need to tell them from failures.
func outcomeOf(s node.Served) string {
	switch {
	case s.Cancelled || errors.Is(s.Error, context.Canceled):
		return "cancelled"
	case s.Error == nil:
		return "complete"
	}
	return "broken"
}

// observeRows counts what the passes of an answer decoded, and what of it was used.
func (m *Metrics) observeRows(s pair.Stats) {
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
