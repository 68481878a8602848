package ship

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/store/sqlite"
)

// Wish says what is to be restored.
type Wish struct {
	Generation string    // empty: the last one
	At         time.Time // the last moment before this; zero: the last one there is
}

// Restored is what was restored.
type Restored struct {
	Generation string
	Upto       time.Time // all that was acknowledged before is in it
	Segments   int       // that were brought into the base
	Key        []byte    // of what is sealed; nil: the target has none
	Later      []string  // generations that began later and have no base yet, of which nothing is in it
	Damaged    []string  // bases of the generation that cannot be read; what is restored is the same without them
	KeyDamaged string    // the object of the key, which is there and cannot be read; empty: it can, or there is none
}

// Restore makes the database's file at path, which must not be there, of what a target has. Every checksum is looked at, and that no segment
// is missing. What it cannot restore it says, with the moment up to which it can.
func Restore(ctx context.Context, t Target, w Wish, path string) (r Restored, err error) {
	all, err := List(ctx, t)
	if err != nil {
		return r, err
	}
	g, b, later, err := choose(t, all, w)
	if err != nil {
		return r, err
	}
	from, damaged, err := g.copyLast(ctx, t, b.At, path)
	if err != nil {
		return r, err
	}
	r.Generation, r.Later, r.Upto, r.Damaged = g.Name, later, from.At, append(damaged, g.Damaged...)

	replay := sqlite.NewReplay(path)
	defer func() { err = errors.Join(err, replay.Close()) }()
	if r.Segments, r.Upto, err = g.replay(ctx, t, from, w.At, replay); err != nil {
		return r, err
	}
	if err := replay.End(ctx); err != nil {
		return r, fmt.Errorf("generation %s: %w", g.Name, err)
	}
	if g.HasKey {
		_, r.Key, err = fetch(ctx, t, nameKey(g.Name), g.Name, kindKey)
		if errors.Is(err, errDamaged) || errors.Is(err, fs.ErrNotExist) { // who restores may have it elsewhere
			r.KeyDamaged, err = nameKey(g.Name), nil
		}
	}
	return r, err
}

// choose gives the generation and the base to begin with.
func choose(t Target, all []*Generation, w Wish) (chosen *Generation, from *base, later []string, err error) {
	for _, g := range all {
		if w.Generation != "" && g.Name != w.Generation {
			continue
		}
		found := false
		for i := range g.bases {
			if w.At.IsZero() || !g.bases[i].At.After(w.At) {
				chosen, from, found = g, &g.bases[i], true
			}
		}
		if found {
			later = nil
		} else if w.At.IsZero() || g.Began.Before(w.At) {
			later = append(later, g.Name)
		}
	}
	if chosen == nil {
		return nil, nil, nil, nothing(t, all, w)
	}

	for _, g := range all {
		if w.Generation == "" && slices.Contains(later, g.Name) && len(g.Damaged) > 0 {
			return nil, nil, nil, fmt.Errorf("generation %s of %s began later, and its copy of the database is damaged: %s; name generation %s to restore what was before it",
				g.Name, t, strings.Join(g.Damaged, ", "), chosen.Name)
		}
		if g != chosen && w.Generation == "" && g.Began.Before(chosen.Last) && chosen.Began.Before(g.Last) {
			return nil, nil, nil, fmt.Errorf("two servers shipped to %s at once: say which of the generations %s and %s is to be restored", t, g.Name, chosen.Name)
		}
	}
	return chosen, from, later, nil
}

// nothing says why there is no base to begin with, and what can be restored.
func nothing(t Target, all []*Generation, w Wish) error {
	if len(all) == 0 {
		return fmt.Errorf("%s has no backup", t)
	}
	what, known := t.String(), w.Generation == ""
	if !known {
		what = fmt.Sprintf("generation %s of %s", w.Generation, t)
	}

	var ranges, damaged []string
	for _, g := range all {
		if w.Generation != "" && g.Name != w.Generation {
			continue
		}
		known = true
		damaged = append(damaged, g.Damaged...)
		if g.Bases > 0 {
			ranges = append(ranges, fmt.Sprintf("from %s to %s", g.From.Format(time.RFC3339Nano), g.To.Format(time.RFC3339Nano)))
		}
	}
	if !known {
		return fmt.Errorf("%s has no generation %s", t, w.Generation)
	}

	says := what + " has no copy of the database that is whole"
	if len(ranges) > 0 { // then there is one, but of a later moment than what is asked for
		says = fmt.Sprintf("%s has no copy of the database from %s or before; what can be restored is as it was %s", what, w.At.Format(time.RFC3339Nano), strings.Join(ranges, ", or "))
	}
	if len(damaged) > 0 {
		says += "; damaged: " + strings.Join(damaged, ", ")
	}
	return errors.New(says)
}

// fetch gives an object, which must be what is asked for.
func fetch(ctx context.Context, t Target, name, generation, kind string) (header, []byte, error) {
	object, err := t.Get(ctx, name)
	if err != nil {
		return header{}, nil, fmt.Errorf("%s: %w", name, err)
	}
	h, content, _, err := unseal(object)
	if err == nil && (h.Generation != generation || h.Kind != kind) {
		err = fmt.Errorf("%w: it is a %s of generation %s", errDamaged, h.Kind, h.Generation)
	}
	if err != nil {
		return h, nil, fmt.Errorf("%s: %w", name, err)
	}
	return h, content, nil
}

// copyLast makes the file of the last base up to a moment that can be read whole, and gives the names of those after it. The segments from an earlier
// one on lead to the same.
func (g *Generation) copyLast(ctx context.Context, t Target, upto time.Time, path string) (from base, damaged []string, err error) {
	for _, b := range slices.Backward(g.bases) {
		if b.At.After(upto) {
			continue
		}
		failed := g.copyBase(ctx, t, b, path)
		if failed == nil {
			return b, damaged, nil
		}
		if err == nil {
			err = failed
		}
		if !errors.Is(failed, errDamaged) && !errors.Is(failed, fs.ErrNotExist) {
			break
		}
		damaged = append(damaged, nameBase(g.Name, b.Number))
		if failed := os.Remove(path); failed != nil {
			return b, damaged, errors.Join(err, failed)
		}
	}
	return from, damaged, err
}

// copyBase makes the file of the parts of a base.
func (g *Generation) copyBase(ctx context.Context, t Target, b base, path string) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()

	size := int64(0)
	for part := 1; part <= b.Parts; part++ {
		h, content, err := fetch(ctx, t, namePart(g.Name, b.Number, part), g.Name, kindPart)
		if err == nil && h.Number != part {
			err = fmt.Errorf("part %d of base %d: %w", part, b.Number, errDamaged)
		}
		if err != nil {
			return err
		}
		n, err := f.Write(content)
		if size += int64(n); err != nil {
			return err
		}
	}
	if size != b.Bytes {
		return fmt.Errorf("base %d has %d bytes, not %d: %w", b.Number, size, b.Bytes, errDamaged)
	}
	return nil
}

// Gap is the error of a generation of which something is missing or damaged.
type Gap struct {
	Generation string
	Segment    int
	Base       int       // number of the base that the segments were brought into
	Upto       time.Time // up to which it can be restored; zero: it cannot
	Lost       time.Time // moment of the last segment that is there
	Err        error
}

func (e *Gap) Error() string {
	can := fmt.Sprintf("nothing of the generation can be restored from %s", nameBase(e.Generation, e.Base))
	if !e.Upto.IsZero() {
		can = fmt.Sprintf("the generation can be restored up to %s (--at)", e.Upto.Format(time.RFC3339Nano))
	}
	return fmt.Sprintf("segment %d of generation %s: %v; %s, and its last segment is of %s", e.Segment, e.Generation, e.Err, can, e.Lost.Format(time.RFC3339Nano))
}

func (e *Gap) Unwrap() error { return e.Err }

// replay brings the segments into a base, up to a moment.
func (g *Generation) replay(ctx context.Context, t Target, b base, upto time.Time, into *sqlite.Replay) (n int, at time.Time, err error) {
	next, sum := b.First, ""
	at = b.At
	gap := func(err error) error {
		e := &Gap{Generation: g.Name, Segment: next, Base: b.Number, Lost: g.Last, Err: err}
		if next > b.Whole {
			e.Upto = at
		}
		return e
	}

	for _, s := range g.segments {
		if s.number < b.First {
			continue
		}
		if s.number > b.Whole && !upto.IsZero() && s.at.After(upto) {
			return n, at, nil
		}
		if s.number != next {
			return n, at, gap(fmt.Errorf("it is missing: %w", fs.ErrNotExist))
		}
		object, err := t.Get(ctx, s.Name)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = gap(err)
			}
			return n, at, err
		}
		h, content, its, err := unseal(object)
		if err == nil && (h.Generation != g.Name || h.Kind != kindSegment || h.Number != next || sum != "" && h.Previous != sum) {
			err = fmt.Errorf("%w: it is another one", errDamaged)
		}
		if err == nil && s.number > b.Whole && !upto.IsZero() && h.Latest.Truncate(time.Millisecond).After(upto) { // as exactly as a name has it
			return n, at, nil
		}
		if err == nil {
			err = into.Add(ctx, sqlite.Piece{Log: h.Log, Offset: h.Offset, Bytes: content})
		}
		if err != nil {
			return n, at, gap(err)
		}

		if sum = its; s.number > b.Whole {
			at = s.at
		}
		next++
		n++
	}
	if next <= b.Whole {
		return n, at, gap(fmt.Errorf("it is missing: %w", fs.ErrNotExist))
	}
	return n, at, nil
}
