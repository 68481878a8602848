package sqldb

import (
	"fmt"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const keyColumns = `id, user_id, name, scopes, hash, worker_id, exempt, created_at, expires_at, revoked_at`

const (
	insertKey  = `INSERT INTO keys (` + keyColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectKey  = `SELECT ` + keyColumns + ` FROM keys WHERE id = ?`
	selectKeys = `SELECT ` + keyColumns + ` FROM keys ORDER BY created_at, seq`
	revokeKey  = `UPDATE keys SET revoked_at = ? WHERE id = ?`
	deleteKey  = `DELETE FROM keys WHERE id = ?`
	deleteOld  = `DELETE FROM keys WHERE revoked_at < ?1 OR expires_at < ?1`
)

// InsertKey stores a new key. Conflict when the id is taken.
func (tx *Tx) InsertKey(k compute.Key) error {
	var scopes []string
	if k.Scopes != nil {
		scopes = make([]string, len(k.Scopes))
	}
	for i, s := range k.Scopes {
		scopes[i] = string(s)
	}
	_, err := tx.exec("insert key "+string(k.ID), insertKey, string(k.ID), string(k.UserID), k.Name, text(scopes),
		k.Hash[:], string(k.WorkerID), k.Exempt, millis(k.CreatedAt), millis(k.ExpiresAt), millis(k.RevokedAt))
	return err
}

func scanKey(row scanner) (compute.Key, error) {
	var (
		k      compute.Key
		scopes []string
		hash   []byte
	)
	err := row.Scan(&k.ID, &k.UserID, &k.Name, words[[]string]{&scopes}, &hash, &k.WorkerID, &k.Exempt,
		instant{&k.CreatedAt}, instant{&k.ExpiresAt}, instant{&k.RevokedAt})
	if err != nil {
		return k, err
	}
	if copy(k.Hash[:], hash) != len(k.Hash) {
		return k, fmt.Errorf("key %s: a hash of %d bytes", k.ID, len(hash))
	}
	if scopes != nil {
		k.Scopes = make([]compute.Scope, len(scopes))
	}
	for i, s := range scopes {
		k.Scopes[i] = compute.Scope(s)
	}
	return k, nil
}

// Key gives one key, revoked or not. NotFound for an unknown id.
func (tx *Tx) Key(id compute.KeyID) (k compute.Key, err error) {
	found, err := tx.one("key "+string(id), func(row scanner) (err error) {
		k, err = scanKey(row)
		return err
	}, selectKey, string(id))
	if err == nil && !found {
		err = unknownKey(id)
	}
	return k, err
}

func unknownKey(id compute.KeyID) error {
	return compute.Errorf(compute.NotFound, "key %q does not exist", id)
}

// ListKeys gives all keys, revoked ones too, oldest first.
func (tx *Tx) ListKeys() ([]compute.Key, error) { return list(tx, "list keys", scanKey, selectKeys) }

// RevokeKey sets RevokedAt to Now. NotFound for an unknown id.
func (tx *Tx) RevokeKey(id compute.KeyID) error {
	ok, err := tx.changed("revoke key "+string(id), revokeKey, millis(tx.wall), string(id))
	if err == nil && !ok {
		err = unknownKey(id)
	}
	return err
}

// DeleteInvalidKeys removes the keys that were revoked or expired before the time, and tells how many.
func (tx *Tx) DeleteInvalidKeys(before time.Time) (int, error) {
	return tx.affected("delete invalid keys", deleteOld, before.UnixMilli())
}

// DeleteKey removes the key, known or not.
func (tx *Tx) DeleteKey(id compute.KeyID) error {
	_, err := tx.exec("delete key "+string(id), deleteKey, string(id))
	return err
}
