package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base32"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/atomicfile"
	"tandem/internal/filelock"
)

// ID names a side by its public key: the SHA-256 of the certificate's SubjectPublicKeyInfo.
type ID [sha256.Size]byte

var idEncoding = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

func (id ID) String() string { return idEncoding.EncodeToString(id[:]) }

// Short returns the first 8 characters of the ID, for logs.
func (id ID) Short() string { return id.String()[:8] }

// parseID reads what String wrote.
func parseID(s string) (ID, error) {
	var id ID
	b, err := idEncoding.DecodeString(strings.ToUpper(s))
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%q is not a key's fingerprint", s)
	}
	return ID(b), nil
}

// Identity is a side's Ed25519 key with its self-signed certificate.
type Identity struct {
	ID   ID
	cert tls.Certificate
}

// Ephemeral returns a new identity that is not stored.
func Ephemeral() (Identity, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Identity{}, fmt.Errorf("make a key: %w", err)
	}
	return identityOf(key)
}

// LoadOrCreateIdentity returns the identity in dir/identity.pem. It creates the file on first use.
func LoadOrCreateIdentity(dir string) (Identity, error) {
	path := filepath.Join(dir, "identity.pem")
	id, err := readIdentity(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createOnce(path)
	}
	return id, err
}

func readIdentity(path string) (Identity, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Identity{}, fmt.Errorf("load identity: %w", err)
	}
	damaged := func(why any) (Identity, error) {
		return Identity{}, fmt.Errorf("load identity: %s holds no Ed25519 key (%v): restore it, or remove it and pair again", path, why)
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PRIVATE KEY" {
		return damaged("no PEM block")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return damaged(err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return damaged(fmt.Sprintf("a %T", key))
	}
	return identityOf(private)
}

// notStored says what to do about a folder that cannot keep the key.
func notStored(dir string, err error) error {
	return fmt.Errorf("store the key of this side in %s: %w; let this user write there, or set HOME or XDG_CONFIG_HOME to another folder", dir, err)
}

// createOnce makes the identity, or reads it if another process has just made it: programs that start together must not have
// a key each.
func createOnce(path string) (Identity, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Identity{}, notStored(dir, err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "identity.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return Identity{}, notStored(dir, err)
	}
	defer lock.Close()
	if err := filelock.Lock(lock); err != nil {
		return Identity{}, fmt.Errorf("store identity: lock %s: %w", lock.Name(), err)
	}
	id, err := readIdentity(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	if _, err := os.Lstat(path); err == nil { // the key may be on a disk that is not mounted
		return Identity{}, fmt.Errorf("load identity: %s is a link to a missing file: restore it, or remove it and pair again", path)
	}
	return createIdentity(path)
}

func createIdentity(path string) (Identity, error) {
	id, err := Ephemeral()
	if err != nil {
		return Identity{}, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(id.cert.PrivateKey)
	if err != nil {
		return Identity{}, fmt.Errorf("make a key: %w", err)
	}
	if err := writeFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
		return Identity{}, fmt.Errorf("store identity: %w", err)
	}
	return id, nil
}

// identityOf makes the certificate. Nobody checks its name or dates: the key alone is pinned.
func identityOf(key ed25519.PrivateKey) (Identity, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "tandem"},
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return Identity{}, fmt.Errorf("make a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return Identity{}, fmt.Errorf("make a certificate: %w", err)
	}
	cert := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
	return Identity{ID: idOf(leaf), cert: cert}, nil
}

func idOf(cert *x509.Certificate) ID { return sha256.Sum256(cert.RawSubjectPublicKeyInfo) }

// peerOf returns the key that the other end of a TLS connection has proved that it holds.
func peerOf(state tls.ConnectionState) (ID, error) {
	if len(state.PeerCertificates) != 1 {
		return ID{}, fmt.Errorf("the peer sent %d certificates instead of one", len(state.PeerCertificates))
	}
	if _, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey); !ok {
		return ID{}, fmt.Errorf("the peer's key is a %T, not Ed25519", state.PeerCertificates[0].PublicKey)
	}
	return idOf(state.PeerCertificates[0]), nil
}

// writeFile replaces the file at path with data in one step, readable only by its owner.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, data, 0o600)
}
