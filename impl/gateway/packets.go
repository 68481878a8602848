package gateway

import (
	"context"
	"encoding/binary"
	"io"
)

// mostUnanswered is how many requests of a client for files may wait for their answers, of which OpenSSH sends 64 ahead. The answers come in the
// order of the requests: those that are ready before another one are kept, and a request may take for ever.
const mostUnanswered = 128

// packets is a client for files of whom no more requests are read than may wait. It stays open when what is served over it is over: the exit code,
// by which scp goes, is yet to be sent.
type packets struct {
	ctx    context.Context
	client io.ReadWriter
	places chan struct{} // holds one for each request without an answer

	in, out packet
	begun   bool // the request that is read has its place
}

// bounded gives a client of whom so many requests wait at most, until ctx ends.
func bounded(ctx context.Context, client io.ReadWriter) *packets {
	return &packets{ctx: ctx, client: client, places: make(chan struct{}, mostUnanswered)}
}

// Read reads no further than to the end of a packet.
func (p *packets) Read(b []byte) (int, error) {
	if !p.begun {
		select {
		case p.places <- struct{}{}:
			p.begun = true
		case <-p.ctx.Done():
			return 0, io.EOF
		}
	}
	n, err := p.client.Read(b[:min(len(b), p.in.rest())])
	if p.in.pass(b[:n]) > 0 {
		p.begun = false
	}
	return n, err
}

// Write gives back a place for each packet that ends.
func (p *packets) Write(b []byte) (int, error) {
	n, err := p.client.Write(b)
	for range p.out.pass(b[:n]) {
		select {
		case <-p.places:
		default:
		}
	}
	return n, err
}

// Close does nothing.
func (p *packets) Close() error { return nil }

// packet is how far one has come: four bytes of length, and so many bytes.
type packet struct {
	head [4]byte
	have int
	left int
}

// rest is how many bytes are known to be missing.
func (p *packet) rest() int {
	if p.have < len(p.head) {
		return len(p.head) - p.have
	}
	return p.left
}

// pass takes bytes that have come, and gives how many packets ended with them.
func (p *packet) pass(b []byte) (ended int) {
	for len(b) > 0 {
		if p.have < len(p.head) {
			n := copy(p.head[p.have:], b)
			p.have += n
			b = b[n:]
			if p.have < len(p.head) {
				return ended
			}
			p.left = int(binary.BigEndian.Uint32(p.head[:]))
		}
		n := min(p.left, len(b))
		p.left -= n
		b = b[n:]
		if p.left == 0 {
			p.have = 0
			ended++
		}
	}
	return ended
}
