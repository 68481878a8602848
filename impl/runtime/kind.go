package runtime

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/setting"
)

// Kind is a kind of runtime. The package of each registers it when it is imported, and nobody else knows one by its name: what is
// done differently follows from what it can do.
type Kind struct {
	Name     string // as the setting runtime has it
	Summary  string // what a pod or worker is on it, for people: "a container of a Docker Engine"
	Default  bool   // it is the one that a server has by default; exactly one is
	Settings []setting.Setting
	Folders  []string // that it makes in the data directory
	Can      compute.Capabilities

	// Open makes the runtimes of a server.
	Open func(context.Context, Config) (Opened, error)
	// Doctor reports whether there is what the runtime of the settings takes. It changes nothing.
	Doctor func(context.Context, setting.Values) Report

	// CheckEngine refuses an engine of a host that cannot be used. It asks nobody. Nil: hosts have no engines of their own; else the
	// runtimes are Engines.
	CheckEngine func(setting.Values, Engine) error
	// DoctorEngine is Doctor for the engine of a host; nil if CheckEngine is.
	DoctorEngine func(context.Context, setting.Values, Engine) Report

	// OpenLocal makes the runtime of the workers of declared endpoints, which are commands of this machine; nil: it is none for that.
	OpenLocal func(Config) (Runtime, error)
	// End ends what an earlier server of the data directory left that pods ran on this kind, if they run on another one now; nil:
	// nothing of it outlives a server, or OpenEarlier sees to it.
	End func(Config) error
	// Address reports where the runtime of the settings is, for a kind whose allocations outlive the server: an earlier one may have
	// left some there. Nil: they do not.
	Address func(setting.Values) (string, error)
	// Noted: every berth that had this kind stored where it was used, so that nothing is looked for at an Address that is not stored.
	Noted bool
	// OpenEarlier makes the runtimes of an earlier server at the address; nil if Address is.
	OpenEarlier func(c Config, address string) (Opened, error)
}

// Config is what a runtime of a server is made of.
type Config struct {
	Data     string              // the data directory of the server; see Kind.Folders
	Values   setting.Values      // of the settings of the kind
	Commands map[string][]string // of declared endpoints, by their names: the program and its arguments
	Output   io.Writer           // gets what local workers print; nil: nobody
	Clock    compute.Clock       // the server's, which stands still if a test says so
	Log      *slog.Logger        // nil: silent
	// Owner gives the name by which allocations that outlive the server are found again. It is made at the first call for a data
	// directory.
	Owner func() (string, error)
	// Local is the runtime of the workers of declared endpoints.
	Local Runtime
}

// Opened are the runtimes of a server. Pods and workers have one each: no id of one means something to the other.
type Opened struct {
	Pods, Workers Runtime
	// Check refuses what a pod, or an endpoint that was made over an API, may not ask for on this runtime, besides what it has not
	// the capability for: Rejected. Nil: nothing is refused.
	Check func(image, args string, env map[string]string) error
}

// Simulation is a runtime that only simulates: it goes by the clock of the server, and tests say how it behaves.
type Simulation interface {
	Runtime
	// Next gives when an allocation changes its phase next, by itself; zero if none will.
	Next() time.Time
	// SetBoot sets how long an allocation that is started from now on takes to come up.
	SetBoot(time.Duration)
	// Exit has an allocation that is up end by itself, with the exit code. An unknown one is no error.
	Exit(id string, code int)
	// Reset forgets every allocation, and what was set.
	Reset()
}

// Report is what a machine has of a kind of runtime, or why it has not.
type Report struct {
	Available bool
	Detail    string
	Warnings  []string
}

// kinds are the registered ones.
var kinds = struct {
	sync.RWMutex
	all []*Kind
}{}

// Register makes a kind known. It panics if its name is taken, or a second one is the default: that is a mistake in the program.
func Register(k Kind) {
	kinds.Lock()
	defer kinds.Unlock()

	for _, other := range kinds.all {
		if other.Name == k.Name || other.Default && k.Default {
			panic(fmt.Sprintf("runtime: %s is registered, and %s cannot be, too", other.Name, k.Name))
		}
	}

	kinds.all = append(kinds.all, &k)
	slices.SortFunc(kinds.all, func(a, b *Kind) int {
		switch {
		case a.Default:
			return -1
		case b.Default:
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
}

// Kinds gives all kinds: the default one, then the others by name.
func Kinds() []*Kind {
	kinds.RLock()
	defer kinds.RUnlock()
	return slices.Clone(kinds.all)
}

// Names gives the names of all kinds, in the same order.
func Names() (names []string) {
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// Find gives the kind of that name. The error lists those that there are.
func Find(name string) (*Kind, error) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
	}
	return nil, fmt.Errorf("runtime %q: it must be %s", name, setting.Or(Names()))
}

// Local gives the kind on which the workers of declared endpoints run; nil if none is registered that runs commands.
func Local() *Kind {
	for _, k := range Kinds() {
		if k.OpenLocal != nil {
			return k
		}
	}
	return nil
}
