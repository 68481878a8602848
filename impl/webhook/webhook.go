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

// New makes a Poster. Link-local and metadata addresses are never reached, loopback and private ones only if private is true, or if it is one
// of own (rules queue.webhook.link-local, queue.webhook.private). The address is judged once its name is resolved, for each connection.
func New(private bool, own ...string) *Poster {
	dialer := &net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		return permit(address, private || slices.Contains(own, address))
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

// metadata are addresses, beside the link-local ones, at which clouds describe a machine to itself.
var metadata = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16")}

// shared is the address space of carriers, private in all but its name.
var shared = netip.MustParsePrefix("100.64.0.0/10")

func permit(address string, private bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}

	ip := at.Addr().Unmap()
	for _, m := range metadata {
		if ip == m {
			return errors.New("the address is one of metadata")
		}
	}

	switch {
	case ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified():
		return errors.New("the address is link-local, multicast or unspecified")
	case !private && (ip.IsLoopback() || ip.IsPrivate() || shared.Contains(ip)):
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
