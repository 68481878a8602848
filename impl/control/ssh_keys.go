package control

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh" // it reads the lines as OpenSSH does

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// SSHKeys gives the user's public keys in their order, each a line of an authorized_keys file.
func (c *Control) SSHKeys(ctx context.Context, user compute.UserID) (lines []string, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		lines, err = tx.SSHKeys(user)
		return err
	})
	return lines, err
}

// SetSSHKeys replaces the user's public keys. Invalid, with a line for each, for those that are none (rule
// account.ssh-keys.parsed). Rejected for more than the variable of a container can have (rule
// account.ssh-keys.size).
func (c *Control) SetSSHKeys(ctx context.Context, user compute.UserID, lines []string) error {
	invalid := compute.Errorf(compute.Invalid, "some of the keys are not SSH public keys")
	for i, line := range lines {
		if !isSSHKey(line) {
			invalid.Fields = append(invalid.Fields, fmt.Sprintf("/keys/%d: must be an SSH public key", i))
		}
	}
	if invalid.Fields != nil {
		return invalid
	}
	if n, most := len(joinedKeys(lines)), compute.VariableBytes-len(envPublicKey)-len("="); n > most {
		return compute.Errorf(compute.Rejected, "keys: they have %d bytes together, and a pod with startSsh takes at most %d", n, most)
	}
	return create(ctx, c.store, func(tx store.Tx) error { return tx.SetSSHKeys(user, lines) })
}

// SSHPod gives a pod, whoever owns it, and the public keys of its account, for who is to let users into their pods: none of a user who was deleted,
// or whom its role, or that it is disabled, keeps from changing pods (rules users.roles.reader, users.disabled). NotFound for an unknown and a terminated one.
func (c *Control) SSHPod(ctx context.Context, id compute.PodID) (pod compute.Pod, lines []string, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		if pod, err = tx.Pod(id); err != nil {
			return err
		}
		if pod.Status == compute.PodTerminated {
			return compute.Errorf(compute.NotFound, "pod %q does not exist", id)
		}
		u, known, err := userOf(tx, pod.UserID)
		if err != nil || !known || u.Disabled || !u.Role.Allows(compute.ScopeRESTWrite) {
			return err
		}
		lines, err = tx.SSHKeys(pod.UserID)
		return err
	})
	return pod, lines, err
}

// isSSHKey reports whether the line is a public key of the type that it begins with: the parser looks at the key alone.
func isSSHKey(line string) bool {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	return err == nil && len(options) == 0 && len(rest) == 0 && strings.HasPrefix(line, key.Type()+" ")
}
