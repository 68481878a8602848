package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// opening is what begins a transaction that begins late: with the first statements that are sent in it.
type opening struct {
	id, epoch int64 // of the fence; epoch 0: there is none
}

// storeID stores the id of a transaction, or nothing if another replica is the owner: the statement of the fence, as one that is prepared.
const storeID = "INSERT INTO commits (id) SELECT $1::bigint FROM owners WHERE shard = 0 AND epoch = $2::bigint FOR SHARE"

// pipe has statements that are sent to the database at once. It begins with what begins the transaction, if that is still to be done.
//
// Each statement ends with a Sync: the server waits for the next one no longer than a transaction may be idle. Without it a program that
// stopped in the middle of a long statement would keep what it locked, and others from becoming the owner.
type pipe struct {
	conn *conn
	late *opening // nil: the transaction has begun
	sent []message
	on   *pgconn.Pipeline
}

// message is a statement with its arguments as they are sent.
type message struct {
	of   *pgconn.StatementDescription
	with pgx.ExtendedQueryBuilder
}

func (c *conn) pipe() (*pipe, error) {
	p := &pipe{conn: c, late: c.late}
	if p.late == nil {
		return p, nil
	}
	if err := p.command(begin); err != nil || p.late.epoch == 0 {
		return p, err
	}
	return p, p.command(storeID, p.late.id, p.late.epoch)
}

// add adds a statement. It fails on an argument that is not of the type that the statement has.
func (p *pipe) add(of *pgconn.StatementDescription, args []any) error {
	m := message{of: of}
	if err := m.with.Build(p.conn.on.TypeMap(), of, args); err != nil {
		return err
	}
	p.sent = append(p.sent, m)
	return nil
}

// command adds a command, which is prepared on first use.
func (p *pipe) command(text string, args ...any) (err error) {
	c := p.conn
	of := c.commands[text]
	if of == nil {
		if of, err = c.on.Prepare(context.Background(), fmt.Sprintf("command%d", len(c.commands)+1), text); err != nil {
			return c.away(fmt.Errorf("prepare %s: %w", text, err))
		}
		c.commands[text] = of
	}
	return p.add(of, args)
}

// send sends everything, and has f read the answers to what was added, in that order.
func (p *pipe) send(f func() error) error {
	p.conn.late = nil
	p.on = p.conn.on.PgConn().StartPipeline(context.Background())
	for i := range p.sent {
		m := &p.sent[i]
		p.on.SendQueryStatement(m.of, m.with.ParamValues, m.with.ParamFormats, m.with.ResultFormats)
		p.on.SendPipelineSync()
	}

	err := p.on.Flush()
	if err == nil {
		err = p.opened()
	}
	if err == nil {
		err = f()
	}
	if err = errors.Join(err, p.on.Close()); err != nil {
		return p.conn.away(err)
	}
	return nil
}

// answer gives what the next statement gave, which must be read before the next one's.
func (p *pipe) answer() (pgx.Rows, error) {
	for {
		found, err := p.on.GetResults()
		if err != nil {
			return nil, err
		}
		switch found := found.(type) {
		case *pgconn.PipelineSync:
		case *pgconn.ResultReader:
			return pgx.RowsFromResultReader(p.conn.on.TypeMap(), found), nil
		default:
			return nil, fmt.Errorf("a statement was answered by a %T", found)
		}
	}
}

// done reads the answer to the next statement, which gives no rows.
func (p *pipe) done() (pgconn.CommandTag, error) {
	answer, err := p.answer()
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	answer.Close()
	return answer.CommandTag(), answer.Err()
}

// opened reads the answers to what begins the transaction.
func (p *pipe) opened() error {
	if p.late == nil {
		return nil
	}
	if _, err := p.done(); err != nil || p.late.epoch == 0 {
		return err
	}
	tag, err := p.done()
	if err == nil && tag.RowsAffected() == 0 {
		err = errMoved
	}
	return err
}

// begin begins the transaction, if that is still to be done.
func (c *conn) begin() error {
	if c.late == nil {
		return nil
	}
	p, err := c.pipe()
	if err != nil {
		return err
	}
	return p.send(func() error { return nil })
}

// commit commits together with the statements of last, which see nothing of what they give.
func (c *conn) commit(last func() error) error {
	p, err := c.pipe()
	if err != nil {
		return err
	}
	before := len(p.sent)
	c.last = p
	err = last()
	c.last = nil
	if err != nil {
		return err
	}
	statements := len(p.sent) - before
	if err := p.command(commit); err != nil {
		return err
	}

	c.warning = ""
	return p.send(func() error {
		for range statements {
			if _, err := p.done(); err != nil {
				return err
			}
		}
		tag, err := p.done()
		if err != nil {
			return err
		}
		return c.committed(tag)
	})
}
