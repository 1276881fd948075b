package kvstore

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// A Bucket is a place for blobs that several machines share: a bucket of S3, or of a server that speaks its protocol.
type Bucket struct {
	url    url.URL // of the bucket and, below it, of what comes before a blob's name
	region string
	id     string // of the access key; empty for requests without a signature
	secret string
	token  string // of temporary keys; empty for others
	http   http.Client
}

// Bounds on one request.
const (
	bucketAnswers = 2 * time.Second  // for the first byte
	bucketWhole   = 20 * time.Second // for all of it
)

// ParseBucket reads a bucket's address, https://HOST[:PORT]/BUCKET[/PREFIX] (or http), and takes the keys and the region from
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION of the environment.
func ParseBucket(address string, getenv func(string) string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") == "" {
		// The address is not repeated: it may hold a key.
		return nil, errors.New("bucket: want https://HOST/BUCKET or https://HOST/BUCKET/PREFIX; keys are no part of it")
	}
	b := &Bucket{url: *u, region: getenv("AWS_REGION"), id: getenv("AWS_ACCESS_KEY_ID"), secret: getenv("AWS_SECRET_ACCESS_KEY"), token: getenv("AWS_SESSION_TOKEN")}
	if (b.id == "") != (b.secret == "") {
		return nil, errors.New("bucket: of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set")
	}
	if b.region == "" {
		b.region = "us-east-1"
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = bucketAnswers
	transport.DialContext = (&net.Dialer{Timeout: bucketAnswers}).DialContext
	transport.MaxIdleConnsPerHost = transport.MaxIdleConns
	b.http = http.Client{Timeout: bucketWhole, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a signature is for one host
	}}
	return b, nil
}

// errNone says that the bucket has no such blob.
var errNone = errors.New("no such blob")

// get writes a blob of at most limit bytes to w.
func (b *Bucket) get(ctx context.Context, name string, w io.Writer, limit int64) (int64, error) {
	answer, err := b.send(ctx, http.MethodGet, name, nil, 0, emptySum)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	n, err := io.Copy(w, io.LimitReader(answer.Body, limit+1))
	if err == nil && n > limit {
		err = ErrTooLarge
	}
	return n, err
}

// put sends a file.
func (b *Bucket) put(ctx context.Context, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	answer, err := b.send(ctx, http.MethodPut, name, io.LimitReader(f, n), n, hex.EncodeToString(h.Sum(nil)))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// send sends a signed request and returns the answer if it is 200.
func (b *Bucket) send(ctx context.Context, method, name string, body io.Reader, length int64, sum string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, b.url.JoinPath(name).String(), body)
	if err != nil {
		return nil, err
	}
	r.ContentLength = length
	r.Header.Set("X-Amz-Content-Sha256", sum)
	if b.id != "" {
		b.sign(r, time.Now().UTC())
	}
	answer, err := b.http.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound && method == http.MethodGet {
		return nil, errNone
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
	return nil, fmt.Errorf("%s of %s: %s: %q", method, b.url.Host, answer.Status, text)
}

// emptySum is the SHA-256 of nothing.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sign signs a request whose query is empty, by AWS Signature Version 4. All its headers and the host are signed.
func (b *Bucket) sign(r *http.Request, now time.Time) {
	date := now.Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", date)
	if b.token != "" {
		r.Header.Set("X-Amz-Security-Token", b.token)
	}
	names := []string{"host"}
	for name := range r.Header {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	var headers strings.Builder
	for _, name := range names {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.URL.Host
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	signed := strings.Join(names, ";")
	request := strings.Join([]string{r.Method, escaped(r.URL.Path), "", headers.String(), signed, r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	sum := sha256.Sum256([]byte(request))
	scope := date[:8] + "/" + b.region + "/s3/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + date + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + b.secret)
	for _, part := range []string{date[:8], b.region, "s3", "aws4_request", text} {
		mac := hmac.New(sha256.New, key)
		io.WriteString(mac, part)
		key = mac.Sum(nil)
	}
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%x", b.id, scope, signed, key))
}

// escaped returns a path as a signature has it: all but letters, digits and -_.~/ as %XX.
func escaped(path string) string {
	var out strings.Builder
	for _, c := range []byte(path) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~/", c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
