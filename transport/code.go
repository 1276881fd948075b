package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"rsc.io/qr"
)

// alphabet is Crockford's base 32: no I, L, O or U, so that codes survive being read out and typed.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const (
	codeVersion = 1
	groupData   = 7  // characters of a group before its check character
	pinSize     = 12 // bytes of the cloud key's fingerprint in a code
	secretSize  = 10 // bytes of the one-time secret
	maxHostLen  = 63

	// MaxCodeAddrs is the most addresses of a code.
	MaxCodeAddrs = 3
)

// Code is what a device needs to pair with a cloud: where it is, how to recognise its key, and a secret
// that admits one new key.
type Code struct {
	Addrs  []string // host:port, one to three
	Pin    [pinSize]byte
	Secret [secretSize]byte
}

// matches reports whether id is the key that the code names.
func (c Code) matches(id ID) bool { return [pinSize]byte(id[:]) == c.Pin }

// String writes the code in groups of eight characters, the last of each a check character that detects
// any one wrong character and any two exchanged ones. With one IPv4 address it has seven groups.
func (c Code) String() string {
	b, err := c.marshal()
	if err != nil {
		return "" // not for a Code from Invites.New or ParseCode
	}
	bits := bitReader{buf: b}
	var digits []byte
	for n := 8 * len(b); n > 0; n -= 5 {
		k := min(n, 5)
		digits = append(digits, byte(bits.read(k))<<(5-k))
	}
	for len(digits)%groupData != 0 {
		digits = append(digits, 0)
	}
	var out strings.Builder
	for g := 0; g*groupData < len(digits); g++ {
		group := digits[g*groupData:][:groupData]
		if g > 0 {
			out.WriteByte('-')
		}
		for _, d := range append(group[:groupData:groupData], checkDigit(g, group)) {
			out.WriteByte(alphabet[d])
		}
	}
	return out.String()
}

// checkDigit is a Reed-Solomon check over GF(32): each place and each group has its own factor.
func checkDigit(group int, digits []byte) byte {
	sum, factor := byte(group%31+1), byte(1)
	for _, d := range digits {
		factor = mul32(factor, 2)
		sum ^= mul32(d, factor)
	}
	return sum
}

// mul32 multiplies in GF(2^5) modulo x^5+x^2+1.
func mul32(a, b byte) (p byte) {
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			p ^= a
		}
		if a <<= 1; a&32 != 0 {
			a ^= 0b100101
		}
	}
	return p
}

// ParseCode reads what String wrote, in either case, with or without hyphens and spaces, with O for 0 and
// I or L for 1. The error names the group with the typing mistake.
func ParseCode(text string) (Code, error) {
	var digits []byte
	for _, r := range strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(text)), "TANDEM:") {
		switch {
		case r == '-' || unicode.IsSpace(r):
			continue
		case r == 'O':
			r = '0'
		case r == 'I' || r == 'L':
			r = '1'
		}
		d := strings.IndexRune(alphabet, r)
		if d < 0 {
			return Code{}, fmt.Errorf("pairing code: %q in group %d is not a character of a code", r, len(digits)/(groupData+1)+1)
		}
		if digits = append(digits, byte(d)); len(digits) > 512 {
			return Code{}, errors.New("pairing code: too long")
		}
	}
	if len(digits) == 0 || len(digits)%(groupData+1) != 0 {
		return Code{}, fmt.Errorf("pairing code: its length is %d, and each group has %d characters, so some are missing or extra", len(digits), groupData+1)
	}
	var bits bitWriter
	for g := 0; g*(groupData+1) < len(digits); g++ {
		group := digits[g*(groupData+1):][:groupData+1]
		if checkDigit(g, group[:groupData]) != group[groupData] {
			return Code{}, fmt.Errorf("pairing code: group %d (%s) has a typing mistake", g+1, spell(group))
		}
		for _, d := range group[:groupData] {
			bits.write(uint64(d), 5)
		}
	}
	return unmarshalCode(bits.buf)
}

func spell(digits []byte) string {
	var out strings.Builder
	for _, d := range digits {
		out.WriteByte(alphabet[d])
	}
	return out.String()
}

// Kinds of address in a code.
const (
	addrIPv4 = iota
	addrIPv6
	addrHost
)

// marshal encodes the version and the number of addresses, the addresses' kinds, the pin, the secret, and then each
// address: its host, preceded by its length if it is a name, and its port.
func (c Code) marshal() ([]byte, error) {
	if len(c.Addrs) == 0 || len(c.Addrs) > MaxCodeAddrs {
		return nil, fmt.Errorf("pairing code: %d addresses, need 1 to %d", len(c.Addrs), MaxCodeAddrs)
	}
	kinds := byte(0)
	b := append([]byte{0, 0}, c.Pin[:]...)
	b = append(b, c.Secret[:]...)
	for i, addr := range c.Addrs {
		host, ip, number, err := splitAddr(addr)
		if err != nil {
			return nil, fmt.Errorf("pairing code: %w", err)
		}
		kind := byte(addrHost)
		switch {
		case ip.Is4():
			kind = addrIPv4
			b = append(b, ip.AsSlice()...)
		case ip.IsValid():
			kind = addrIPv6
			b = append(b, ip.AsSlice()...)
		default:
			b = append(append(b, byte(len(host))), host...)
		}
		kinds |= kind << (2 * i)
		b = binary.BigEndian.AppendUint16(b, number)
	}
	b[0], b[1] = codeVersion<<4|byte(len(c.Addrs)), kinds
	return b, nil
}

// splitAddr reads an address that others can dial. The IP address is not valid if the host is a name.
func splitAddr(addr string) (host string, ip netip.Addr, port uint16, err error) {
	host, digits, err := net.SplitHostPort(addr)
	if err != nil {
		return "", ip, 0, fmt.Errorf("address %q is not host:port: %w", addr, err)
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || number == 0 {
		return "", ip, 0, fmt.Errorf("address %q has no port number", addr)
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
		return host, ip.Unmap(), uint16(number), nil
	}
	if host == "" || len(host) > maxHostLen || strings.ContainsFunc(host, notHost) {
		return "", ip, 0, fmt.Errorf("%q is not a host name of at most %d characters", host, maxHostLen)
	}
	return host, ip, uint16(number), nil
}

// checkAddr returns why an address cannot be dialled by others, or nil.
func checkAddr(addr string) error {
	_, _, _, err := splitAddr(addr)
	return err
}

func notHost(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._", r))
}

var errShortCode = errors.New("pairing code: too short")

// unmarshalCode is the inverse of marshal. It accepts the padding of the last group.
func unmarshalCode(b []byte) (c Code, err error) {
	if len(b) < 2 {
		return c, errShortCode
	}
	version, n, kinds := b[0]>>4, int(b[0]&15), b[1]
	if version != codeVersion {
		return c, fmt.Errorf("pairing code: version %d, this program knows %d", version, codeVersion)
	}
	if b = b[2:]; len(b) < pinSize+secretSize {
		return c, errShortCode
	}
	c.Pin, c.Secret = [pinSize]byte(b), [secretSize]byte(b[pinSize:])
	b = b[pinSize+secretSize:]
	for i := range n {
		var addr string
		if addr, b, err = unmarshalAddr(b, kinds>>(2*i)&3); err != nil {
			return c, err
		}
		c.Addrs = append(c.Addrs, addr)
	}
	// The rest must be padding.
	if len(b) > groupData || strings.Trim(string(b), "\x00") != "" {
		return c, errors.New("pairing code: too long")
	}
	if _, err := c.marshal(); err != nil {
		return c, err
	}
	return c, nil
}

// unmarshalAddr reads an address of a kind, and returns the bytes after it.
func unmarshalAddr(b []byte, kind byte) (addr string, rest []byte, err error) {
	size := 0
	switch kind {
	case addrIPv4:
		size = 4
	case addrIPv6:
		size = 16
	case addrHost:
		if len(b) < 1 {
			return "", nil, errShortCode
		}
		size, b = int(b[0]), b[1:]
	default:
		return "", nil, errors.New("pairing code: unknown kind of address")
	}
	if len(b) < size+2 {
		return "", nil, errShortCode
	}
	name := string(b[:size])
	if kind != addrHost {
		ip, _ := netip.AddrFromSlice(b[:size])
		name = ip.Unmap().String()
	}
	return net.JoinHostPort(name, strconv.Itoa(int(binary.BigEndian.Uint16(b[size:])))), b[size+2:], nil
}

// QR draws the code for a terminal as a QR picture, dark on light. A character shows two modules, one above the other.
func (c Code) QR() (string, error) {
	code, err := qr.Encode("TANDEM:"+strings.ReplaceAll(c.String(), "-", ""), qr.M)
	if err != nil {
		return "", fmt.Errorf("draw the pairing code: %w", err)
	}
	const quiet = 2
	dark := func(x, y int) bool { return x >= 0 && y >= 0 && x < code.Size && y < code.Size && code.Black(x, y) }
	var out strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		out.WriteString("\x1b[30;107m")
		for x := -quiet; x < code.Size+quiet; x++ {
			switch {
			case dark(x, y) && dark(x, y+1):
				out.WriteRune('█')
			case dark(x, y):
				out.WriteRune('▀')
			case dark(x, y+1):
				out.WriteRune('▄')
			default:
				out.WriteRune(' ')
			}
		}
		out.WriteString("\x1b[0m\n")
	}
	return out.String(), nil
}
