package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// fence is what each transaction of an owner begins with: it keeps others from becoming the owner while it lasts, is refused once another
// one is it, and stores an id of its own, which shows afterwards whether it is on disk. The status that PostgreSQL keeps of transactions does
// not show that: a standby that takes the place of the server may give their numbers once more.
type fence struct {
	epoch   int64  // of the owner; 0: nobody else writes, and there is no fence
	first   int64  // id
	id      int64  // of the transaction
	stale   bool   // nobody knows whether that is on disk
	unknown func() // is called then, unless it is nil
}

// cleaned is after how many transactions their ids are deleted.
const cleaned = 1024

func newFence(epoch int64, unknown func()) fence {
	first := rand.Int64N(1 << 62) //nolint:gosec // G404: it is another one each time, and no secret
	return fence{epoch: epoch, first: first, id: first, unknown: unknown}
}

var errStale = errors.New("nobody knows whether the last commit is on disk: the store must be opened again")

// next gives the commands that begin another transaction. Once in a while they delete the ids of those before: rows of their own are cheaper
// than one that is always the same, whose old versions all who look for it would have to pass while a backup lasts.
func (f *fence) next() (commands string, err error) {
	if f.stale {
		return "", &awayError{errStale}
	}
	if f.epoch == 0 {
		return begin, nil
	}

	f.id++
	commands = begin
	switch n := f.id - f.first; {
	case n == 1:
		commands += fmt.Sprintf("; DELETE FROM commits WHERE id <> %d", f.id) // those of owners before
	case n%cleaned == 0:
		commands += fmt.Sprintf("; DELETE FROM commits WHERE id >= %d AND id < %d", f.id-9*cleaned, f.id-cleaned) // not the last one, which resolve may look for
	}

	return commands + f.insert(f.id), nil
}

// plain gives the id of another transaction whose fence stores it and does nothing else; false if it does more, or nothing is written any more.
func (f *fence) plain() (id int64, ok bool) {
	if n := f.id + 1 - f.first; f.stale || f.epoch != 0 && (n == 1 || n%cleaned == 0) {
		return 0, false
	}
	if f.epoch != 0 {
		f.id++
	}
	return f.id, true
}

// insert gives the command that stores the id, or nothing if another replica is the owner.
func (f *fence) insert(id int64) string {
	return fmt.Sprintf("; INSERT INTO commits (id) SELECT %d FROM owners WHERE shard = 0 AND epoch = %d FOR SHARE", id, f.epoch)
}

// The pause of who waits for the database doubles from the first to the last.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// resolve finds out what became of the transaction whose COMMIT had no answer, and gives nil if it is on disk. To store its id once more has
// to wait for it, if it is still under way, and is refused if it is on disk. If there is no answer within the time that a connection may take,
// nothing is written any more: memory may differ from the rows.
func (e *engine) resolve(lost error) error {
	if e.fence.epoch == 0 {
		return store.Unknown(lost)
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()

	again := begin + e.fence.insert(e.fence.id)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := e.begin(ctx, again)
		switch {
		case err == nil:
			return lost // it was undone; the caller ends this one
		case codeOf(err) == uniqueViolation && e.confirm(ctx) == nil:
			return nil
		case errors.Is(err, errMoved) || !waited(ctx, pause):
			e.fence.stale = true
			if e.fence.unknown != nil {
				e.fence.unknown()
			}
			return store.Unknown(fmt.Errorf("%w; then: %w", lost, err))
		}
	}
}

// confirm commits a transaction of its own: with it all those before are where an acknowledged one must be, on a standby, too.
func (e *engine) confirm(ctx context.Context) error {
	commands, err := e.fence.next()
	if err != nil {
		return err
	}
	if err := e.begin(ctx, commands); err != nil {
		return err
	}
	if err := e.on.do(ctx, commit); err != nil {
		e.lose()
		return err
	}
	return nil
}

// waited waits so long, and reports whether ctx lasted.
func waited(ctx context.Context, pause time.Duration) bool {
	passed, stop := compute.SystemClock{}.After(pause)
	defer stop()
	select {
	case <-passed:
		return true
	case <-ctx.Done():
		return false
	}
}
