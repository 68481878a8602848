package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

const secretColumns = `id, user_id, name, description, created_at, changed_at`

const (
	insertSecret       = `INSERT INTO secrets (` + secretColumns + `, value) VALUES (?, ?, ?, ?, ?, ?, ?)`
	selectSecret       = `SELECT ` + secretColumns + ` FROM secrets WHERE id = ?`
	selectNewestSecret = `SELECT ` + secretColumns + ` FROM secrets ORDER BY seq DESC LIMIT 1`
	selectSecrets      = `SELECT ` + secretColumns + ` FROM secrets WHERE user_id = ? ORDER BY created_at DESC, seq DESC`
	selectSecretNamed  = `SELECT ` + secretColumns + ` FROM secrets WHERE user_id = ? AND lower(name) = lower(?)`
	selectSecretValue  = `SELECT value FROM secrets WHERE id = ?`
	updateSecret       = `UPDATE secrets SET description = ? WHERE id = ?`
	updateSecretValue  = `UPDATE secrets SET value = ?, changed_at = ? WHERE id = ?`
	deleteSecret       = `DELETE FROM secrets WHERE id = ?`
)

// InsertSecret stores a new secret with its sealed value. Conflict when the id is taken, or the user's name.
func (tx *Tx) InsertSecret(s compute.Secret, value []byte) error {
	_, err := tx.exec("insert secret "+string(s.ID), insertSecret, string(s.ID), string(s.UserID), s.Name, s.Description,
		millis(s.CreatedAt), millis(s.ChangedAt), value)
	return err
}

func scanSecret(row scanner) (s compute.Secret, err error) {
	err = row.Scan(&s.ID, &s.UserID, &s.Name, &s.Description, instant{&s.CreatedAt}, instant{&s.ChangedAt})
	return s, err
}

func (tx *Tx) secret(what, query string, args ...any) (s compute.Secret, found bool, err error) {
	found, err = tx.one(what, func(row scanner) (err error) {
		s, err = scanSecret(row)
		return err
	}, query, args...)
	return s, found, err
}

// Secret gives one secret. NotFound for an unknown id.
func (tx *Tx) Secret(id compute.SecretID) (compute.Secret, error) {
	s, found, err := tx.secret("read secret "+string(id), selectSecret, string(id))
	if err == nil && !found {
		err = noSecret(id)
	}
	return s, err
}

// NewestSecret gives the secret that was stored last, of whatever user, and whether there is one.
func (tx *Tx) NewestSecret() (s compute.Secret, found bool, err error) {
	return tx.secret("read newest secret", selectNewestSecret)
}

// SecretNamed gives the user's secret of that name, whatever its case, and whether there is one.
func (tx *Tx) SecretNamed(user compute.UserID, name string) (s compute.Secret, found bool, err error) {
	return tx.secret("read a secret of "+string(user), selectSecretNamed, string(user), name)
}

// SecretValue gives what is sealed. NotFound for an unknown id.
func (tx *Tx) SecretValue(id compute.SecretID) (value []byte, err error) {
	found, err := tx.one("read value of secret "+string(id), func(row scanner) error { return row.Scan(&value) }, selectSecretValue, string(id))
	if err == nil && !found {
		err = noSecret(id)
	}
	return value, err
}

// ListSecrets gives the user's secrets, newest first.
func (tx *Tx) ListSecrets(user compute.UserID) ([]compute.Secret, error) {
	return list(tx, "list secrets", scanSecret, selectSecrets, string(user))
}

// UpdateSecret writes the description. NotFound for an unknown id.
func (tx *Tx) UpdateSecret(s compute.Secret) error {
	ok, err := tx.changed("update secret "+string(s.ID), updateSecret, s.Description, string(s.ID))
	if err == nil && !ok {
		err = noSecret(s.ID)
	}
	return err
}

// SetSecretValue writes another sealed value and ChangedAt. NotFound for an unknown id.
func (tx *Tx) SetSecretValue(s compute.Secret, value []byte) error {
	ok, err := tx.changed("set value of secret "+string(s.ID), updateSecretValue, value, millis(s.ChangedAt), string(s.ID))
	if err == nil && !ok {
		err = noSecret(s.ID)
	}
	return err
}

// DeleteSecret removes the secret, known or not.
func (tx *Tx) DeleteSecret(id compute.SecretID) error {
	_, err := tx.exec("delete secret "+string(id), deleteSecret, string(id))
	return err
}

func noSecret(id compute.SecretID) error {
	return compute.Errorf(compute.NotFound, "secret %q does not exist", id)
}
