package compute

import "time"

// SavedState is what a saved state says of itself.
type SavedState struct {
	SavedAt time.Time // by the time that decides
	Secret  string    // fingerprint of the key of what is sealed in it
}
