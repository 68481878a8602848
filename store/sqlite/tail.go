package sqlite

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/groupcommit"
	"github.com/berthdev/berth/store/sqldb"
)

// pieceFrames is how many pages a piece of the log has at most: what is read at once is held in memory.
const pieceFrames = 1024

// ErrUnfollowed is wrapped by the error of a tail that cannot say any more that it has seen all: a new one must begin.
var ErrUnfollowed = errors.New("the log of the database cannot be followed any further")

// Piece is a part of a log, as it is on disk: whole pages with their headers, and before the first of them the header of the log.
type Piece struct {
	Log    string // which one: its salt, in hexadecimal
	Offset int64  // in bytes
	Bytes  []byte
	At     time.Time // with it and those before it, all is there that was committed before
	Latest time.Time // nothing in it was committed after the log was read then; At, but for what is not the last of what was read at once
}

// Tail follows the log of a database that is open: it gives all that is committed, in the order of the commits, to whoever ships it
// elsewhere.
//
// A log begins anew once a checkpoint has brought all of it into the file, unless a reader has need of it. A tail is such a reader: it holds
// the log by a read transaction, and begins the next one only after it has read the log as far as that. So no checkpoint lets go of what
// the tail has not read, be it of this process or of another, and no write waits for the tail. How far the log is committed it
// reads where SQLite itself does, in the header of the log's index, which has the checksum of the last page, too.
type Tail struct {
	f     *followed
	now   func() time.Time
	taken func(Piece)

	// Under the mutex of followed:
	err     error         // why it follows no further
	at      place         // as far as the log was read
	seen    time.Time     // all that was committed before was read
	begun   bool          // all was read once
	commits uint32        // as the index counts them, of what was read
	ended   chan struct{} // closed when it follows no further
}

// place is one in a log.
type place struct {
	salt   string
	frames int64
	page   int64 // bytes of one
	sum    checksum
}

// followed is what a store has of its tails. The files stay open as long as the store: to close any of them would drop the locks that SQLite
// holds on it for this process.
type followed struct {
	db *DB

	mu     sync.Mutex
	tail   *Tail // nil: nobody follows
	conns  [2]*sqldb.Conn
	held   int // which of them holds the log; -1: none
	file   *os.File
	log    *os.File
	index  *os.File
	closed bool
}

// Follow begins to follow the log from its beginning. taken is called with each piece, in order; it must be quick, since a checkpoint waits for
// it, and has the bytes for itself. now gives their moments. One tail may be open at a time.
func (d *DB) Follow(ctx context.Context, now func() time.Time, taken func(Piece)) (*Tail, error) {
	f := &d.followed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, groupcommit.ErrClosed()
	}
	if f.tail != nil {
		return nil, errors.New("follow the log: somebody does already")
	}
	t := &Tail{f: f, now: now, taken: taken, seen: now(), ended: make(chan struct{})}
	f.held = -1
	err := f.connect(ctx, d)
	if err == nil {
		err = f.pin()
	}
	if err == nil {
		err = f.open()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("follow the log: %w", err), f.release())
	}
	f.tail = t
	return t, nil
}

// connect opens the connections that hold the log, once.
func (f *followed) connect(ctx context.Context, d *DB) error {
	f.db = d
	for i := range f.conns {
		if f.conns[i] != nil {
			continue
		}
		c, err := d.connect(ctx, dsn(d.path, false, d.synchronous))
		if err != nil {
			return err
		}
		f.conns[i] = sqldb.NewConn(c, dialect{})
	}
	return nil
}

// open opens the files, once. SQLite has made them: the log is held.
func (f *followed) open() (err error) {
	for _, one := range []struct {
		to  **os.File
		end string
	}{{&f.file, ""}, {&f.log, "-wal"}, {&f.index, "-shm"}} {
		if *one.to != nil {
			continue
		}
		if *one.to, err = os.Open(f.db.path + one.end); err != nil {
			*one.to = nil
			return err
		}
	}
	return nil
}

// pin has the connection that does not hold the log hold it, as it is now.
func (f *followed) pin() error {
	next := 0
	if f.held == 0 {
		next = 1
	}
	if _, err := f.conns[next].Exec("BEGIN"); err != nil {
		return err
	}
	if _, err := number(f.conns[next], "SELECT count(*) FROM sqlite_schema"); err != nil { // only now it begins
		_, undone := f.conns[next].Exec("ROLLBACK")
		return errors.Join(err, undone)
	}
	f.held = next
	return nil
}

// release lets go of the log.
func (f *followed) release() error {
	if f.held < 0 {
		return nil
	}
	_, err := f.conns[f.held].Exec("ROLLBACK")
	f.held = -1
	return err
}

// move reads the log to its end and holds it from there on only, so that a checkpoint may bring what was read into the file and let it go.
func (f *followed) move() {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tail
	if t == nil {
		return
	}
	before := f.held
	if err := f.pin(); err != nil {
		t.fail(err)
		return
	}
	if _, err := t.read(math.MaxInt64); err != nil {
		t.fail(err)
	}
	if _, err := f.conns[before].Exec("ROLLBACK"); err != nil {
		t.fail(err)
	}
}

// follows reports whether somebody follows the log.
func (f *followed) follows() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tail != nil
}

// close ends what follows. The files are closed after all connections.
func (f *followed) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tail != nil {
		f.tail.fail(groupcommit.ErrClosed())
	}
	f.closed = true
	var errs []error
	for _, c := range f.conns {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// closeFiles closes the files.
func (f *followed) closeFiles() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, file := range []*os.File{f.file, f.log, f.index} {
		if file != nil {
			errs = append(errs, file.Close())
		}
	}
	return errors.Join(errs...)
}

// fail ends a tail.
func (t *Tail) fail(err error) {
	if t.err != nil {
		return
	}
	t.err = fmt.Errorf("%w: %w", ErrUnfollowed, err)
	t.f.tail = nil
	_ = t.f.release() // the connection is of no use then, and the next tail finds out
	close(t.ended)
}

// Ended is closed when the tail follows no further.
func (t *Tail) Ended() <-chan struct{} { return t.ended }

// Read gives what came into the log, or that many bytes of it at most, and whether that was all. After an error, which wraps
// ErrUnfollowed, the tail gives nothing any more.
func (t *Tail) Read(most int64) (all bool, err error) {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	if t.err != nil {
		return false, t.err
	}
	if all, err = t.read(most); err != nil {
		t.fail(err)
	}
	return all, t.err
}

// Close lets go of the log. Closing twice does no harm.
func (t *Tail) Close() {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	t.fail(errors.New("closed"))
}

// File gives the file of the database, to be copied while the tail follows the log from its beginning: a copy that takes its time has
// pages of different moments, and with all of the log that was read until it ended, and not less, it has one moment.
func (t *Tail) File() (io.ReaderAt, int64, error) {
	info, err := t.f.file.Stat()
	if err != nil {
		return nil, 0, err
	}
	return t.f.file, info.Size(), nil
}

// read gives what came into the log, or as much as fits into that many bytes.
func (t *Tail) read(most int64) (all bool, err error) {
	now := t.now()
	i, err := readIndex(t.f.index)
	if err != nil {
		return false, err
	}
	if i.frames > 0 { // else the log begins anew with the next commit
		if all, err := t.frames(i, now, most); err != nil || !all {
			return false, err
		}
	}
	if t.begun && t.commits != i.commits { // a log that began anew unseen would have taken them away
		return false, fmt.Errorf("it began anew with %d commits that were not read", i.commits-t.commits)
	}
	t.begun, t.commits, t.seen = true, i.commits, now
	return true, nil
}

// frames gives the pages of a log up to those that its index has.
func (t *Tail) frames(i index, now time.Time, most int64) (all bool, err error) {
	if i.salt != t.at.salt {
		// Who follows a log that is in the file to its end does not keep it from beginning anew, and no commits are compared before all was read once: a base
		// may have more of such a log than the pieces that were read, which would bring older pages back.
		if t.at.salt != "" && !t.begun {
			return false, errors.New("it began anew before it was read to its end once")
		}
		if err := t.begin(i); err != nil {
			return false, err
		}
	}
	if i.frames < t.at.frames {
		return false, fmt.Errorf("it has %d pages, and had %d", i.frames, t.at.frames)
	}

	for t.at.frames < i.frames {
		n := min(i.frames-t.at.frames, pieceFrames, (most-logHeader)/(frameHeader+t.at.page))
		if n <= 0 {
			return false, nil
		}
		at := t.seen
		if t.at.frames+n == i.frames {
			at = now
		}
		bytes, err := t.piece(n, at, now)
		if most -= bytes; err != nil {
			return false, err
		}
	}
	if t.at.sum.a != i.sum[0] || t.at.sum.b != i.sum[1] {
		return false, fmt.Errorf("page %d has another checksum than its index says", i.frames)
	}
	return true, nil
}

// begin goes over to a log that began anew.
func (t *Tail) begin(i index) error {
	header := make([]byte, logHeader)
	if _, err := t.f.log.ReadAt(header, 0); err != nil {
		return err
	}
	sum := checksum{order: binary.LittleEndian}
	if header[3]&1 != 0 {
		sum.order = binary.BigEndian
	}
	sum.add(header[:24])
	if string(header[16:24]) != i.salt || !sum.is(header[24:]) || int64(binary.BigEndian.Uint32(header[8:])) != i.page {
		return errors.New("its header is not the one that its index is of")
	}
	t.at = place{salt: i.salt, page: i.page, sum: sum}
	return nil
}

// piece gives the next n pages, of a log that is read now.
func (t *Tail) piece(n int64, moment, now time.Time) (bytes int64, err error) {
	at, from := logHeader+t.at.frames*(frameHeader+t.at.page), 0
	if t.at.frames == 0 {
		at, from = 0, logHeader
	}
	b := make([]byte, int64(from)+n*(frameHeader+t.at.page))
	if _, err := t.f.log.ReadAt(b, at); err != nil {
		return 0, err
	}

	for frames := b[from:]; len(frames) > 0; frames = frames[frameHeader+t.at.page:] {
		frame := frames[:frameHeader+t.at.page]
		t.at.sum.add(frame[:8])
		t.at.sum.add(frame[frameHeader:])
		if string(frame[8:16]) != t.at.salt || !t.at.sum.is(frame[16:]) {
			return 0, fmt.Errorf("page %d is damaged", t.at.frames+1)
		}
		if t.at.frames++; binary.BigEndian.Uint32(frame[4:]) != 0 {
			t.commits++ // before the first end they are compared with nothing
		}
	}
	t.taken(Piece{Log: hex.EncodeToString([]byte(t.at.salt)), Offset: at, Bytes: b, At: moment, Latest: now})
	return int64(len(b)), nil
}

// index is the header of the index of a log. See https://sqlite.org/walformat.html#the_wal_index_header: it is there twice, and in the order of bytes
// of the machine.
type index struct {
	commits uint32 // counted since the index was made
	page    int64
	frames  int64     // that are committed
	sum     [2]uint32 // of the last of them
	salt    string
}

const (
	indexHeader  = 48
	indexVersion = 3007000
	indexTries   = 1000 // of which each fails only if somebody commits at that moment
	indexPatient = 100  // after so many it is waited before each: who commits may be without a processor for a while
	indexWait    = 10 * time.Millisecond
)

// readIndex reads the header of an index that others write meanwhile.
func readIndex(r io.ReaderAt) (i index, err error) {
	var b [2 * indexHeader]byte
	order := binary.NativeEndian
	for n := range indexTries {
		if n >= indexPatient {
			over, _ := compute.SystemClock{}.After(indexWait)
			<-over
		}
		if _, err := r.ReadAt(b[:], 0); err != nil {
			return i, err
		}
		sum := checksum{order: order}
		sum.add(b[:40])
		if string(b[:indexHeader]) != string(b[indexHeader:]) || sum.a != order.Uint32(b[40:]) || sum.b != order.Uint32(b[44:]) {
			continue
		}
		if version := order.Uint32(b[:]); version != indexVersion {
			return i, fmt.Errorf("its index is of version %d", version)
		}

		size := int64(order.Uint16(b[14:]))
		return index{
			commits: order.Uint32(b[8:]), page: size&0xfe00 + size&1<<16, frames: int64(order.Uint32(b[16:])),
			sum: [2]uint32{order.Uint32(b[24:]), order.Uint32(b[28:])}, salt: string(b[32:40]),
		}, nil
	}
	return i, errors.New("its index is never at rest")
}
