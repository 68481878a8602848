package app

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/sqlite"
)

// holder holds the service of a server that owns its store by itself, and puts another one in its place where a saved state is loaded: what
// memory has is made anew of the rows, as by a start.
type holder struct {
	ground ground

	loading sync.Mutex // held while a state is loaded, and from Close on
	over    bool
	again   *group // tries to begin a service after a load in which none began

	mu           sync.RWMutex // held for writing while there is no service
	now          *service
	requests     *sync.WaitGroup // of those that it answers, but for the ones that load
	inner, early *undo           // of the service, and of what it does unasked
}

// newHolder makes one that has no service yet.
func newHolder(g ground) *holder {
	undone := g.config.probe.undone
	return &holder{
		ground: g, again: newGroup(), requests: &sync.WaitGroup{}, inner: &undo{undone: undone}, early: &undo{undone: undone},
	}
}

// held gives the ground of a service of the holder.
func (g ground) held(h *holder, c Config) ground {
	g.holder, g.config = h, c
	return g
}

// current gives the service. While a state is loaded it waits.
func (h *holder) current() *service {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.now
}

// loads reports whether the request loads a state: it is answered by the service that it ends.
func loads(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/_berth/states/") && strings.HasSuffix(r.URL.Path, "/load")
}

// ServeHTTP answers a request. While a state is loaded it waits.
func (h *holder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.RLock()
	v, requests, counted := h.now, h.requests, !loads(r)
	if counted {
		requests.Add(1)
	}
	h.mu.RUnlock()
	if counted {
		defer requests.Done()
	}
	v.handler.ServeHTTP(w, r)
}

// close has no state loaded any more, and no service begun.
func (h *holder) close() {
	h.loading.Lock()
	h.over = true
	h.loading.Unlock()
	_ = h.again.end() // it never fails
}

// replace ends the service, puts the database of the file in the place of its own, and begins a new one. A clock that stands still does so at the
// time of the state; zero: at the one that the rows lead to. If it fails the service goes on with what there was before.
func (h *holder) replace(ctx context.Context, file string, at time.Time) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.ground.config
	controls := h.now.controls
	mode, _ := controls.ClockMode()
	c.controlsKey, c.frozen = controls.key, mode != ClockRunning // one that advances by itself runs while a worker has a job
	was := c
	if c.frozen {
		c.frozenAt, was.frozenAt = at, controls.clock.Now()
	}
	ending := h.end()
	c.loaded("ended")

	path := filepath.Join(c.Data, databaseFile)
	before := path + beforeLoad
	remove := func() error { return sqlite.RemoveFiles(path) }
	back := func() error { return setBack(before, path) }
	begin := func() error { return h.begin(ctx, was) }

	if err := errors.Join(ending, sqlite.RemoveFiles(before)); err != nil {
		return errors.Join(err, h.goBack(begin))
	}
	if err := setAside(path, before); err != nil {
		return errors.Join(err, h.goBack(back, begin))
	}
	c.loaded("set aside")
	err = os.Rename(file, path)
	if err == nil {
		c.loaded("replaced")
		err = h.begin(ctx, c)
	}
	if err != nil {
		return errors.Join(err, h.goBack(remove, back, begin))
	}
	c.loaded("begun")
	return errors.Join(atomicfile.SyncDir(c.Data), sqlite.RemoveFiles(before))
}

// againTick is how long it takes until it is tried again to begin a service.
const againTick = time.Second

// goBack takes the steps to a service with what there was before a load. Where one fails it is tried again, beside what else is done, until all
// have succeeded: the service that has ended answers meanwhile, which is not ready, since its store is closed.
func (h *holder) goBack(steps ...func() error) error {
	left, err := takeSteps(steps)
	if err != nil {
		h.ground.config.Log.Error("after a load that failed no service could be begun: it is tried again", "error", err)
		h.again.running.Go(func() { h.tryAgain(left) })
	}
	return err
}

// tryAgain takes the steps that are left, over and over, until none is or the server closes.
func (h *holder) tryAgain(left []func() error) {
	for {
		passed, stop := compute.SystemClock{}.After(againTick)
		select {
		case <-passed:
		case <-h.again.ctx.Done():
			stop()
			return
		}
		if left = h.takeOn(left); len(left) == 0 {
			return
		}
	}
}

// takeOn takes the steps until one fails, and gives those that are left: none if the server closes.
func (h *holder) takeOn(steps []func() error) (left []func() error) {
	h.loading.Lock()
	defer h.loading.Unlock()
	if h.over {
		return nil
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	left, err := takeSteps(steps)
	if err != nil {
		h.ground.config.Log.Warn("still no service could be begun", "error", err)
	} else {
		h.ground.config.Log.Info("the service has begun again, with what there was before the load that failed")
	}
	return left
}

// takeSteps takes the steps until one fails, and gives that one and those after it.
func takeSteps(steps []func() error) (left []func() error, err error) {
	for i, step := range steps {
		if err := step(); err != nil {
			return steps[i:], err
		}
	}
	return nil, nil
}

// setAside renames a database, then its log: one that another program reads keeps that when it is closed, and what takes its place must not get it.
func setAside(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return renameBeside(from, to)
}

// setBack is the other way round, if a database was set aside: it is there again once its log is.
func setBack(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := renameBeside(from, to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// renameBeside renames what SQLite keeps beside a database.
func renameBeside(from, to string) error {
	for _, name := range sqlite.Beside(from) {
		if err := os.Rename(name, to+strings.TrimPrefix(name, from)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// beforeLoad ends the name that the database has while another one takes its place.
const beforeLoad = ".before"

// takeBack gives the database its name again, if a crash came while another one was about to take its place. If another one has taken it, what was
// there before is removed: it would be taken for the database where that is missing later.
func takeBack(path string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return sqlite.RemoveFiles(path + beforeLoad)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return setBack(path+beforeLoad, path)
}

// end ends the service, once the requests that it answers have ended, or had the time that they may take.
func (h *holder) end() error {
	err := h.early.all(false)
	h.now.controls.clock.WakeAll() // who sleeps on it, or is held, is answered
	ended, requests := make(chan struct{}), h.requests
	h.requests = &sync.WaitGroup{} // those of the next service are not waited for, should some of these go on
	go func() {
		requests.Wait()
		close(ended)
	}()
	over, stop := compute.SystemClock{}.After(h.ground.config.Drain)
	defer stop()
	select {
	case <-ended:
	case <-over:
	}
	return errors.Join(err, h.inner.all(false))
}

// begin begins a service.
func (h *holder) begin(ctx context.Context, c Config) error {
	v, err := openService(ctx, h.ground.held(h, c), term{}, h.inner)
	if err != nil {
		return errors.Join(err, h.inner.all(true))
	}
	if c.frozen {
		v.controls.clock.Freeze()
	}
	v.runPods(h.inner)
	v.run(h.early)
	h.now = v
	return nil
}
