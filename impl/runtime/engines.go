package runtime

// Engines is a runtime whose hosts may have engines of their own. What of an allocation is on a host whose engine does not answer is not
// known: calls that need it give ErrUnavailable, until the host is lost. Then Inspect reports the allocation as Ended, with the reason,
// and Stop and Remove do nothing: what is there nevertheless when the engine answers again is for who called to end, by way of On, before
// anything is placed there.
type Engines interface {
	Runtime
	// SetEngines says which hosts have engines of their own, and whether there are others: those run on the engine of the settings. A host
	// that is not named any more is let go once nothing is on it, or it is lost. It asks nobody; the error names an engine that cannot be used, see Kind.CheckEngine.
	SetEngines(engines []Engine, others bool) error
	// EngineStates gives how the engines of SetEngines are, by the ids of their hosts.
	EngineStates() map[string]EngineState
	// On gives the runtime of one host alone; false if it has no engine of its own.
	On(hostID string) (Runtime, bool)
}

// Engine is the engine of a host.
type Engine struct {
	HostID  string
	Address string
	Ask     bool // what the host has is to be found out: see EngineState.Has
}

// EngineState is how the engine of a host is.
type EngineState struct {
	Asked   bool // it has answered, or failed to, at least once
	Answers bool
	Lost    bool    // it has not answered for so long that what is on the host counts as ended
	Times   int     // how often it has begun to answer
	Reason  string  // why it does not answer
	Has     Machine // what its host has, if that was to be found out
}

// Machine is what a host has.
type Machine struct {
	VCPUs, MemoryGB int64
	GPUs            []GPU
	CUDA            string // the latest version that the driver runs, like 12.8; empty: nobody knows
}
