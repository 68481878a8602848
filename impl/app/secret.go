package app

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/control"
)

// secretKey reads the key that the settings name, or that of the data directory. Without one it makes one, which is nowhere yet: the
// database may have something that another key sealed.
func secretKey(c Config) (key []byte, made bool, err error) {
	if c.SecretKey != "" {
		if err := closedToOthers(c.SecretKey); err != nil {
			return nil, false, ofSetting("secret-key", c.SecretKey, err)
		}
	}
	key, err = os.ReadFile(c.secretFile())
	switch {
	case err == nil && len(key) != control.SecretKeySize:
		return nil, false, fmt.Errorf("%s has %d bytes, not %d: put it back from a backup", c.secretFile(), len(key), control.SecretKeySize)
	case c.SecretKey != "" || !errors.Is(err, fs.ErrNotExist):
		return key, false, err
	}

	key = make([]byte, control.SecretKeySize)
	_, err = rand.Read(key)
	return key, true, err
}

// secretFile is the file of the key.
func (c Config) secretFile() string {
	return cmp.Or(c.SecretKey, filepath.Join(c.Data, secretFile))
}

// closedToOthers fails if everybody may read the file. Its group may: that is how a cluster gives a file to who is not root.
func closedToOthers(file string) error {
	info, err := os.Stat(file)
	if err == nil && openToOthers(info) && info.Mode().Perm()&0o007 != 0 {
		err = fmt.Errorf("%s is open to others (%v): chmod 600 it", file, info.Mode())
	}
	return err
}

// secrets are what the key of the data directory makes.
type secrets struct {
	*control.Sealer
	key  []byte
	made bool // the key is a new one
}

func readSecrets(c Config) (s secrets, err error) {
	if s.key, s.made, err = secretKey(c); err == nil {
		s.Sealer, err = control.NewSealer(s.key)
	}
	return s, err
}

// keep writes the key if it was made, beside what else a start does. The database, which is there, has nothing that another one
// sealed.
func (s secrets) keep(c Config) *beside[struct{}] {
	return makeBeside(func() (none struct{}, err error) {
		if s.made {
			err = atomicfile.Write(c.secretFile(), s.key, !c.Ephemeral)
		}
		return none, err
	})
}

// explain says what to do when the key does not open what is stored.
func (s secrets) explain(c Config, err error) error {
	if !errors.Is(err, control.ErrSecretKey) {
		return err
	}
	what := "is not the one of this database"
	if s.made {
		what = "is missing, and the database has registry credentials that it sealed"
	}
	return fmt.Errorf("%s %s: put it back from a backup, or see docs/operating.md for how to go on without the credentials: %w",
		c.secretFile(), what, err)
}
