package cli

import (
	"errors"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"tandem/decoder/kvstore"
)

// BucketFlag names a bucket for the computed states of passages, which several clouds share.
type BucketFlag struct {
	Bucket string `name:"kv-bucket" help:"Share computed passages with other clouds that use the same model, through a bucket of S3 or of a compatible server: https://HOST/BUCKET[/PREFIX]. Keys and region are in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION." placeholder:"URL"`
}

// UseBucket makes the store use the bucket, if the flag names one.
func (f BucketFlag) UseBucket(a *App, s *kvstore.Store) error {
	if f.Bucket == "" {
		return nil
	}
	if s == nil {
		return errors.New("--kv-bucket: it needs a store on disk, too: set --cache-mb and a writable cache folder")
	}
	b, err := kvstore.ParseBucket(f.Bucket, os.Getenv)
	if err != nil {
		return err
	}
	s.Share(b, a.Log)
	return nil
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
