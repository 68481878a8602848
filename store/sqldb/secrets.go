package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	secretColumns = columns[compute.Secret]{
		text("id", func(s *compute.Secret) *compute.SecretID { return &s.ID }),
		text("user_id", func(s *compute.Secret) *compute.UserID { return &s.UserID }),
		text("name", func(s *compute.Secret) *string { return &s.Name }),
		text("description", func(s *compute.Secret) *string { return &s.Description }),
		instant("created_at", func(s *compute.Secret) *time.Time { return &s.CreatedAt }),
		instant("changed_at", func(s *compute.Secret) *time.Time { return &s.ChangedAt }),
	}
	secretDescription = secretColumns.only("description")
	secretValue       = columns[[]byte]{blob("value", itself[[]byte])}

	sealedSecretColumns = all(
		embedded(func(s *sealedSecret) *compute.Secret { return &s.Secret }, secretColumns),
		embedded(func(s *sealedSecret) *[]byte { return &s.value }, secretValue),
	)
	sealedSecretValue = sealedSecretColumns.only("value", "changed_at")
)

// sealedSecret is a row of secrets. Its value is large, and read by itself.
type sealedSecret struct {
	compute.Secret
	value []byte
}

var (
	insertSecret       = sealedSecretColumns.insert("secrets")
	selectFromSecrets  = `SELECT ` + secretColumns.list() + ` FROM secrets `
	selectSecret       = selectFromSecrets + `WHERE id = ?`
	selectNewestSecret = selectFromSecrets + `ORDER BY seq DESC LIMIT 1`
	selectSecrets      = selectFromSecrets + `WHERE user_id = ? ORDER BY created_at DESC, seq DESC`
	selectSecretNamed  = selectFromSecrets + `WHERE user_id = ? AND lower(name) = lower(?)`
	selectSecretValue  = `SELECT ` + secretValue.list() + ` FROM secrets WHERE id = ?`
	updateSecret       = `UPDATE secrets SET ` + secretDescription.set() + ` WHERE id = ?`
	updateSecretValue  = `UPDATE secrets SET ` + sealedSecretValue.set() + ` WHERE id = ?`
)

const deleteSecret = `DELETE FROM secrets WHERE id = ?` //nolint:gosec // G101: a statement

// InsertSecret stores a new secret with its sealed value. Conflict when the id is taken, or the user's name.
func (tx *Tx) InsertSecret(s compute.Secret, value []byte) error {
	_, err := tx.exec("insert secret "+string(s.ID), insertSecret, sealedSecretColumns.values(tx.args(), &sealedSecret{s, value})...)
	return err
}

// Secret gives one secret. NotFound for an unknown id.
func (tx *Tx) Secret(id compute.SecretID) (compute.Secret, error) {
	s, found, err := get(tx, "read secret "+string(id), secretColumns, selectSecret, string(id))
	if err == nil && !found {
		err = noSecret(id)
	}
	return s, err
}

// NewestSecret gives the secret that was stored last, of whatever user, and whether there is one.
func (tx *Tx) NewestSecret() (s compute.Secret, found bool, err error) {
	return get(tx, "read newest secret", secretColumns, selectNewestSecret)
}

// SecretNamed gives the user's secret of that name, whatever its case, and whether there is one.
func (tx *Tx) SecretNamed(user compute.UserID, name string) (s compute.Secret, found bool, err error) {
	return get(tx, "read a secret of "+string(user), secretColumns, selectSecretNamed, string(user), name)
}

// SecretValue gives what is sealed. NotFound for an unknown id.
func (tx *Tx) SecretValue(id compute.SecretID) ([]byte, error) {
	value, found, err := get(tx, "read value of secret "+string(id), secretValue, selectSecretValue, string(id))
	if err == nil && !found {
		err = noSecret(id)
	}
	return value, err
}

// ListSecrets gives the user's secrets, newest first, as far as there is room.
func (tx *Tx) ListSecrets(user compute.UserID, room compute.Room) (all []compute.Secret, whole bool, err error) {
	return listWithin(tx, room, "list secrets", secretColumns, selectSecrets, string(user))
}

// UpdateSecret writes the description. NotFound for an unknown id.
func (tx *Tx) UpdateSecret(s compute.Secret) error {
	ok, err := tx.changed("update secret "+string(s.ID), updateSecret, secretDescription.values(tx.args(), &s, string(s.ID))...)
	if err == nil && !ok {
		err = noSecret(s.ID)
	}
	return err
}

// SetSecretValue writes another sealed value and ChangedAt. NotFound for an unknown id.
func (tx *Tx) SetSecretValue(s compute.Secret, value []byte) error {
	row := &sealedSecret{s, value}
	ok, err := tx.changed("set value of secret "+string(s.ID), updateSecretValue, sealedSecretValue.values(tx.args(), row, string(s.ID))...)
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
