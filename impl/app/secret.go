package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/control"
)

// secretFile is the key of what is stored encrypted. Who has it and the database can read the registry credentials.
const secretFile = "secret.key"

// secretKey reads the key of the data directory, which the first start makes. The lock of the directory is held.
func secretKey(dir string, sync bool) ([]byte, error) {
	file := filepath.Join(dir, secretFile)
	key, err := os.ReadFile(file)
	switch {
	case err == nil && len(key) != control.SecretKeySize:
		return nil, fmt.Errorf("%s has %d bytes, not %d", file, len(key), control.SecretKeySize)
	case !errors.Is(err, fs.ErrNotExist):
		return key, err
	}
	key = make([]byte, control.SecretKeySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	return key, atomicfile.Write(file, key, sync)
}
