package cli

import (
	"errors"
	"os"

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
