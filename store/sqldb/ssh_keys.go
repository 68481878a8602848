package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

// userKeys are the keys of a user.
type userKeys struct {
	user  compute.UserID
	lines []string
}

var (
	sshKeyColumns = columns[userKeys]{
		text("user_id", func(k *userKeys) *compute.UserID { return &k.user }),
		words("lines", func(k *userKeys) *[]string { return &k.lines }),
	}
	selectSSHKeys = `SELECT ` + sshKeyColumns.list() + ` FROM ssh_keys WHERE user_id = ?`
	setSSHKeys    = sshKeyColumns.insert("ssh_keys") + ` ON CONFLICT (user_id) DO UPDATE SET lines = excluded.lines`
)

const deleteSSHKeys = `DELETE FROM ssh_keys WHERE user_id = ?`

// SSHKeys gives the user's keys in their order.
func (tx *Tx) SSHKeys(user compute.UserID) ([]string, error) {
	k, _, err := get(tx, "read SSH keys of "+string(user), sshKeyColumns, selectSSHKeys, string(user))
	return k.lines, err
}

// SetSSHKeys replaces the user's keys. Who has none has no row.
func (tx *Tx) SetSSHKeys(user compute.UserID, lines []string) error {
	if len(lines) == 0 {
		_, err := tx.exec("delete SSH keys of "+string(user), deleteSSHKeys, string(user))
		return err
	}
	_, err := tx.exec("set SSH keys of "+string(user), setSSHKeys, sshKeyColumns.values(tx.args(), &userKeys{user, lines})...)
	return err
}
