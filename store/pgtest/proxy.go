//go:build unix

package pgtest

import (
	"bytes"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
)

// Proxy stands between programs and a cluster, and cuts their connections.
type Proxy struct {
	dir     string
	to      string // path of the server's socket
	listen  net.Listener
	running sync.WaitGroup

	mu     sync.Mutex
	pairs  map[*pair]struct{} // that are open
	passed [2]int             // bytes since Count or CutAfter, by Direction
	last   Direction          // of the bytes before
	turns  int                // how often bytes went to the server after some came from it, since then
	at     int                // how many bytes pass; less than 0: all
	of     Direction
	text   string // with the first one that has it nothing passes any more; "": with none
	then   func() // is called when they have passed; may be nil
	hold   bool   // the server does not see the cut
	mute   bool   // nothing passes, and nothing is cut
	closed bool
}

// Direction is where bytes go.
type Direction int

// The directions.
const (
	ToServer Direction = iota
	ToClient
)

// pair is a connection of a program, and that to the server for it.
type pair struct{ client, server net.Conn }

func (p *pair) close() {
	_ = p.client.Close()
	_ = p.server.Close()
}

// Proxy starts one, through which everything passes at first.
func (c *Cluster) Proxy() (*Proxy, error) {
	dir, err := os.MkdirTemp("", "berth-px-")
	if err != nil {
		return nil, err
	}
	p := &Proxy{dir: dir, to: c.Socket(), pairs: map[*pair]struct{}{}, at: -1}
	if p.listen, err = net.Listen("unix", filepath.Join(dir, filepath.Base(p.to))); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	p.running.Go(p.run)
	return p, nil
}

// URL gives what leads to the schema through the proxy, of the URL of that.
func (p *Proxy) URL(direct string) (string, error) {
	u, err := url.Parse(direct)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("host", p.dir)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// Count counts bytes from now on; nothing is cut.
func (p *Proxy) Count() { p.CutAfter(ToServer, -1, nil) }

// Passed gives how many bytes went that way since Count or CutAfter.
func (p *Proxy) Passed(d Direction) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed[d]
}

// Turns gives how often the server was asked since Count, after it had answered: how many ways there and back that took.
func (p *Proxy) Turns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turns
}

// CutAfter lets so many bytes more pass that way, and then cuts the connection on which the next one comes; none if it is less than 0.
// Those opened later live. then is called before the cut, unless it is nil.
func (p *Proxy) CutAfter(d Direction, most int, then func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed, p.turns, p.of, p.at, p.text, p.then = [2]int{}, 0, d, most, "", then
}

// CutBefore cuts the connection on which the text comes next that way, and lets nothing pass of what comes with it. then is called before the
// cut, unless it is nil.
func (p *Proxy) CutBefore(d Direction, text string, then func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of, p.at, p.text, p.then = d, -1, text, then
}

// Hold keeps the server from now on from seeing cuts of what goes to it: it takes the program for one that sends nothing.
func (p *Proxy) Hold(hold bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = hold
}

// Mute swallows from now on all that comes, as a network does that is gone. Connections of which it has swallowed something are of no use
// afterwards.
func (p *Proxy) Mute(mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = mute
}

// Down refuses new connections and cuts all there are.
func (p *Proxy) Down() {
	p.refuse(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := range p.pairs {
		one.close()
	}
}

// Refuse refuses new connections.
func (p *Proxy) Refuse() { p.refuse(true) }

// Up lets connections through again.
func (p *Proxy) Up() { p.refuse(false) }

func (p *Proxy) refuse(closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = closed
}

// Close ends the proxy with its connections.
func (p *Proxy) Close() error {
	err := p.listen.Close()
	p.Down()
	p.running.Wait()
	_ = os.RemoveAll(p.dir)
	return err
}

func (p *Proxy) run() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		if one := p.open(client); one != nil {
			p.running.Go(func() { p.copy(one, ToServer) })
			p.running.Go(func() { p.copy(one, ToClient) })
		}
	}
}

// open opens the connection to the server, unless none is let through.
func (p *Proxy) open(client net.Conn) *pair {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = client.Close()
		return nil
	}
	server, err := net.Dial("unix", p.to) //nolint:noctx // it is there or it is not
	if err != nil {
		_ = client.Close()
		return nil
	}
	one := &pair{client, server}
	p.pairs[one] = struct{}{}
	return one
}

// copy lets bytes pass one way until the connection ends or is cut.
func (p *Proxy) copy(one *pair, d Direction) {
	from, to := one.client, one.server
	if d == ToClient {
		from, to = to, from
	}

	held := false
	defer func() { p.end(one, held) }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		pass, cut := p.pass(d, buffer[:n])
		_, failed := to.Write(buffer[:pass])
		if cut {
			held = p.cut() && d == ToServer
			return
		}
		if failed != nil || err != nil {
			return
		}
	}
}

// pass counts bytes that come, and gives how many of them pass, and whether the connection is cut then.
func (p *Proxy) pass(d Direction, come []byte) (pass int, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pass = len(come)
	switch {
	case p.mute:
		pass = 0
	case p.of != d:
	case p.text != "" && bytes.Contains(come, []byte(p.text)):
		pass, cut = 0, true
	case p.at >= 0 && p.passed[d]+pass > p.at:
		pass, cut = p.at-p.passed[d], true
	}
	if cut {
		p.at, p.text = -1, ""
	}
	p.passed[d] += pass
	if d == ToServer && p.last == ToClient {
		p.turns++
	}
	p.last = d
	return pass, cut
}

// cut says that a connection is cut, and gives whether the server is not to know.
func (p *Proxy) cut() (hold bool) {
	p.mu.Lock()
	then, hold := p.then, p.hold
	p.mu.Unlock()
	if then != nil {
		then()
	}
	return hold
}

// end ends a connection; that to the server only if it is not held: it ends when the server has enough of it.
func (p *Proxy) end(one *pair, held bool) {
	_ = one.client.Close()
	if held {
		return
	}
	one.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pairs, one)
}
