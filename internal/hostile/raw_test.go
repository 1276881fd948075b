package hostile

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"math/big"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/vmihailenco/msgpack/v5"

	"tandem/transport"
)

// key is an identity whose private half can be used without package transport, by peers that do not keep to its rules.
type key struct {
	id   transport.ID
	cert tls.Certificate
}

func newKey(t *testing.T) key {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key{sha256.Sum256(leaf.RawSubjectPublicKeyInfo), tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private, Leaf: leaf}}
}

// Protocols and message codes, as they are on the wire.
const (
	talk, pairing = "tandem/1", "tandem-pair/1"

	codeBegin, codeReady, codeSync, codeNeedSync, codeSources, codeEnd, codeFail, codeHello = 1, 2, 3, 4, 5, 6, 7, 8
	codePairRequest, codePassages, codePiece, codeGot                                       = 9, 12, 13, 14
	control, packed                                                                         = 0xc0, 0xc1 // first bytes of a control message
)

func (k key) tls(protocol string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{k.cert}, NextProtos: []string{protocol}, ServerName: "tandem",
		InsecureSkipVerify: true, ClientAuth: tls.RequireAnyClientCert,
	}
}

func config() *quic.Config {
	return &quic.Config{EnableDatagrams: true, MaxIdleTimeout: 10 * time.Second, HandshakeIdleTimeout: 5 * time.Second, MaxIncomingStreams: 1000}
}

// dial connects without a hello.
func (k key) dial(ctx context.Context, address, protocol string) (*quic.Conn, error) {
	return quic.DialAddr(ctx, address, k.tls(protocol), config())
}

// body encodes a message's fields as the wire has them.
func body(m any) []byte {
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf)
	enc.UseArrayEncodedStructs(true)
	if err := enc.Encode(m); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// message is a control message as a frame.
func message(code byte, body []byte) []byte { return append([]byte{control, code}, body...) }

// onStream is a frame as it stands on a stream.
func onStream(seq uint64, frame []byte) []byte {
	number := binary.AppendUvarint(nil, seq)
	buf := binary.AppendUvarint(nil, uint64(len(number)+len(frame)))
	return append(append(buf, number...), frame...)
}

// greeted connects and exchanges hellos.
func (k key) greeted(ctx context.Context, address string, hello transport.Hello) (*quic.Conn, error) {
	qc, err := k.dial(ctx, address, talk)
	if err != nil {
		return nil, err
	}
	s, err := qc.OpenStreamSync(ctx)
	if err == nil {
		hello.Version = transport.ProtocolVersion
		_, err = s.Write(onStream(0, message(codeHello, body(hello))))
		s.Close()
	}
	if err == nil {
		s.SetReadDeadline(time.Now().Add(5 * time.Second))
		var n int
		if n, err = s.Read(make([]byte, 16<<10)); n > 0 {
			err = nil // it may be the end as well
		}
	}
	return qc, err
}
