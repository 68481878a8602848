package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

const (
	selectSSHKeys = `SELECT lines FROM ssh_keys WHERE user_id = ?`
	setSSHKeys    = `INSERT INTO ssh_keys (user_id, lines) VALUES (?, ?) ON CONFLICT (user_id) DO UPDATE SET lines = excluded.lines`
	deleteSSHKeys = `DELETE FROM ssh_keys WHERE user_id = ?`
)

// SSHKeys gives the user's keys in their order.
func (tx *Tx) SSHKeys(user compute.UserID) (lines []string, err error) {
	_, err = tx.one("read SSH keys of "+string(user), func(row scanner) error {
		return row.Scan(words[[]string]{&lines})
	}, selectSSHKeys, string(user))
	return lines, err
}

// SetSSHKeys replaces the user's keys. Who has none has no row.
func (tx *Tx) SetSSHKeys(user compute.UserID, lines []string) error {
	if len(lines) == 0 {
		_, err := tx.exec("delete SSH keys of "+string(user), deleteSSHKeys, string(user))
		return err
	}
	_, err := tx.exec("set SSH keys of "+string(user), setSSHKeys, string(user), text(lines))
	return err
}
