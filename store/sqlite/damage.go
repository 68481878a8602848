package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Damage is what of the log of a database could not be read at the start. SQLite goes on with what is before it, and says nothing.
type Damage struct {
	Commits int // that were read, since the last checkpoint
	Pages   int // of them

	// What comes after them, and was not read. Of one commit that is the last one, nobody got an answer if the power failed while it was
	// written; more than one were acknowledged.
	LostCommits int
	LostPages   int

	Header bool // the log's own header is damaged, without which nothing of it can be read and its commits cannot be distinguished
}

// Certain reports whether something was lost that was acknowledged.
func (d *Damage) Certain() bool { return d.Header || d.LostCommits > 1 }

// Error says what was read and what was not.
func (d *Damage) Error() string {
	if d.Header {
		return fmt.Sprintf("the log of the database has a damaged header: none of its %d pages could be read", d.LostPages)
	}
	return fmt.Sprintf("the log of the database is damaged: %d commits (%d pages) could be read, and %d after them (%d pages) could not",
		d.Commits, d.Pages, d.LostCommits, d.LostPages)
}

// Damage is what was found when the database was opened; nil: nothing.
func (d *DB) Damage() *Damage { return d.damage }

// findDamage looks for damage in the log, with the lock that keeps others from writing to it; nil: there is none.
func findDamage(ctx context.Context, c *sql.Conn, path string) (_ *Damage, err error) {
	if info, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 { //nolint:gosec // the path is the operator's own
		return nil, nil //nolint:nilnil // no log, no damage
	}
	tx, err := c.BeginTx(ctx, nil) // immediate, by the DSN
	if failed, ok := errors.AsType[*sqlite.Error](err); ok && failed.Code()&0xff == lib.SQLITE_BUSY {
		return nil, nil //nolint:nilnil // a program that writes to the log all the time has read it; it leaves no turn to look
	}
	if err != nil {
		return nil, fmt.Errorf("look at the log: %w", err)
	}

	defer func() { _ = tx.Rollback() }() // it wrote nothing

	f, err := os.Open(path + "-wal") //nolint:gosec // the path is the operator's own
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read only
	d, err := readLog(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return nil, fmt.Errorf("look at the log: %w", err)
	}

	return d, nil
}

// The format of a log: a header, and frames of a header and a page each. A commit ends with a frame that has the size of the file.
// Each header has the checksum of all that is before it. See https://sqlite.org/fileformat2.html#the_write_ahead_log.
const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // the lowest bit says that checksums are of big-endian words
	leastPage   = 512
	largestPage = 65536
)

// checksum is the running one of a log.
type checksum struct {
	a, b  uint32
	order binary.ByteOrder
}

func (s *checksum) add(b []byte) {
	if s.order == binary.LittleEndian { // as it is nearly everywhere: all that is written is read by who follows the log
		x, y := s.a, s.b
		for ; len(b) >= 8; b = b[8:] {
			x += binary.LittleEndian.Uint32(b) + y
			y += binary.LittleEndian.Uint32(b[4:]) + x
		}
		s.a, s.b = x, y
		return
	}
	for ; len(b) >= 8; b = b[8:] {
		s.a += s.order.Uint32(b) + s.b
		s.b += s.order.Uint32(b[4:]) + s.a
	}
}

func (s *checksum) is(b []byte) bool {
	return s.a == binary.BigEndian.Uint32(b) && s.b == binary.BigEndian.Uint32(b[4:])
}

// readLog reads a log as SQLite does, and on after what SQLite stops at: frames of the same log, by their salt, are lost if a
// commit is among them. Those of an earlier log, over which the log was not written yet, have another salt.
func readLog(r io.Reader) (*Damage, error) {
	header := make([]byte, logHeader)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, tooShort(err)
	}
	magic, size := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[8:])
	sum := checksum{order: binary.LittleEndian}
	if magic&1 != 0 {
		sum.order = binary.BigEndian
	}
	sum.add(header[:24])

	sane := magic&^1 == logMagic && size >= leastPage && size <= largestPage && size&(size-1) == 0
	if !sane || !sum.is(header[24:]) {
		return headless(r, size, sane)
	}

	d := &Damage{}
	salt := string(header[16:24])
	frame := make([]byte, frameHeader+size)

	whole, pages, lost := true, 0, 0
	for {
		if _, err := io.ReadFull(r, frame); err != nil {
			if d.LostCommits == 0 {
				d = nil
			}
			return d, tooShort(err)
		}

		ours := string(frame[8:16]) == salt
		if whole {
			sum.add(frame[:8])
			sum.add(frame[frameHeader:])
			whole = ours && sum.is(frame[16:])
		}

		commits := binary.BigEndian.Uint32(frame[4:]) != 0
		switch {
		case whole && commits:
			d.Commits, d.Pages, pages = d.Commits+1, d.Pages+pages+1, 0
		case whole:
			pages++
		case ours && commits:
			d.LostCommits, d.LostPages, pages, lost = d.LostCommits+1, d.LostPages+pages+lost+1, 0, 0
		case ours:
			lost++
		}
	}
}

// headless counts what is in a log without a header. What was never written is no damage.
func headless(r io.Reader, size uint32, sane bool) (*Damage, error) {
	if !sane {
		size = 4096 // which every database of ours has
	}
	d := &Damage{Header: true}

	frame := make([]byte, frameHeader+size)
	for {
		if _, err := io.ReadFull(r, frame); err != nil {
			if d.LostPages == 0 {
				d = nil
			}
			return d, tooShort(err)
		}
		if binary.BigEndian.Uint32(frame) != 0 { // the number of its page
			d.LostPages++
		}
	}
}

// tooShort gives nil for the end of a log, also within what was being written.
func tooShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
