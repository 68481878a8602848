package compute

// RuntimeAt is a runtime at an address, where pods and workers may have left something that outlives the server.
type RuntimeAt struct {
	Name    string // as in the settings
	Address string // of its engine
}
