package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"
)

// weave runs functions side by side over one connection: each runs until it has a statement, and the statements of all go to the
// database together. What takes a way there and back for each one by one takes one for all. Only one function runs at a time.
type weave struct {
	conn *conn
	now  *strand // which runs
	err  error   // what a round failed with: nothing goes on after it
}

// strand is one of the functions.
type strand struct {
	yield func(struct{}) bool
	next  func() (struct{}, bool)
	stop  func()

	asked *statement // what it waits for
	args  []any
	found *rows
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

	for waiting := strands; len(waiting) > 0; {
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

// ask has a statement run with those of the others.
func (w *weave) ask(of *statement, args []any) (*rows, error) {
	s := w.now
	if w.err != nil {
		return nil, errFrayed
	}
	s.asked, s.args = of, args
	if !s.yield(struct{}{}) {
		return nil, errFrayed
	}
	return s.found, nil
}

// send has the statements run that are waited for.
func (w *weave) send(waiting []*strand) error {
	if len(waiting) == 0 {
		return nil
	}
	parts, err := w.parts(waiting)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, p := range parts {
		if err := p.queue(batch); err != nil {
			return err
		}
	}
	results := w.conn.on.SendBatch(context.Background(), batch)

	for _, p := range parts {
		answer, err := results.Query()
		if err == nil {
			err = p.read(&rows{conn: w.conn, of: p.of.of, answer: answer})
		}
		if err != nil {
			return errors.Join(w.conn.away(err), results.Close())
		}
	}

	if err := results.Close(); err != nil {
		return w.conn.away(err)
	}
	return nil
}

// part is one statement of a round: one function's, or one for several functions that wait for the same.
type part struct {
	of      *statement
	strands []*strand
	set     *set // nil: it is one function's
}

// parts makes one statement of those that are the same, where that can be.
func (w *weave) parts(waiting []*strand) ([]*part, error) {
	var all []*part
	same := map[*statement]*part{}
	for _, s := range waiting {
		if p := same[s.asked]; p != nil {
			p.strands = append(p.strands, s)
			continue
		}
		p := &part{of: s.asked, strands: []*strand{s}}
		all = append(all, p)
		if !s.asked.single {
			same[s.asked] = p
		}
	}

	var whole []*part
	for _, p := range all {
		if len(p.strands) == 1 {
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
		for _, s := range p.strands {
			whole = append(whole, &part{of: p.of, strands: []*strand{s}})
		}
	}
	return whole, nil
}

func (p *part) queue(batch *pgx.Batch) error {
	if p.set == nil {
		batch.Queue(p.of.of.Name, p.strands[0].args...)
		return nil
	}
	args, err := p.set.args(p.strands)
	if err == nil {
		batch.Queue(p.set.of.Name, args...)
	}
	return err
}

// read gives each of the functions what is theirs of the answer.
func (p *part) read(answer *rows) error {
	if err := answer.read(); err != nil {
		return err
	}
	if p.set == nil {
		p.strands[0].found = answer
		return nil
	}

	for _, s := range p.strands {
		s.found = &rows{conn: answer.conn, of: p.of.of}
		if !p.set.numbered {
			s.found.count = 1
		}
	}
	for _, row := range answer.all {
		found := p.strands[row[0].(int64)-1].found
		found.all = append(found.all, row[1:])
		found.count++
	}
	return nil
}
