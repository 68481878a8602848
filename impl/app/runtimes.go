package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	_ "github.com/berthdev/berth/impl/runtimes" // registers those that there are
	"github.com/berthdev/berth/impl/setting"
)

// kindOf finds the kind of runtime that the settings ask for.
func kindOf(c Config) (*runtime.Kind, error) {
	kind, err := runtime.Find(c.Runtime)
	if err != nil {
		return nil, err
	}
	if c.TestControls && !kind.Can.Simulates {
		return nil, &setting.Error{Name: runtimeRow, Value: c.Runtime, Cause: fmt.Errorf("the test controls need a runtime that simulates: it must be %s", setting.Or(simulating()))}
	}
	return kind, nil
}

// simulating gives the names of the kinds that simulate.
func simulating() (names []string) {
	for _, k := range runtime.Kinds() {
		if k.Can.Simulates {
			names = append(names, k.Name)
		}
	}
	return names
}

// Runtimes gives the kinds of runtimes, the default one first.
func Runtimes() []*runtime.Kind { return runtime.Kinds() }

// Simulates reports whether nothing really runs on the runtime of that name, so that time can be set; empty: the default one.
func Simulates(name string) bool {
	kind, err := runtime.Find(cmp.Or(name, runtime.Names()[0]))
	return err == nil && kind.Can.Simulates
}

// runtimes are what a server runs things on.
type runtimes struct {
	kind  *runtime.Kind
	local runtime.Runtime // the workers of declared endpoints
	runtime.Opened
	config runtime.Config // what they were made of
	used   bool           // an earlier server may have left something that outlived it
}

// openRuntimes makes the runtime of local workers, ends what pods left on others, and makes those of pods and other workers.
func openRuntimes(ctx context.Context, c Config, kind *runtime.Kind, clock compute.Clock, owner owned, u *undo) (*runtimes, error) {
	r := &runtimes{kind: kind, used: owner.exists(), config: runtime.Config{
		Data: c.Data, Values: c.RuntimeSettings, Commands: c.commands(), Output: c.WorkerOutput, Clock: clock, Log: c.Log, Owner: owner.make,
	}}
	localKind := runtime.Local()
	if localKind == nil {
		return nil, errors.New("this berth is built without a runtime for the workers of declared endpoints")
	}

	var err error
	if r.local, err = localKind.OpenLocal(r.config); err != nil {
		return nil, err
	}
	u.push("local runtime", r.local.Close)

	for _, other := range runtime.Kinds() {
		if other != kind && other.End != nil {
			if err := other.End(r.config); err != nil {
				return nil, err
			}
		}
	}

	r.config.Local = r.local
	if r.Opened, err = kind.Open(ctx, r.config); err != nil {
		return nil, err
	}
	u.push("runtime of pods", r.Pods.Close)
	u.push("runtime of workers", r.Workers.Close)

	return r, nil
}

// commands are those of the declared endpoints, by their names.
func (c Config) commands() map[string][]string {
	commands := map[string][]string{}
	for _, e := range c.Endpoints {
		if len(e.Command) > 0 {
			commands[e.Name] = e.Command
		}
	}
	return commands
}

// forRules is what the rules know of the runtime.
func (r *runtimes) forRules() control.Runtime {
	return rulesOf(r.kind, r.config.Values, r.Check)
}

// rulesOf is what the rules know of a kind of runtime.
func rulesOf(kind *runtime.Kind, values setting.Values, check func(image, args string, env map[string]string) error) control.Runtime {
	rules := control.Runtime{Can: kind.Can, Check: check}
	if kind.CheckEngine != nil {
		rules.Engine = func(h control.Host) error {
			return kind.CheckEngine(values, runtime.Engine{HostID: h.ID, Address: h.Engine, Ask: h.Asks()})
		}
	}
	return rules
}

// simulations are the runtimes that simulate; none unless the kind does.
func (r *runtimes) simulations() (all []runtime.Simulation) {
	for _, one := range []runtime.Runtime{r.Pods, r.Workers} {
		if s, ok := one.(runtime.Simulation); ok {
			all = append(all, s)
		}
	}
	return all
}

// reachable reports whether what pods and workers run on answers, where it is something that may not.
func (r *runtimes) reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	for _, one := range []runtime.Runtime{r.Pods, r.Workers} {
		if remote, ok := one.(interface{ Ping(context.Context) error }); ok {
			return remote.Ping(ctx) // both are at one place
		}
	}
	return nil
}

// owned is the name by which what outlives the server is found again, also when the data directory was moved.
type owned struct {
	file string
	ids  *compute.IDs
	sync bool   // a new one is on disk before it is used
	name string // that all replicas of one store have; empty: it is in the file
}

func newOwned(c Config, who identity) owned {
	o := owned{file: filepath.Join(c.Data, ownerFile), ids: who.ids, sync: !c.Ephemeral}
	if c.Store != "" {
		o.name = fingerprint(who.secrets.key)
	}
	return o
}

// make gives the name, a new one if there is none.
func (o owned) make() (string, error) {
	name, err := o.read()
	if errors.Is(err, os.ErrNotExist) {
		name = o.ids.Word(12)
		err = atomicfile.Write(o.file, []byte(name), o.sync)
	}
	return name, err
}

// read gives the name that a start before has made.
func (o owned) read() (string, error) {
	if o.name != "" {
		return o.name, nil
	}
	text, err := os.ReadFile(o.file)
	name := strings.TrimSpace(string(text))
	if err == nil && name == "" {
		err = fmt.Errorf("%s is empty", o.file)
	}
	return name, err
}

// exists reports whether there ever was something that outlives the server.
func (o owned) exists() bool {
	_, err := os.Stat(o.file)
	return err == nil
}
