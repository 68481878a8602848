package sqldb

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	keyColumns = columns[compute.Key]{
		text("id", func(k *compute.Key) *compute.KeyID { return &k.ID }),
		text("user_id", func(k *compute.Key) *compute.UserID { return &k.UserID }),
		text("name", func(k *compute.Key) *string { return &k.Name }),
		words("scopes", func(k *compute.Key) *[]compute.Scope { return &k.Scopes }),
		{name: "hash", write: func(k *compute.Key) any { return k.Hash[:] }, read: readHash},
		text("worker_id", func(k *compute.Key) *compute.WorkerID { return &k.WorkerID }),
		flag("exempt", func(k *compute.Key) *bool { return &k.Exempt }),
		instant("created_at", func(k *compute.Key) *time.Time { return &k.CreatedAt }),
		instant("expires_at", func(k *compute.Key) *time.Time { return &k.ExpiresAt }),
		instant("revoked_at", func(k *compute.Key) *time.Time { return &k.RevokedAt }),
		text("contract", func(k *compute.Key) *string { return &k.Contract }),
		real("spend_limit", func(k *compute.Key) *float64 { return &k.SpendLimit }),
	}

	insertKey  = keyColumns.insert("keys")
	selectKey  = `SELECT ` + keyColumns.list() + ` FROM keys WHERE id = ?`
	selectKeys = `SELECT ` + keyColumns.list() + ` FROM keys ORDER BY created_at, seq`
)

const (
	revokeKey = `UPDATE keys SET revoked_at = ? WHERE id = ?`
	deleteKey = `DELETE FROM keys WHERE id = ?`
	deleteOld = `DELETE FROM keys WHERE revoked_at < ?1 OR expires_at < ?1`
)

func readHash(k *compute.Key, v driver.Value) error {
	hash, err := read[[]byte](v)
	if err == nil && copy(k.Hash[:], hash) != len(k.Hash) {
		err = fmt.Errorf("a hash of %d bytes", len(hash))
	}
	return err
}

// InsertKey stores a new key. Conflict when the id is taken.
func (tx *Tx) InsertKey(k compute.Key) error {
	_, err := tx.exec("insert key "+string(k.ID), insertKey, keyColumns.values(tx.args(), &k)...)
	return err
}

// Key gives one key, revoked or not. NotFound for an unknown id.
func (tx *Tx) Key(id compute.KeyID) (compute.Key, error) {
	k, found, err := get(tx, "key "+string(id), keyColumns, selectKey, string(id))
	if err == nil && !found {
		err = unknownKey(id)
	}
	return k, err
}

func unknownKey(id compute.KeyID) error {
	return compute.Errorf(compute.NotFound, "key %q does not exist", id)
}

// ListKeys gives all keys, revoked ones too, oldest first.
func (tx *Tx) ListKeys() ([]compute.Key, error) { return list(tx, "list keys", keyColumns, selectKeys) }

// RevokeKey sets RevokedAt to Now. NotFound for an unknown id.
func (tx *Tx) RevokeKey(id compute.KeyID) error {
	ok, err := tx.changed("revoke key "+string(id), revokeKey, millis(tx.wall), string(id))
	if err == nil && !ok {
		err = unknownKey(id)
	}
	return err
}

// DeleteInvalidKeys removes the keys that were revoked or expired before the time, and reports how many.
func (tx *Tx) DeleteInvalidKeys(before time.Time) (int, error) {
	return tx.affected("delete invalid keys", deleteOld, before.UnixMilli())
}

// DeleteKey removes the key, known or not.
func (tx *Tx) DeleteKey(id compute.KeyID) error {
	_, err := tx.exec("delete key "+string(id), deleteKey, string(id))
	return err
}
