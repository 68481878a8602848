//go:build !linux && !darwin

package app

import "errors"

// machineBytes is not known elsewhere.
func machineBytes(string) (memory, disk uint64, err error) {
	return 0, 0, errors.New("this machine's memory and disk are not known here: list it in a file for --fleet")
}
