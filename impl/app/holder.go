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

	mu           sync.RWMutex // held for writing while there is no service
	now          *service
	requests     *sync.WaitGroup // of those that it answers, but for the ones that load
	inner, early *undo           // of the service, and of what it does unasked
}

// newHolder makes one that has no service yet.
func newHolder(g ground) *holder {
	undone := g.config.probe.undone
	return &holder{ground: g, requests: &sync.WaitGroup{}, inner: &undo{undone: undone}, early: &undo{undone: undone}}
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

// close has no state loaded any more.
func (h *holder) close() {
	h.loading.Lock()
	defer h.loading.Unlock()
	h.over = true
}

// replace ends the service, puts the database of the file in the place of its own, and begins a new one. If that fails the service goes on with
// what there was before.
func (h *holder) replace(ctx context.Context, file string) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.ground.config
	controls := h.now.controls
	mode, _ := controls.ClockMode()
	c.controlsKey, c.frozen = controls.key, mode != ClockRunning // one that advances by itself runs while a worker has a job
	ending := h.end()
	c.loaded("ended")

	path := filepath.Join(c.Data, databaseFile)
	before := path + beforeLoad
	if err := errors.Join(ending, sqlite.RemoveFiles(before), setAside(path, before)); err != nil {
		return errors.Join(err, setBack(before, path), h.begin(ctx, c))
	}
	c.loaded("set aside")
	err = os.Rename(file, path)
	if err == nil {
		c.loaded("replaced")
		err = h.begin(ctx, c)
	}
	if err == nil {
		c.loaded("begun")
		return errors.Join(atomicfile.SyncDir(c.Data), sqlite.RemoveFiles(before))
	}
	return errors.Join(err, sqlite.RemoveFiles(path), setBack(before, path), h.begin(ctx, c))
}

// setAside renames a database, then its log: one that another program reads keeps that when it is closed, and what takes its place must not get it.
func setAside(from, to string) error {
	return errors.Join(os.Rename(from, to), renameBeside(from, to))
}

// setBack is the other way round, if a database was set aside: it is there again once its log is.
func setBack(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(renameBeside(from, to), os.Rename(from, to))
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

// takeBack gives the database its name again, if a crash came while another one was about to take its place.
func takeBack(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return setBack(path+beforeLoad, path)
}

// longestSleep is longer than a request can sleep on the clock.
const longestSleep = 2 * 366 * 24 * time.Hour

// end ends the service, once the requests that it answers have ended, or had the time that they may take.
func (h *holder) end() error {
	err := h.early.all(false)
	h.now.controls.clock.Advance(longestSleep) // who sleeps on it is answered
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
