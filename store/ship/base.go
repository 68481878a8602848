package ship

import (
	"context"
	"errors"
	"io"
	"time"
)

// copying is a base that is being made.
type copying struct {
	base
	offset int64
	pieces int64 // with so many of them it has one moment; -1: it is not copied yet
}

func newCopying(number, first int) *copying {
	return &copying{base: base{Number: number, First: first}, pieces: -1}
}

// copyPart copies a part of the file.
func (g *generation) copyPart(ctx context.Context) error {
	c := g.copy
	if c.pieces >= 0 {
		return g.endCopy(ctx)
	}
	file, size, err := g.tail.File()
	if err != nil {
		return err
	}
	part := make([]byte, min(partBytes, max(size-c.offset, 0)))
	n, err := file.ReadAt(part, c.offset)
	if err != nil && !errors.Is(err, io.EOF) { // it became shorter
		return err
	}

	if n > 0 {
		if err := g.store(ctx, namePart(g.id, c.Number, c.Parts+1), header{Kind: kindPart, Number: c.Parts + 1}, part[:n]); err != nil {
			return err
		}
		c.Parts++
		c.offset += int64(n)
		return nil
	}

	c.Bytes = c.offset
	all, taken, seen, err := g.readNow()
	if err != nil || !all { // what checkpoints wrote meanwhile is in the log up to its end
		return err
	}
	c.pieces, c.At = taken, seen
	return g.endCopy(ctx)
}

// endCopy says that a base is whole, once the segments are there that make it so.
func (g *generation) endCopy(ctx context.Context) error {
	c := g.copy
	if c == nil || c.pieces < 0 || g.shipped < c.pieces {
		return nil
	}
	c.Whole = g.number
	if err := g.store(ctx, nameBase(g.id, c.Number), header{Kind: kindBase, Number: c.Number, At: c.At, Base: &c.base}, nil); err != nil {
		return err
	}
	if !g.whole {
		g.s.o.Log.Info("the continuous backup has a base: what is written from now on is shipped as it comes", "target", g.s.o.Target.String(), "generation", g.id, "bytes", c.Bytes)
	}
	g.copy, g.whole, g.bases, g.kept = nil, true, c.Number, time.Time{}
	return nil
}

// keep begins another base when it is time, and has what need not be kept removed.
func (g *generation) keep(ctx context.Context) error {
	now := g.s.o.Clock.Now()
	_, size, err := g.tail.File()
	if err != nil {
		return err
	}
	if g.since > 0 && now.Sub(g.based) > baseAge || g.since > max(g.s.o.least, baseShare*size) {
		g.based, g.since = now, 0
		g.copy = newCopying(g.bases+1, max(g.logBegan, 1))
		g.wake()
		return nil
	}
	if now.Sub(g.kept) < keepTick || !g.s.pruning.CompareAndSwap(false, true) {
		return nil
	}
	g.kept = now
	go g.prune(ctx, now.Add(-g.s.o.Keep))
	return nil
}

// prune removes what need not be kept. It goes on beside what is shipped, since there may be thousands of objects to remove, and only until the
// server ends. Nobody waits for it: a target may hang, so that the next generation may find the last one still at it.
func (g *generation) prune(ctx context.Context, before time.Time) {
	defer g.s.pruning.Store(false)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-g.s.stop:
		case <-ctx.Done():
		}
	}()
	if err := prune(ctx, g.s.o.Target, g.id, before, g.s.o.Log); err != nil && ctx.Err() == nil {
		g.s.change(func(t *Status) { t.Failures++ })
		g.s.o.Log.Warn("what need not be kept of the continuous backup could not be removed", "target", g.s.o.Target.String(), "error", err)
	}
}
