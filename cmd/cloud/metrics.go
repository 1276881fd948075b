package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/server"
	"tandem/model/remote"
	"tandem/node"
)

// counts are what is counted of a cloud's answers.
type counts struct {
	*server.Metrics
	at   net.Addr // where --metrics serves them, nil for nowhere
	stop func()   // ends that
}

// observe counts the cloud's answers. It serves the counts if --metrics asks for that.
func (c *serveCmd) observe(a *cli.App, cloud *node.Cloud) (counts, error) {
	more := server.LoadMetrics(cloud.Load)
	if cloud.Batch != nil {
		more = append(more, server.BatchMetrics(cloud.Batch)...)
	}
	if engine, ok := cloud.Local.Passes.(*remote.Server); ok {
		more = append(more, server.EngineMetrics(engine.Stats)...)
	}
	if c.Bucket != "" {
		more = append(more, server.BucketMetrics(cloud.Local.KV.Shares)...)
	}
	metrics := server.NewMetrics(more...)
	cloud.Observe = metrics.Observe
	if c.Metrics == "" {
		return counts{metrics, nil, func() {}}, nil
	}
	handler := http.NewServeMux()
	handler.Handle("/metrics", metrics)
	l, err := server.Listen("--metrics", c.Metrics)
	if err != nil {
		return counts{}, err
	}
	pages := metricsServer(c.Metrics, handler)
	go pages.Serve(l)
	a.Remark("metrics on %s/metrics", server.URL(l.Addr()))
	return counts{metrics, l.Addr(), func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a), time.Second)
		defer cancel()
		pages.Shutdown(ctx)
	}}, nil
}

// metricsServer is a server that drops clients that are slow or idle.
func metricsServer(address string, h http.Handler) *http.Server {
	return &http.Server{
		Handler: ownHost(address, h), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
	}
}

// ownHost refuses requests for another host, if the server listens on this machine alone: a page in a browser can give a
// name of its own this machine's address, and then read what that name serves.
func ownHost(address string, next http.Handler) http.Handler {
	local := api.OnLoopback(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !api.OnLoopback(r.Host) {
			http.Error(w, "this server answers to its own address only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
