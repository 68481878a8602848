package postgres

import (
	"errors"
	"iter"
)

// weave runs functions side by side over one connection: each runs until it needs what a statement gives, and the statements of all go to
// the database together. What takes a way there and back for each one by one takes one for all. Only one function runs at a time.
type weave struct {
	conn   *conn
	now    *strand // which runs
	posted []*ask  // statements that nobody waits for, of all functions, to be sent with the next ones
	bytes  int     // of their arguments
	err    error   // what a round failed with: nothing goes on after it
}

// strand is one of the functions.
type strand struct {
	yield func(struct{}) bool
	next  func() (struct{}, bool)
	stop  func()

	asked *ask // what it waits for
}

// ask is a statement that a function has run.
type ask struct {
	of    *statement
	args  []any
	found *rows
}

// size is how many bytes its texts have.
func (a *ask) size() (n int) {
	for _, arg := range a.args {
		switch arg := arg.(type) {
		case string:
			n += len(arg)
		case []byte:
			n += len(arg)
		}
	}
	return n
}

// errFrayed is the error of a statement when that of another function failed.
var errFrayed = errors.New("a statement beside this one failed")

// Weave runs the functions side by side. After an error the transaction is of no use.
func (e *engine) Weave(runs []func()) error {
	w := &weave{conn: e.on.conn}
	e.on.conn.weave = w
	defer func() { e.on.conn.weave = nil }()

	strands := make([]*strand, 0, len(runs))
	defer func() {
		for _, s := range strands { // those that wait for a statement that failed; also after a panic
			w.now = s
			s.stop()
		}
	}()
	for _, run := range runs {
		s := &strand{}
		s.next, s.stop = iter.Pull(func(yield func(struct{}) bool) {
			s.yield = yield
			run()
		})
		strands = append(strands, s)
	}

	for waiting := strands; len(waiting) > 0 || len(w.posted) > 0; {
		waiting = w.advance(waiting)
		if w.err = w.send(waiting); w.err != nil {
			return w.err
		}
	}
	return nil
}

// advance runs each of the functions until it waits for a statement, and gives those that do.
func (w *weave) advance(strands []*strand) []*strand {
	waiting := make([]*strand, 0, len(strands))
	for _, s := range strands {
		w.now = s
		if _, waits := s.next(); waits {
			waiting = append(waiting, s)
		}
	}
	return waiting
}

// postedBytes is about how many bytes of arguments may be kept of statements that nobody waits for.
const postedBytes = 1 << 20

// ask has a statement run with those of the others. One that inserts a row gives nothing, and if it is refused everything is undone: the
// function goes on without waiting for it, as long as there is room for what it inserts.
func (w *weave) ask(of *statement, args []any) (*rows, error) {
	s := w.now
	if w.err != nil {
		return nil, errFrayed
	}
	a := &ask{of: of, args: args}
	if of.inserts && w.bytes < postedBytes {
		w.posted = append(w.posted, a)
		w.bytes += a.size()
		return &rows{conn: w.conn, of: of.of, count: 1}, nil
	}

	s.asked = a
	if !s.yield(struct{}{}) {
		return nil, errFrayed
	}
	return a.found, nil
}

// send has the statements run that were posted, and then those that are waited for.
func (w *weave) send(waiting []*strand) error {
	asks := w.posted
	w.posted, w.bytes = nil, 0
	for _, s := range waiting {
		asks = append(asks, s.asked)
	}
	if len(asks) == 0 {
		return nil
	}

	parts, err := partsOf(asks)
	if err != nil {
		return err
	}
	p, err := w.conn.pipe()
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := part.add(p); err != nil {
			return err
		}
	}

	return p.send(func() error {
		for _, part := range parts {
			answer, err := p.answer()
			if err == nil {
				err = part.read(&rows{conn: w.conn, of: part.of.of, answer: answer})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// part is one statement of a round: one function's, or one for several that ask for the same.
type part struct {
	of   *statement
	asks []*ask
	set  *set // nil: there is one
}

// partsOf makes one statement of those that are the same, where that can be.
func partsOf(asks []*ask) ([]*part, error) {
	var all []*part
	same := map[*statement]*part{}
	for _, a := range asks {
		if p := same[a.of]; p != nil {
			p.asks = append(p.asks, a)
			continue
		}
		p := &part{of: a.of, asks: []*ask{a}}
		all = append(all, p)
		if !a.of.single {
			same[a.of] = p
		}
	}

	var whole []*part
	for _, p := range all {
		if len(p.asks) == 1 {
			whole = append(whole, p)
			continue
		}
		set, err := p.of.forMany()
		if err != nil {
			return nil, err
		}
		if p.set = set; set != nil {
			whole = append(whole, p)
			continue
		}
		for _, a := range p.asks {
			whole = append(whole, &part{of: p.of, asks: []*ask{a}})
		}
	}
	return whole, nil
}

// add adds it to what is sent.
func (p *part) add(to *pipe) error {
	if p.set == nil {
		return to.add(p.of.of, p.asks[0].args)
	}
	args, err := p.set.args(p.asks)
	if err != nil {
		return err
	}
	return to.add(p.set.of, args)
}

// read gives each of the functions what is theirs of the answer.
func (p *part) read(answer *rows) error {
	if err := answer.read(); err != nil {
		return err
	}
	if p.set == nil {
		p.asks[0].found = answer
		return nil
	}

	for _, a := range p.asks {
		a.found = &rows{conn: answer.conn, of: p.of.of}
		if !p.set.numbered {
			a.found.count = 1
		}
	}
	for _, row := range answer.all {
		found := p.asks[row[0].(int64)-1].found
		found.all = append(found.all, row[1:])
		found.count++
	}
	return nil
}
