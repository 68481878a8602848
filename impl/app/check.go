package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store/sqlite"
)

// CheckOptions say what is checked.
type CheckOptions struct {
	Data   string // the data directory
	Repair bool   // what can be mended is
	Fleet  bool   // hosts have engines of their own, which are not looked at

	open func(compute.RuntimeAt) (runtime.Opened, error) // in tests; nil: as a server does
}

// Flaw is something that is not as a server leaves it.
type Flaw struct {
	Kind     string `json:"kind"`
	ID       string `json:"id"` // of what has it; empty: the database as a file
	Detail   string `json:"detail"`
	Mendable bool   `json:"repairable"`
	Mended   bool   `json:"repaired"`
	Does     string `json:"repair"` // what a repair does or did, or what a person can do
}

// CheckReport is what a check found.
type CheckReport struct {
	Flaws    []Flaw   `json:"flaws"`
	Unlooked []string `json:"notLookedAt"` // and why
}

// Left counts the flaws that are still there.
func (r CheckReport) Left() (n int) {
	for _, f := range r.Flaws {
		if !f.Mended {
			n++
		}
	}
	return n
}

const (
	// twice is how long after a first look beside a server the second one is: what both find is no write under way.
	twice = time.Second
	// lookTime is how long a runtime may take to say what it has.
	lookTime = 10 * time.Second
)

// Check looks for what is wrong in the database of a data directory, and for containers without rows and rows without containers. A server may run
// on it, but not for a repair. Without one nothing is changed.
func Check(ctx context.Context, o CheckOptions) (r CheckReport, err error) {
	database := filepath.Join(o.Data, databaseFile)
	if _, err := os.Lstat(database); err != nil {
		return r, noDirectory(o.Data, err)
	}
	unlock, err := lock(o.Data, "berth check")
	held, running := errors.AsType[errLocked](err)
	switch {
	case running && o.Repair:
		return r, fmt.Errorf("%w: stop it first, or look without a repair", held)
	case err != nil && !running:
		return r, err
	case !running:
		defer func() { err = errors.Join(err, unlock()) }()
		if err := sqlite.CheckLog(database); err != nil {
			return r, err
		}
	}

	places, err := sqlite.Places(ctx, database, !running)
	if err != nil {
		return r, err
	}
	there := lookAt(ctx, o, places) // before the rows: a row is stored before its container is made
	r.Unlooked = there.unlooked
	defer func() { err = errors.Join(err, there.close()) }()

	found, left, err := look(ctx, database, running, o.Repair)
	if err != nil {
		return r, err
	}
	unknown, err := there.compare(ctx, left, o.Repair, running)
	if running && err == nil && len(unknown) > 0 {
		unknown, err = stillThere(ctx, o, places, unknown)
	}
	r.Flaws = append(flawsOf(found.Flaws, left.Flaws, o.Repair), unknown...)
	return r, err
}

// look looks at the rows, and mends them if that is asked for.
func look(ctx context.Context, database string, running, repair bool) (found, left sqlite.Checked, err error) {
	switch {
	case repair:
		return sqlite.Mend(ctx, database)
	case !running:
		found, err = sqlite.Check(ctx, database, true)
		return found, found, err
	}

	first, err := sqlite.Check(ctx, database, false)
	if err != nil || len(first.Flaws) == 0 {
		return first, first, err
	}
	if err := compute.Sleep(ctx, compute.SystemClock{}, twice); err != nil {
		return found, left, err
	}
	found, err = sqlite.Check(ctx, database, false)
	found.Flaws = slices.DeleteFunc(found.Flaws, func(f sqlite.Flaw) bool { return !has(first.Flaws, f) })
	return found, found, err
}

// stillThere gives those of the flaws of containers that are there at a second look, too: the server makes and removes containers
// meanwhile. Where a runtime does not answer a second time, the first look counts.
func stillThere(ctx context.Context, o CheckOptions, places []compute.RuntimeAt, first []Flaw) (still []Flaw, err error) {
	if err := compute.Sleep(ctx, compute.SystemClock{}, twice); err != nil {
		return nil, err
	}
	there := lookAt(ctx, o, places)
	defer func() { err = errors.Join(err, there.close()) }()
	if len(there.unlooked) > 0 && !o.Fleet {
		return first, nil
	}

	rows, err := sqlite.Check(ctx, filepath.Join(o.Data, databaseFile), false)
	if err != nil {
		return nil, err
	}
	second, err := there.compare(ctx, rows, false, true)
	for _, f := range first {
		if slices.ContainsFunc(second, func(s Flaw) bool { return s.Kind == f.Kind && s.ID == f.ID }) {
			still = append(still, f)
		}
	}
	return still, err
}

// has reports whether there is that flaw among others, whatever its detail.
func has(all []sqlite.Flaw, f sqlite.Flaw) bool {
	return slices.ContainsFunc(all, func(other sqlite.Flaw) bool { return other.Kind == f.Kind && other.ID == f.ID })
}

// flawsOf gives what was found, and what came to light when that was mended, with whether it is left.
func flawsOf(found, left []sqlite.Flaw, repair bool) []Flaw {
	all := []Flaw{}
	for _, f := range found {
		all = append(all, Flaw{f.Kind, f.ID, f.Detail, f.Mendable, repair && !has(left, f), f.Does})
	}
	for _, f := range left {
		if !has(found, f) {
			all = append(all, Flaw{f.Kind, f.ID, f.Detail, f.Mendable, false, f.Does})
		}
	}
	return all
}

// containers are what runtimes have, by the runtime that has it.
type containers struct {
	opened  []runtime.Opened
	pods    map[string]runtime.Runtime
	workers map[string]runtime.Runtime
	all     bool // there is none that was not looked at

	unlooked []string // and why
}

// lookAt asks the runtimes what they have.
func lookAt(ctx context.Context, o CheckOptions, places []compute.RuntimeAt) *containers {
	there := &containers{pods: map[string]runtime.Runtime{}, workers: map[string]runtime.Runtime{}, all: len(places) > 0 && !o.Fleet, unlooked: []string{}}
	if o.Fleet {
		there.unlooked = append(there.unlooked, "engines that hosts of the fleet have of their own")
	}
	owner := owned{file: filepath.Join(o.Data, ownerFile)}
	if _, err := owner.read(); errors.Is(err, fs.ErrNotExist) {
		there.all = false
		for _, at := range places {
			there.unlooked = append(there.unlooked, fmt.Sprintf("runtime %s at %s: %s, with the name by which what is there is found, is missing", at.Name, at.Address, owner.file))
		}
		return there
	}

	for _, at := range places {
		opened, err := o.opened(at, owner)
		if err == nil {
			there.opened = append(there.opened, opened)
			err = there.list(ctx, opened)
		}
		if err != nil {
			there.all = false
			there.unlooked = append(there.unlooked, fmt.Sprintf("runtime %s at %s: %v", at.Name, at.Address, err))
		}
	}
	return there
}

// opened opens one runtime.
func (o CheckOptions) opened(at compute.RuntimeAt, owner owned) (opened runtime.Opened, err error) {
	if o.open != nil {
		return o.open(at)
	}
	kind, err := runtime.Find(at.Name)
	if err != nil {
		return opened, err
	}
	if kind.OpenEarlier == nil {
		return opened, errors.New("this berth cannot ask it")
	}
	return kind.OpenEarlier(runtime.Config{Data: o.Data, Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler), Owner: owner.read}, at.Address)
}

// list notes what the runtimes of pods and of workers have.
func (c *containers) list(ctx context.Context, opened runtime.Opened) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	for _, of := range []struct {
		on   runtime.Runtime
		into map[string]runtime.Runtime
	}{{opened.Pods, c.pods}, {opened.Workers, c.workers}} {
		ids, err := of.on.List(ctx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			of.into[id] = of.on
		}
	}
	return nil
}

// compare holds what runtimes have against the rows. What has no row is removed if that is asked for.
func (c *containers) compare(ctx context.Context, rows sqlite.Checked, repair, running bool) (all []Flaw, err error) {
	for _, of := range []struct {
		what  string
		there map[string]runtime.Runtime
		known func(id string) bool
	}{
		{"pod", c.pods, func(id string) bool { return rows.Pods[id] != "" }},
		{"worker", c.workers, func(id string) bool { return rows.Workers[id] }},
	} {
		for _, id := range slices.Sorted(maps.Keys(of.there)) {
			if of.known(id) {
				continue
			}
			f := Flaw{Kind: "container of a " + of.what + " that is gone", ID: id, Mendable: true, Does: "removes it, as the next start of a server does"}
			if repair {
				if err := of.there[id].Remove(ctx, id); err != nil {
					return all, fmt.Errorf("remove the container of %s: %w", id, err)
				}
				f.Mended = true
			}
			all = append(all, f)
		}
	}

	for _, id := range slices.Sorted(maps.Keys(rows.Pods)) {
		if c.all && rows.Pods[id] == string(compute.PodRunning) && c.pods[id] == nil {
			does := "the next start of a server sees to it"
			if running {
				does = "the server sees to it"
			}
			all = append(all, Flaw{Kind: "pod that runs without a container", ID: id, Does: does})
		}
	}
	return all, nil
}

func (c *containers) close() error {
	var errs []error
	for _, o := range c.opened {
		errs = append(errs, o.Pods.Close(), o.Workers.Close())
	}
	return errors.Join(errs...)
}
