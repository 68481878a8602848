package loop

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// BuildsConfig is what Builds is made of.
type BuildsConfig struct {
	Store     store.Store
	Endpoints *control.Endpoints
	Builder   runtime.Builder // nil: nothing is built
	Clock     compute.Clock
	Log       *slog.Logger
	Unpacked  int64         // bytes of what is in it; 0: compute.BuildUnpacked
	Time      time.Duration // of a build; 0: compute.BuildTime
}

// Builds makes images for endpoints, some at once. It is safe for concurrent use.
type Builds struct {
	BuildsConfig
	ctx   context.Context // ends with Close
	stop  context.CancelFunc
	work  sync.WaitGroup
	turns chan struct{} // has one of each that is built

	mu   sync.Mutex
	live map[compute.BuildID]*liveBuild
}

// liveBuild is a build that has not ended.
type liveBuild struct {
	log    *buildLog
	cancel context.CancelCauseFunc
	over   chan struct{} // closed once its end is stored
}

// The causes of the end of a build.
var (
	errCancelled = errors.New("the build was cancelled")
	errTimeout   = errors.New("the build took too long")
	errServer    = errors.New("the server ended while the build was under way")
	errUnpacked  = errors.New("the archive is too large where it is unpacked")
)

// OpenBuilds makes Builds. What an earlier server left under way has FAILED, as soon as the store takes it.
func OpenBuilds(ctx context.Context, c BuildsConfig) (*Builds, error) {
	if c.Unpacked == 0 {
		c.Unpacked = compute.BuildUnpacked
	}
	if c.Time == 0 {
		c.Time = compute.BuildTime
	}

	b := &Builds{
		BuildsConfig: c, turns: make(chan struct{}, compute.BuildsAtOnce), live: map[compute.BuildID]*liveBuild{},
	}
	b.ctx, b.stop = context.WithCancel(context.Background()) // whoever started the server has not asked for what builds do
	var left []compute.Build
	err := c.Store.Read(ctx, func(tx store.Tx) (err error) {
		left, err = tx.LiveBuilds()
		return err
	})
	if err == nil {
		left, err = b.fail(ctx, left)
	}
	if compute.CodeOf(err) == compute.Unavailable && len(left) > 0 {
		c.Log.Warn("builds that the last server left are ended later", "error", err)
		b.work.Go(func() { b.failLater(left) })
		err = nil
	}
	if err == nil && c.Builder != nil {
		b.work.Go(b.sweep)
	}

	return b, err
}

// fail ends builds that an earlier server left under way, and gives those that it could not end.
func (b *Builds) fail(ctx context.Context, left []compute.Build) ([]compute.Build, error) {
	for len(left) > 0 {
		_, err := b.Endpoints.MoveBuild(ctx, left[0].ID, compute.BuildFail, errServer.Error(), nil)
		if err != nil && compute.CodeOf(err) != compute.NotFound { // it went with its endpoint
			return left, err
		}
		left = left[1:]
	}
	return nil, nil
}

// failLater does what fail does as soon as the store takes it. What a Close leaves is for the next server.
func (b *Builds) failLater(left []compute.Build) {
	var err error
	for compute.Sleep(b.ctx, compute.SystemClock{}, endRetry) == nil {
		if left, err = b.fail(b.ctx, left); compute.CodeOf(err) != compute.Unavailable {
			break
		}
	}
	if err != nil && b.ctx.Err() == nil {
		b.Log.Error("builds that the last server left could not be ended", "error", err)
	}
}

// Close ends what is under way, which the next server finds, and waits for it.
func (b *Builds) Close() error {
	b.stop()
	b.work.Wait()
	return nil
}

// Create has an image built for the user's endpoint, when it is its turn, of the archive that is then asked for: tar, or tar with gzip.
// Rejected where nothing is built, the error of archive as it is, and errors as for Endpoints.Buildable.
func (b *Builds) Create(ctx context.Context, user compute.UserID, endpoint compute.EndpointID, archive func() (io.ReadCloser, error)) (made compute.Build, err error) {
	if err := b.Endpoints.Buildable(ctx, user, endpoint); err != nil {
		return made, err
	}
	if b.Builder == nil {
		return made, compute.Errorf(compute.Rejected, "builds: what this server runs pods and workers on makes no images")
	}

	sent, err := archive()
	if err != nil {
		return made, err
	}
	if made, err = b.Endpoints.NewBuild(ctx, user, endpoint, runtime.BuiltImages); err != nil {
		_ = sent.Close()
		return made, err
	}
	b.begin(made.ID, sent)
	return made, nil
}

// begin has the build carried out, and its end stored.
func (b *Builds) begin(id compute.BuildID, archive io.ReadCloser) {
	ctx, cancel := context.WithCancelCause(b.ctx)
	l := &liveBuild{log: newBuildLog(b.Clock), cancel: cancel, over: make(chan struct{})}
	b.mu.Lock()
	b.live[id] = l
	b.mu.Unlock()
	l.log.write(compute.LogSystem, "build is "+string(compute.BuildPending))

	b.work.Go(func() {
		defer cancel(nil)
		err := b.carryOut(ctx, id, archive, l.log)
		if err != nil && ctx.Err() != nil { // whatever was cut short by it
			err = context.Cause(ctx)
		}
		_ = archive.Close()
		if b.ctx.Err() == nil { // else the next server stores its end
			b.end(id, l, err)
		}

		b.mu.Lock()
		delete(b.live, id)
		b.mu.Unlock()
		l.log.end()
		close(l.over)
		b.sweep()
	})
}

// carryOut waits for its turn and builds.
func (b *Builds) carryOut(ctx context.Context, id compute.BuildID, archive io.ReadCloser, log *buildLog) error {
	select {
	case b.turns <- struct{}{}:
		defer func() { <-b.turns }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	one, err := b.Endpoints.MoveBuild(ctx, id, compute.BuildBegin, "", nil)
	if err != nil {
		return err
	}
	log.write(compute.LogSystem, "build is "+string(one.Status))

	within, cancel := context.WithTimeoutCause(ctx, b.Time, fmt.Errorf("%w: over %s", errTimeout, b.Time))
	defer cancel()
	tar, err := b.unpacked(archive)
	if err != nil {
		return err
	}
	err = b.Builder.Build(within, runtime.Build{ID: id, Image: one.Image, Archive: tar}, func(line string) { log.write(compute.LogContainer, line) })
	switch {
	case within.Err() != nil:
		return context.Cause(within)
	case tar.left <= 0:
		return fmt.Errorf("%w: over %d bytes", errUnpacked, b.Unpacked)
	}

	return err
}

// endRetry is how long after a failure the end of a build is stored anew.
const endRetry = time.Second

// end stores the end of a build, as soon as the store can take it. One whose row is gone went with its endpoint.
func (b *Builds) end(id compute.BuildID, l *liveBuild, failure error) {
	on, why := compute.BuildComplete, ""
	switch {
	case errors.Is(failure, errCancelled):
		on = compute.BuildCancel
	case failure != nil:
		on, why = compute.BuildFail, validText(failure.Error())
		why = validText(why[:min(len(why), compute.BuildError)])
	}

	status, err := compute.BuildMachine.Next(compute.BuildBuilding, on)
	if err == nil {
		line := "build is " + string(status)
		if why != "" {
			line += ": " + why
		}
		l.log.write(compute.LogSystem, line)
		lines, _, _ := l.log.after(0)
		for {
			_, err = b.Endpoints.MoveBuild(context.WithoutCancel(b.ctx), id, on, why, lines)
			if compute.CodeOf(err) != compute.Unavailable || compute.Sleep(b.ctx, compute.SystemClock{}, endRetry) != nil {
				break // what a Close leaves is for the next server
			}
		}
	}
	if err != nil && compute.CodeOf(err) != compute.NotFound {
		b.Log.Error("the end of a build could not be stored", "build", id, "error", err)
	}
}

// Cancel ends a build of the user's endpoint, and gives it once it is CANCELLED (rule builds.cancelled). Conflict for one that has ended,
// NotFound as for Endpoints.Build.
func (b *Builds) Cancel(ctx context.Context, user compute.UserID, endpoint compute.EndpointID, id compute.BuildID) (compute.Build, error) {
	one, err := b.Endpoints.Build(ctx, user, endpoint, id)
	if err != nil {
		return one, err
	}
	if l := b.liveOf(id); l != nil {
		l.cancel(errCancelled)
		select {
		case <-l.over:
		case <-ctx.Done():
			return one, ctx.Err()
		}
		if one, err = b.Endpoints.Build(ctx, user, endpoint, id); err != nil || one.Status == compute.BuildCancelled {
			return one, err
		}
	}

	_, err = compute.BuildMachine.Next(one.Status, compute.BuildCancel)
	return one, err
}

// OpenLog gives what reads the log of a build of the user's endpoint once, until it has ended. NotFound as for Endpoints.Build.
func (b *Builds) OpenLog(ctx context.Context, user compute.UserID, endpoint compute.EndpointID, id compute.BuildID, q compute.LogQuery) (compute.ReadLog, error) {
	l := b.liveOf(id) // before the row: what is not live any more has stored its log
	if _, err := b.Endpoints.Build(ctx, user, endpoint, id); err != nil {
		return nil, err
	}
	if l != nil {
		return l.log.read(q), nil
	}

	kept := newBuildLog(b.Clock)
	kept.over = true
	err := b.Store.Read(ctx, func(tx store.Tx) (err error) {
		kept.lines, err = tx.BuildLog(id)
		return err
	})
	return kept.read(q), err
}

func (b *Builds) liveOf(id compute.BuildID) *liveBuild {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.live[id]
}

// sweep removes the images of builds that are no more. What fails is tried again after the next build.
func (b *Builds) sweep() {
	ids, err := b.Builder.Images(b.ctx) // before the store: a build is stored before it has an image
	for _, id := range ids {
		if err != nil {
			break
		}
		err = b.Store.Read(b.ctx, func(tx store.Tx) error {
			_, err := tx.Build(id)
			return err
		})
		if compute.CodeOf(err) == compute.NotFound {
			err = b.Builder.RemoveImage(b.ctx, id)
		}
	}
	if err != nil && b.ctx.Err() == nil && !errors.Is(err, runtime.ErrUnavailable) {
		b.Log.Warn("images of builds that are no more could not be removed", "error", err)
	}
}

// bounded reads so many bytes, and then gives no more.
type bounded struct {
	from io.Reader
	left int64
}

func (r *bounded) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errUnpacked
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

// unpacked reads the archive, which may be compressed with gzip.
func (b *Builds) unpacked(archive io.Reader) (*bounded, error) {
	head := bufio.NewReader(archive)
	begin, _ := head.Peek(2) // a shorter one is none
	var text io.Reader = head
	if string(begin) == "\x1f\x8b" {
		plain, err := gzip.NewReader(head)
		if err != nil {
			return nil, fmt.Errorf("the archive cannot be read: %w", err)
		}
		text = plain
	}
	return &bounded{text, b.Unpacked}, nil
}

// validText gives the text with what is not UTF-8 replaced.
func validText(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
