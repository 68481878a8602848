package app

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/certificate"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/seed"
	"github.com/berthdev/berth/store"
)

// Start starts a server, which is ready when Start returns.
func Start(ctx context.Context, c Config) (*Server, error) {
	u := &undo{undone: c.probe.undone}
	c = c.withDefaults()
	s, err := start(ctx, c, u)
	if err != nil {
		if undoing := u.all(true); undoing != nil {
			c.Log.Error("what a failed start had made could not all be undone", "error", undoing)
		}
		return nil, err
	}
	return s, nil
}

// start goes through the phases of a start. Each is given what it needs of those before, gives what it made, and pushes how that is
// undone: nothing is set later. What takes its time, and is needed later only, is made beside the others.
func start(ctx context.Context, c Config, u *undo) (*Server, error) {
	g, err := openGround(ctx, c, u)
	if err != nil {
		return nil, err
	}
	if c.Store != "" {
		return startReplica(ctx, g, u)
	}

	h := newHolder(g)
	u.nest(h.inner)
	v, err := openService(ctx, g.held(h, c), term{}, h.inner)
	if err != nil {
		return nil, err
	}
	h.now = v
	s := newServer(g.held(h, c), u)
	s.keys = keysOf(v)
	s.current = h.current

	v.runPods(h.inner)
	s.serve(h, g.metrics(), g.bounds.connections, u)
	u.nest(h.early)
	v.run(h.early)
	return s, c.passed("loops", nil)
}

// ground is what a server has whether it owns the store or not.
type ground struct {
	config  Config
	bounds  bounds
	dir     dataDirectory
	at      *addresses
	seen    observers
	leaving *leaving
	holder  *holder // nil: servers share the store
}

// metrics answers with the metrics; nil: nothing is measured.
func (g ground) metrics() http.Handler { return g.seen.handler(g.bounds.hosts, g.bounds.proxies) }

func openGround(ctx context.Context, c Config, u *undo) (g ground, err error) {
	g.config, g.leaving = c, &leaving{}
	g.bounds, err = readBounds(c)
	if err := c.passed("settings", err); err != nil {
		return g, err
	}
	g.dir, err = openData(c, u)
	if err := c.passed("data directory", err); err != nil {
		return g, err
	}

	g.at, err = openAddresses(c, g.bounds, u) // before anything is made: an address that is taken must not cost the first key
	if err := c.passed("addresses", err); err != nil {
		return g, err
	}
	g.seen, err = newObservers(ctx, c, u)
	return g, c.passed("observers", err)
}

// probe is what tests see of a start, and of saved states.
type probe struct {
	passed     func(phase string) error // is notified of each phase that has succeeded, and may make it fail
	undone     func(step string)        // is notified of each step that is undone
	loading    func(step string)        // is notified of each step of a load that has succeeded
	stateBytes int64                    // that a state may have at most; 0: mostStateBytes
}

// loaded notes a step of a load.
func (c Config) loaded(step string) {
	if c.probe.loading != nil {
		c.probe.loading(step)
	}
}

// passed gives the error of a phase, or what a test makes of its success.
func (c Config) passed(phase string, err error) error {
	if err == nil && c.probe.passed != nil {
		err = c.probe.passed(phase)
	}
	return err
}

// bounds are what of the settings is read before anything is made.
type bounds struct {
	kind         *runtime.Kind
	hosts        *limit.Hosts
	proxies      *limit.Proxies
	certificates certificate.Source // nil: there is no TLS
	connections  *limit.Connections
	queueQuotas  map[string]int64
	seed         *seed.Seed // nil: there is none
}

func readBounds(c Config) (b bounds, err error) {
	if err = c.validate(); err != nil {
		return b, err
	}
	if c.Store != "" && c.BackupTo != "" {
		return b, ofSetting("backup-to", c.BackupTo, errors.New("it ships the database of the data directory, and --store names another: PostgreSQL has backups of its own"))
	}
	if c.FirstKey != "" {
		if err = compute.CheckToken(c.FirstKey); err != nil {
			return b, err
		}
	}
	if b.proxies, err = limit.NewProxies(c.TrustedProxies); err != nil {
		return b, err
	}
	if b.queueQuotas, err = compute.QueueQuotas(c.QueueRates); err != nil {
		return b, err
	}
	if b.kind, err = kindOf(c); err != nil {
		return b, err
	}
	if b.certificates, err = openCertificates(c); err != nil {
		return b, err
	}
	if b.hosts, err = hostsOf(c, b.certificates); err != nil {
		return b, err
	}

	if c.Seed != "" {
		if b.seed, err = seed.Read(c.Seed); err != nil {
			return b, ofSetting("seed", c.Seed, err)
		}
	}

	b.connections = limit.NewConnections(c.MaxConnections, c.StallTimeout)
	return b, nil
}

// dataDirectory is the data directory of this process.
type dataDirectory struct {
	madeIn  []string // directories in which one was made: the names are not on disk yet
	secrets secrets
}

func openData(c Config, u *undo) (d dataDirectory, err error) {
	var unlock func() error
	if d.madeIn, unlock, err = openDirectory(c.Data, c.Version, c.Store == "", c.Log); err != nil {
		return d, err
	}
	u.push("data directory", unlock)
	d.secrets, err = readSecrets(c)
	return d, err
}

func openAddresses(c Config, b bounds, u *undo) (*addresses, error) {
	at, err := listen(c, b)
	if err == nil {
		u.push("addresses", at.close)
	}
	return at, err
}

// identity is who is who.
type identity struct {
	ids      *compute.IDs
	secrets  secrets
	keyring  *control.Keyring
	refusals *audit.Refusals // who was refused
	first    *beside[string] // token of the key that was made because there was none
}

func openIdentity(ctx context.Context, c Config, clock compute.Clock, s store.Store, dir dataDirectory, u *undo) (i identity, err error) {
	i.ids, i.secrets = compute.NewIDs(rand.Reader, clock), dir.secrets
	podKeys := dir.secrets.PodKeys()
	if i.keyring, err = control.NewKeyring(ctx, s, i.ids, clock, &podKeys); err != nil {
		return i, err
	}
	i.refusals = audit.NewRefusals(s, clock)
	u.push("refusals", func() error { return i.refusals.Save(context.Background()) })
	i.first = makeFirstKey(ctx, i.keyring, c.FirstKey)
	u.pushOnFailure("first key", func() error { return takeBackFirstKey(context.WithoutCancel(ctx), i.keyring, i.first) })
	return i, nil
}

// counts are the counts of requests.
type counts struct {
	rest  *control.Rates
	queue *control.QueueRates
}

func openRates(ctx context.Context, c Config, clock compute.Clock, s store.Store, b bounds, u *undo) (n counts, err error) {
	n.queue = control.NewQueueRates(clock, b.queueQuotas)
	if n.rest, err = control.NewRates(ctx, s, clock, compute.Windows(c.Quotas.Minute, c.Quotas.Hour, c.Quotas.Day)); err != nil {
		return n, err
	}
	u.push("request counts", func() error { return n.rest.Save(context.Background()) })
	return n, nil
}

// finishFiles waits for what was made beside, and has the names of the files on disk that were made: at once, since the disk has most
// of them by now.
func finishFiles(c Config, dir dataDirectory, who identity, use *useCases) error {
	_, err := use.kept.wait()
	_, keyErr := who.first.wait()
	if err = errors.Join(err, keyErr); err != nil || c.Ephemeral {
		return err
	}
	return atomicfile.SyncDir(append(dir.madeIn, c.Data)...)
}
