package control

import "time"

// State is a saved state.
type State struct {
	Name    string
	SavedAt time.Time // by the clock of the machine
	Bytes   int64
}
