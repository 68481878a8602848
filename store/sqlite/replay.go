package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Replay brings pieces of logs, which a Tail gave, into a copy of the database's file. SQLite does so itself, as it does after a crash: it is
// given each log as it was, and its checksums are looked at.
type Replay struct {
	path string
	file *os.File // the log
	log  string   // which one
	size int64    // of it so far, in bytes

	frame   int64 // bytes of a page of the log and its header
	commits int64 // pages up to the last commit
}

// NewReplay begins to bring logs into the file at path, which nobody else uses.
func NewReplay(path string) *Replay { return &Replay{path: path} }

// Add takes the next piece. It fails if that does not begin where the one before it ended. Another log than before has the one before
// brought into the file.
func (r *Replay) Add(ctx context.Context, p Piece) (err error) {
	switch {
	case p.Offset == 0:
		if err := r.End(ctx); err != nil {
			return err
		}
		if err := r.begin(p); err != nil {
			return err
		}
	case r.file == nil || p.Log != r.log || p.Offset != r.size:
		return fmt.Errorf("a piece of log %s at %d does not follow on log %s at %d", p.Log, p.Offset, r.log, r.size)
	}
	if _, err := r.file.Write(p.Bytes); err != nil {
		return err
	}

	from := int64(0)
	if p.Offset == 0 {
		from = logHeader
	}
	for ; from+r.frame <= int64(len(p.Bytes)); from += r.frame {
		if binary.BigEndian.Uint32(p.Bytes[from+4:]) != 0 {
			r.commits = (p.Offset+from-logHeader)/r.frame + 1
		}
	}
	r.size += int64(len(p.Bytes))
	return nil
}

// begin makes the file of a log.
func (r *Replay) begin(p Piece) (err error) {
	if len(p.Bytes) < logHeader || hex.EncodeToString(p.Bytes[16:24]) != p.Log {
		return fmt.Errorf("the piece at the beginning of log %s has not its header", p.Log)
	}
	r.log, r.size, r.commits = p.Log, 0, 0
	r.frame = frameHeader + int64(binary.BigEndian.Uint32(p.Bytes[8:]))
	if r.frame < frameHeader+leastPage || r.frame > frameHeader+largestPage {
		return fmt.Errorf("log %s has pages of %d bytes", p.Log, r.frame-frameHeader)
	}
	r.file, err = os.OpenFile(r.path+"-wal", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	return err
}

// End brings the last log into the file, as far as it was committed. It fails if SQLite takes less of it than was added.
func (r *Replay) End(ctx context.Context) (err error) {
	if r.file == nil {
		return nil
	}
	err = r.file.Close()
	r.file = nil
	if err != nil {
		return err
	}

	query := url.Values{"mode": {"rw"}, "_pragma": {"synchronous(OFF)", "busy_timeout(5000)"}} // who restores copies it, and syncs the copy
	pool, err := sql.Open("sqlite", uri(r.path, query))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }() // the last connection removes the log
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()

	var busy, pages, moved int64
	if err := c.QueryRowContext(ctx, checkpoint).Scan(&busy, &pages, &moved); err != nil {
		return notADatabase(err)
	}
	if busy != 0 || pages != r.commits || moved != pages {
		return fmt.Errorf("of %d pages of log %s SQLite took %d and brought %d into the file", r.commits, r.log, pages, moved)
	}
	return nil
}

// Close leaves what was not ended as it is.
func (r *Replay) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
