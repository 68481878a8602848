// Package webhook posts documents to the addresses that clients named. It is an edge to the outside: it decides where a
// request may not go, and nothing else.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// timeout is what a receiver has for its whole answer.
const timeout = 10 * time.Second

// What receivers can make us hold.
const (
	idleConnections = 64       // to all of them
	headerBytes     = 64 << 10 // of an answer, of which nothing but the status is looked at
)

// Poster posts documents. It is safe for concurrent use.
type Poster struct {
	client *http.Client
}

// New makes a Poster. Link-local and metadata addresses are never reached, loopback and private ones only if toPrivate is true, or if it is one
// of own (rules queue.webhook.link-local, queue.webhook.private). The address is judged once its name is resolved, for each connection.
func New(toPrivate bool, own ...string) *Poster {
	dialer := &net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		return permit(address, toPrivate || slices.Contains(own, address))
	}}
	return &Poster{client: &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, MaxIdleConns: idleConnections, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second,
			TLSHandshakeTimeout: timeout, MaxResponseHeaderBytes: headerBytes,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// metadata are networks, beside the link-local ones, at which clouds describe a machine to itself and give out its credentials.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"), netip.MustParsePrefix("fd20:ce::/32"), netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("168.63.129.16/32"), netip.MustParsePrefix("192.0.0.192/32"),
	netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), netip.MustParsePrefix("fd00:42::42/128"),
}

// private are networks that are private in all but their name: that of carriers, and that of sites which version 6 had at first.
var private = []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fec0::/10")}

// thisNetwork is where packets do not leave the machine, as those to the unspecified address do not.
var thisNetwork = netip.MustParsePrefix("0.0.0.0/8")

// embedding are the networks of version 6 whose addresses have one of version 4 in them, from the byte on, to which routers pass
// on what they get: translators (NAT64, SIIT), 6to4, and the form that was there before them.
var embedding = []struct {
	network netip.Prefix
	at      int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("64:ff9b:1::/48"), 12}, {netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("::/96"), 12}, {netip.MustParsePrefix("::ffff:0:0:0/96"), 12},
}

func permit(address string, toPrivate bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}

	ip := at.Addr().Unmap().WithZone("") // a zone is for link-local addresses, and hides others
	if err := permitIP(ip, toPrivate); err != nil || ip.Is4() || ip.IsLoopback() {
		return err
	}
	for _, c := range embedding {
		if c.network.Contains(ip) {
			bytes := ip.As16()
			return permitIP(netip.AddrFrom4([4]byte(bytes[c.at:c.at+4])), toPrivate)
		}
	}
	return nil
}

func permitIP(ip netip.Addr, toPrivate bool) error {
	within := func(n netip.Prefix) bool { return n.Contains(ip) }
	switch {
	case slices.ContainsFunc(metadata, within):
		return errors.New("the address is one of metadata")
	case ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || thisNetwork.Contains(ip):
		return errors.New("the address is link-local, multicast or unspecified")
	case !toPrivate && (ip.IsLoopback() || ip.IsPrivate() || slices.ContainsFunc(private, within)):
		return errors.New("the address is private, which the settings do not permit")
	}
	return nil
}

// Post posts a JSON document of so many bytes and gives the HTTP status of the answer, 0 if there was none. Anything but 2xx is an
// error; its text never holds the address, whose query may be secret.
func (p *Poster) Post(ctx context.Context, url string, body io.Reader, size int64) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return 0, errors.New("the address is not valid")
	}
	r.ContentLength = size
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "berth")

	res, err := p.client.Do(r)
	if err != nil {
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			err = inner // the outer ones name the address
		}
		return 0, err
	}

	_ = res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return res.StatusCode, fmt.Errorf("the receiver answered %d", res.StatusCode)
	}
	return res.StatusCode, nil
}

// Close ends idle connections.
func (p *Poster) Close() { p.client.CloseIdleConnections() }
