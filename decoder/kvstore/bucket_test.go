package kvstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Signatures are those of the examples in AWS's documentation of Signature Version 4 for S3.
func TestSignature(t *testing.T) {
	b := &Bucket{region: "us-east-1", id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	for _, c := range []struct{ method, path, sum, header, value, want string }{
		{"GET", "/test.txt", emptySum, "Range", "bytes=0-9", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT", "/test$file.text", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072", "X-Amz-Storage-Class", "REDUCED_REDUNDANCY", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
	} {
		r, err := http.NewRequest(c.method, "https://examplebucket.s3.amazonaws.com"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Content-Sha256", c.sum)
		r.Header.Set(c.header, c.value)
		if c.method == "PUT" {
			r.Header.Set("Date", "Fri, 24 May 2013 00:00:00 GMT")
		}
		b.sign(r, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+c.want) {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

func TestParseBucket(t *testing.T) {
	env := map[string]string{}
	parse := func(address string) (*Bucket, error) {
		return ParseBucket(address, func(name string) string { return env[name] })
	}
	for _, address := range []string{"", "bucket", "s3://h/b", "https://h", "https://h/", "https:///b", "https://u:p@h/b", "https://h/b?x=1", "https://h/b#x"} {
		if _, err := parse(address); err == nil || !strings.Contains(err.Error(), "https://HOST/BUCKET") || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %v", address, err)
		}
	}
	if b, err := parse("https://h:9000/b/p/"); err != nil || b.region != "us-east-1" || b.url.JoinPath("x").String() != "https://h:9000/b/p/x" {
		t.Errorf("%+v, %v", b, err)
	}
	env["AWS_ACCESS_KEY_ID"] = "half"
	if _, err := parse("https://h/b"); err == nil || strings.Contains(err.Error(), "half") {
		t.Errorf("half a key: %v", err)
	}
}

// cupboard stands in for a bucket's server: it is called without a network, so in virtual time.
type cupboard struct {
	signed Bucket
	fail   func(w http.ResponseWriter, r *http.Request) bool // answers in its place and returns true; nil for never

	mu    sync.Mutex
	blobs map[string][]byte
	asked int
}

func (c *cupboard) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	c.serve(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func (c *cupboard) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.asked++
	c.mu.Unlock()
	if c.fail != nil && c.fail(w, r) {
		return
	}
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	again, _ := http.NewRequest(r.Method, r.URL.String(), nil)
	sum := fmt.Sprintf("%x", sha256.Sum256(body))
	again.Header.Set("X-Amz-Content-Sha256", sum)
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	c.signed.sign(again, at)
	if err != nil || !strings.Contains(r.Header.Get("Authorization"), "x-amz-security-token") || again.Header.Get("Authorization") != r.Header.Get("Authorization") || int64(len(body)) != r.ContentLength {
		http.Error(w, "SignatureDoesNotMatch", http.StatusForbidden)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch b, ok := c.blobs[r.URL.Path]; {
	case r.Method == http.MethodPut:
		c.blobs[r.URL.Path] = body
	case !ok:
		http.Error(w, "NoSuchKey", http.StatusNotFound)
	default:
		w.Write(b)
	}
}

// sharing is a store with a folder of its own that shares a cupboard.
func sharing(t *testing.T, c *cupboard, budget int64) *Store {
	t.Helper()
	b, err := ParseBucket("https://h/bucket/kv$", func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.blobs == nil {
		c.signed, c.blobs = *b, map[string][]byte{}
	}
	b.http.Transport = c
	s := open(t, t.TempDir(), budget)
	s.Share(b, slog.New(slog.DiscardHandler))
	return s
}

// What one machine has computed another fetches, once.
func TestMachinesShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cupboard{}
		a, b := sharing(t, c, 1<<20), sharing(t, c, 1<<20)
		data := bytes.Repeat([]byte("kv"), 100_000)
		put(t, a, 1, data)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		put(t, a, 3, data) // too late to be sent, and no harm
		for range 2 {
			if got := get(t, b, 1); !bytes.Equal(got, data) {
				t.Fatalf("%d bytes of %d", len(got), len(data))
			}
		}
		if get(t, b, 2) != nil {
			t.Error("a blob from nowhere")
		}
		if got, want := b.Shares(), (Shares{Fetched: 1, Missed: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if got, want := a.Shares(), (Shares{Sent: 1, Left: 1}); got != want || c.asked != 3 {
			t.Errorf("%+v, want %+v; %d requests", got, want, c.asked)
		}
		for path := range c.blobs {
			if !strings.HasPrefix(path, "/bucket/kv$/") {
				t.Errorf("a blob at %s", path)
			}
		}
		b.Close()
	})
}

// Every failure of a bucket is a miss. It is left alone for a while then; damage costs that blob only, and is mended.
func TestBucketFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cupboard{}
		s := sharing(t, c, 1<<16)
		defer s.Close()
		for name, fail := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
			"refuses": func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(http.StatusForbidden); return true },
			"breaks": func(w http.ResponseWriter, r *http.Request) bool {
				w.WriteHeader(http.StatusInternalServerError)
				return true
			},
			"redirects": func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, "https://other/", http.StatusFound)
				return true
			},
			"hangs": func(w http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true },
		} {
			before, start := s.Shares(), time.Now()
			c.fail = fail
			if get(t, s, 1) != nil {
				t.Errorf("%s: a blob from nowhere", name)
			}
			c.fail = nil
			asked := c.asked
			get(t, s, 1)
			put(t, s, 2, []byte("x"))
			synctest.Wait()
			after := s.Shares()
			if c.asked != asked || after.Failed != before.Failed+1 || after.Left != before.Left+2 || time.Since(start) > bucketWhole {
				t.Errorf("%s: %+v, before %+v; %d requests more, %v", name, after, before, c.asked-asked, time.Since(start))
			}
			time.Sleep(restAfter)
			if get(t, s, 1); c.asked != asked+1 {
				t.Errorf("%s: it is never asked again", name)
			}
		}
		for name, damage := range map[string]func(b []byte) []byte{
			"flipped":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
			"cut":       func(b []byte) []byte { return b[:len(b)-1] },
			"empty":     func(b []byte) []byte { return nil },
			"another's": func(b []byte) []byte { b[len(kvMagic)] ^= 1; return b },
			"endless":   func(b []byte) []byte { return make([]byte, 1<<20) },
		} {
			for path := range c.blobs {
				delete(c.blobs, path)
			}
			put(t, s, 7, []byte("whole"))
			synctest.Wait()
			if len(c.blobs) != 1 {
				t.Fatalf("%s: %d blobs", name, len(c.blobs))
			}
			for path, b := range c.blobs {
				c.blobs[path] = damage(b)
			}
			other := sharing(t, c, 1<<16)
			if get(t, other, 7) != nil || other.Shares() != (Shares{Missed: 1}) || len(blobFiles(t, other.dir)) != 0 {
				t.Errorf("%s: %+v, %q", name, other.Shares(), blobFiles(t, other.dir))
			}
			put(t, other, 7, []byte("whole"))
			other.Close()
			third := sharing(t, c, 1<<16)
			if string(get(t, third, 7)) != "whole" {
				t.Errorf("%s: it is not mended", name)
			}
			third.Close()
		}
	})
}

// A fault of the disk is not the bucket's: only the blob in question is lost.
func TestDiskFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cupboard{}
		s := sharing(t, c, 1<<16)
		defer s.Close()
		if err := os.WriteFile(filepath.Dir(s.path(keyOf(1))), nil, 0o600); err != nil { // where its folder should be
			t.Fatal(err)
		}
		if get(t, s, 1) != nil {
			t.Error("a blob from nowhere")
		}
		if get(t, s, 2); c.asked != 1 || s.Shares() != (Shares{Missed: 1, Left: 1}) {
			t.Errorf("%d requests, %+v", c.asked, s.Shares())
		}
	})
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	b := &Bucket{}
	b.http.Transport = always{&zeros{}}
	if _, err := b.get(t.Context(), "x", full, 1<<20); !ofDisk(err) {
		t.Errorf("a full disk: %v", err)
	}
}

// Who asks for a blob says how long to wait. A bucket that takes longer is left alone for a while, and not one that
// nobody waits for.
func TestGetEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cupboard{fail: func(w http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }}
		s := sharing(t, c, 1<<16)
		defer s.Close()
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		for range 2 {
			if _, ok := s.Get(ctx, keyOf(1)); ok || time.Since(start) != time.Second || c.asked != 1 || s.Shares() != (Shares{}) {
				t.Errorf("cancelled: %v, after %v and %d requests: %+v", ok, time.Since(start), c.asked, s.Shares())
			}
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, ok := s.Get(ctx, keyOf(1)); ok || time.Since(start) != 2*time.Second || s.Shares() != (Shares{Failed: 1}) {
			t.Errorf("late: %v, after %v: %+v", ok, time.Since(start), s.Shares())
		}
	})
}

// zeros is a body without an end.
type zeros struct{ read int }

func (z *zeros) Read(p []byte) (int, error) { clear(p); z.read += len(p); return len(p), nil }
func (z *zeros) Close() error               { return nil }

type always struct{ body *zeros }

func (a always) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: a.body}, nil
}

func TestEndlessBlob(t *testing.T) {
	const limit = 1 << 20
	b, body := &Bucket{}, &zeros{}
	b.http.Transport = always{body}
	if n, err := b.get(t.Context(), "x", io.Discard, limit); !errors.Is(err, ErrTooLarge) || n != limit+1 || body.read > 2*limit {
		t.Errorf("%d bytes, %d read: %v", n, body.read, err)
	}
}

// A bucket that takes nothing holds nobody up: neither who stores, nor the end of the program.
func TestBucketHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cupboard{fail: func(w http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }}
		s := sharing(t, c, 1<<20)
		start := time.Now()
		for i := range 2 * sendQueue {
			put(t, s, i, []byte("x"))
		}
		if time.Since(start) > 0 || s.Shares().Left < sendQueue-2*sendAtOnce {
			t.Errorf("%v, %+v", time.Since(start), s.Shares())
		}
		start = time.Now()
		s.Close()
		if took := time.Since(start); took > sendAtClose {
			t.Errorf("the end took %v", took)
		}
	})
}

// What is on the disk is found without the bucket, and what is only in the bucket is not fetched.
func TestDiskWithoutBucket(t *testing.T) {
	c := &cupboard{}
	a, b := sharing(t, c, 1<<20), sharing(t, c, 1<<20)
	want := []byte("what was read")
	if err := a.Disk().Put(keyOf(1), want); err != nil {
		t.Fatal(err)
	}
	if got, ok := a.Disk().Get(keyOf(1)); !ok || !bytes.Equal(got, want) {
		t.Errorf("%q, %v: want %q", got, ok, want)
	}
	put(t, a, 2, want)
	a.Close() // what is put is sent
	if _, ok := b.Disk().Get(keyOf(2)); ok {
		t.Error("the bucket is asked")
	}
	if _, ok := b.Get(t.Context(), keyOf(1)); ok {
		t.Error("the bucket has what is for the disk only")
	}
	if got := get(t, b, 2); !bytes.Equal(got, want) {
		t.Errorf("%q in the bucket, want %q", got, want)
	}
}
