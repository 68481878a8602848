package sqlite

import (
	"context"

	"github.com/berthdev/berth/store/sqldb"
)

const (
	// checkpointPages is about how many pages the log gets between two checkpoints.
	checkpointPages = 1000
	// checkpointLog is the length of the log, in pages, at which the writer waits for the end of a checkpoint, so that the log
	// begins anew: while it is written to, it only grows.
	checkpointLog = 2000
	// checkpoint brings into the file what of the log no reader needs any more, and waits for nobody.
	checkpoint = "PRAGMA wal_checkpoint(PASSIVE)"
)

// checkpoints brings the log into the file, beside the writer: SQLite would do so within a commit, and everybody would wait for
// the few milliseconds that it takes. The writer waits only for what it wrote meanwhile.
func (d *DB) checkpoints(ctx context.Context) {
	defer close(d.checkpointed)
	var own *sqldb.Conn
	defer func() {
		if own != nil {
			_ = own.Close()
		}
	}()

	for {
		select {
		case <-d.closed:
			return
		case <-d.engine.long:
		}

		if own == nil {
			c, err := d.connect(ctx, dsn(d.path, false, d.synchronous))
			if err != nil {
				continue // SQLite will do it
			}
			own = sqldb.NewConn(c, dialect{})
		}

		if pages, err := d.checkpoint(own); err != nil || pages < checkpointLog {
			continue
		}
		d.group.Exclude(func() { _, _ = d.checkpoint(d.engine.conn) }) // or the next time
	}
}

// checkpoint makes a checkpoint of what whoever follows the log has read of it, and gives how many pages the log has. Before it, the tail
// moves up to the end of the log, so that this may go into the file; after it, so that the log may begin anew.
func (d *DB) checkpoint(c *sqldb.Conn) (pages int64, err error) {
	d.followed.move()
	pages, err = logged(c)
	d.followed.move()
	return pages, err
}

// logged makes a checkpoint and gives how many pages the log has.
func logged(c *sqldb.Conn) (pages int64, err error) {
	rows, err := c.Query(checkpoint)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }() // Err has its error
	for rows.Next() {
		pages, _ = rows.Row()[1].(int64) // after whether it was in the way, and before how many went into the file
	}
	return pages, rows.Err()
}

// grew notes that a commit wrote so many calls' changes, and calls for a checkpoint when that may have been enough pages.
func (e *engine) grew(calls int) {
	if e.pages += 4 + calls/2; e.pages < checkpointPages {
		return
	}
	e.pages = 0
	e.call()
}

// call calls for a checkpoint.
func (e *engine) call() {
	select {
	case e.long <- struct{}{}:
	default:
	}
}
