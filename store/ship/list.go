package ship

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Generation is what a target has of one.
type Generation struct {
	Name     string    `json:"name"`
	Began    time.Time `json:"began"`
	Last     time.Time `json:"last"` // moment of its last segment; when it began if there is none
	From     time.Time `json:"from"` // one can go back to there; zero: it has no base that is whole
	To       time.Time `json:"to"`   // one can restore up to there; zero likewise
	Bases    int       `json:"bases"`
	Segments int       `json:"segments"`
	Bytes    int64     `json:"bytes"`
	Missing  []int     `json:"missing"` // numbers of segments that should be there
	Damaged  []string  `json:"damaged"` // bases that cannot be read: one goes back by the others
	HasKey   bool      `json:"hasKey"`

	bases    []base
	segments []segment
	objects  []Object
}

// List reads what a target has, the oldest generation first. Which bases are whole is read from them.
func List(ctx context.Context, t Target) ([]*Generation, error) {
	objects, err := t.List(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", t, err)
	}
	var all []*Generation // in the order of their names, as the objects are
	for _, o := range objects {
		name, rest, _ := strings.Cut(o.Name, "/")
		began, err := beginOf(name)
		if err != nil || rest == "" {
			continue // somebody else's
		}
		if len(all) == 0 || all[len(all)-1].Name != name {
			all = append(all, &Generation{Name: name, Began: began, Last: began, Missing: []int{}, Damaged: []string{}})
		}
		if err := all[len(all)-1].add(ctx, t, o, rest); err != nil {
			return nil, err
		}
	}

	for _, g := range all {
		g.conclude()
	}
	return all, nil
}

// lastMoment gives the last moment in the names of what a server shipped; zero: there is none.
func lastMoment(objects []Object) (last time.Time) {
	for _, o := range objects {
		name, rest, _ := strings.Cut(o.Name, "/")
		at, err := beginOf(name)
		if err != nil || rest == "" {
			continue // somebody else's
		}
		if s, ok := readSegment(o); ok && strings.HasPrefix(rest, "log/") && s.at.After(at) {
			at = s.at
		}
		if at.After(last) {
			last = at
		}
	}
	return last
}

// name gives the generation a name, after those of all that the target has: the moments of what it ships, too, are later than what is there, whatever
// the clock was set to since. Else a restore would take what was shipped before.
func (g *generation) name(ctx context.Context) error {
	objects, err := g.s.o.Target.List(ctx, "")
	if err != nil {
		return err
	}
	last := lastMoment(objects)
	if ahead := last.Sub(g.s.o.Clock.Now()); ahead >= 0 && !last.IsZero() && g.s.o.Reach != nil {
		if ahead > time.Second {
			g.s.o.Log.Warn("the clock is behind what was shipped before: moments of the continuous backup are ahead of it", "by", ahead)
		}
		g.s.o.Reach(last.Add(2 * time.Millisecond)) // names have milliseconds
		g.s.change(func(t *Status) { t.Began = g.s.o.Clock.Now() })
	}
	g.id = nameGeneration(g.s.o.Clock.Now(), g.s.o.Random())
	return nil
}

// add takes in an object. What a list has of bases may be late: one that is gone is none.
func (g *Generation) add(ctx context.Context, t Target, o Object, rest string) error {
	g.Bytes += o.Bytes
	g.objects = append(g.objects, o)
	kind, _, _ := strings.Cut(rest, "/")
	switch kind {
	case "key":
		g.HasKey = true
	case "log":
		if s, ok := readSegment(o); ok {
			g.segments = append(g.segments, s)
		}
	case "base":
		h, _, err := fetch(ctx, t, o.Name, g.Name, kindBase)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, errDamaged) || err == nil && h.Base == nil:
			g.Damaged = append(g.Damaged, o.Name)
		case err != nil:
			return err
		default:
			g.bases = append(g.bases, *h.Base)
		}
	}
	return nil
}

// conclude works out what can be restored.
func (g *Generation) conclude() {
	slices.SortFunc(g.segments, func(a, b segment) int { return a.number - b.number })
	g.Bases, g.Segments = len(g.bases), len(g.segments)
	if n := len(g.segments); n > 0 && g.segments[n-1].at.After(g.Last) {
		g.Last = g.segments[n-1].at
	}
	if len(g.bases) == 0 {
		return
	}

	next := g.bases[0].First
	for _, s := range g.segments {
		for ; next < s.number; next++ {
			g.Missing = append(g.Missing, next)
		}
		next = max(next, s.number+1)
	}
	for ; next <= g.bases[len(g.bases)-1].Whole; next++ { // those at the end are not known to have been there, but these are
		g.Missing = append(g.Missing, next)
	}
	g.From, g.To = g.bases[0].At, g.bases[len(g.bases)-1].At
	if g.Last.After(g.To) {
		g.To = g.Last
	}
}

// prune removes what nobody needs who goes back no further than to a moment: generations that ended before, if a later one has a base of before that
// moment too, and of one's own what is older than the last such base. So there is always one to go back to that moment by, however long
// nobody shipped. It says so if another server ships there, too.
func prune(ctx context.Context, t Target, own string, before time.Time, log *slog.Logger) error {
	all, err := List(ctx, t)
	if err != nil {
		return err
	}
	mine := slices.IndexFunc(all, func(g *Generation) bool { return g.Name == own })
	if mine < 0 || all[mine].Bases == 0 {
		return nil // what is there is needed
	}
	from := mine // the first that is needed
	for from > 0 && all[from].lastBase(before) == nil {
		from--
	}

	var gone []Object
	for i, g := range all {
		switch {
		case i == mine:
			gone = append(gone, g.unneeded(before)...)
		case g.Last.After(all[mine].Began):
			log.Error("another server ships to the same target: each needs one of its own", "target", t.String(), "generation", g.Name, "own", own)
		case g.Last.Before(before) && (i < from || g.Bases == 0):
			gone = append(gone, g.objects...)
		}
	}
	for _, o := range gone {
		if ctx.Err() != nil { // a folder does not look at it
			return ctx.Err()
		}
		if err := t.Delete(ctx, o.Name); err != nil {
			return err
		}
	}
	return nil
}

// lastBase gives the last base that was whole before a moment; nil: none was.
func (g *Generation) lastBase(before time.Time) (last *base) {
	for i := range g.bases {
		if !g.bases[i].At.After(before) {
			last = &g.bases[i]
		}
	}
	return last
}

// unneeded gives what is older than the last base that was whole before a moment.
func (g *Generation) unneeded(before time.Time) (gone []Object) {
	from := g.lastBase(before)
	if from == nil {
		return nil
	}

	for _, o := range g.objects { // a base goes before its parts and its segments: it is not whole without them
		_, rest, _ := strings.Cut(o.Name, "/")
		if s, ok := readSegment(o); strings.HasPrefix(rest, "log/") && ok && s.number < from.First ||
			strings.HasPrefix(o.Name, g.Name+"/base/") && o.Name < nameBase(g.Name, from.Number) ||
			strings.HasPrefix(o.Name, g.Name+"/part/") && o.Name < namePart(g.Name, from.Number, 0) {
			gone = append(gone, o)
		}
	}
	return gone
}
