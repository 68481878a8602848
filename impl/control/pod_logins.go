package control

import (
	"context"
	"maps"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// PublicKeys gives the user's SSH keys as one text, a blank line between two; empty: none.
func (c *Control) PublicKeys(ctx context.Context, user compute.UserID) (string, error) {
	lines, err := c.SSHKeys(ctx, user)
	return strings.Join(lines, "\n\n"), err
}

// SetPublicKeys replaces the user's SSH keys by the lines of the text. Errors as for SetSSHKeys.
func (c *Control) SetPublicKeys(ctx context.Context, user compute.UserID, text string) error {
	lines := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return c.SetSSHKeys(ctx, user, lines)
}

// envPublicKey is where a container with StartSSH finds the user's SSH keys.
const envPublicKey = "PUBLIC_KEY"

// envPassword is where a container with StartJupyter finds its password.
const envPassword = "JUPYTER_PASSWORD"

// addPassword gives the pod a password, unless its own environment has one.
func (c *Control) addPassword(p *compute.Pod) {
	if _, own := p.Env[envPassword]; !own {
		p.Env = maps.Clone(p.Env)
		p.Env[envPassword] = c.ids.Word(32)
	}
}

// addPublicKeys gives the pod the user's SSH keys, unless its own environment says what they are.
func addPublicKeys(tx store.SSHKeys, p *compute.Pod) error {
	if _, own := p.Env[envPublicKey]; own {
		return nil
	}
	keys, err := tx.SSHKeys(p.UserID)
	if err == nil && len(keys) > 0 {
		p.Env[envPublicKey] = joinedKeys(keys)
	}
	return err
}

// joinedKeys gives SSH keys as the variable of a container has them.
func joinedKeys(lines []string) string { return strings.Join(lines, "\n") }
