package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
	return key, writeWhole(file, key, sync)
}

// writeWhole writes a file for its owner alone, of which a crash leaves all or nothing. Without sync a failure of power may
// leave less.
func writeWhole(file string, content []byte, sync bool) error {
	half := file + ".new"
	f, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && sync {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(half, file)
}
