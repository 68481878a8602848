package conformance

import (
	"encoding/json"
	"slices"

	"github.com/stretchr/testify/require"
)

const sshKeyPath = "/v2/account/ssh-keys"

// Public keys, one of each type.
const (
	ed25519Key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHMAhJoqovDFGApqEiFxFTRKy0T4h3gKxFl8q+j4IuRs"
	ecdsaKey   = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBMo7p4wilEO7CQa87PHc8GO748pmMy12ZJ6Qh6" +
		"7Jkh0fwMJoax3FE9PxDeXKjtfkv4+iswOsChRskuYyNm9oD+c="
	rsaKey = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCpL2P9TzZwk0OPDf+bPxt1yYJf2A17s3cMWBY/MSrkaguvuEGgkPQVB4QOaxLOIr4f7fnKAW" +
		"UxXLgCPQeVnC3QFKB1/nmzk6vzV671/S00EhpRAWn3cgrUFwSsOH3Hy6Hgm5wwKl+Oj6ewthyERBXK+iPqbjF4OO/iHFqavUBLRsRSuZhveTRc" +
		"1APsvQWUCG5kZr1qX4UV95dj1e2yIpBelStQZXkpK8kvubFgMURXZkf/qIqoBAY/LXQkk1ZROCWFdvReDFcaAq0Ly9/LIDcNG4qoYuJTeRGiFr" +
		"9hIDkkeMIoE2L09EM9ot1NFNaqSjym2f5EUC0E6uuivn70MdaJ"
	securityKey = "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIHMAhJoqovDFGApqEiFxFTRKy0T4h3gKxFl8q+j" +
		"4IuRsAAAABHNzaDo="
)

// putKeys replaces the keys with the API key, or with the target's if it is empty.
func (c *Check) putKeys(key string, lines ...string) Answer {
	if lines == nil {
		lines = []string{}
	}
	body, err := json.Marshal(map[string]any{"keys": lines})
	require.NoError(c, err)
	return c.Send(Request{Method: "PUT", URL: c.URL + sshKeyPath, Body: string(body), Key: key})
}

// keysAre asserts that the user of the API key has those keys.
func (c *Check) keysAre(key string, lines ...any) {
	a := c.Send(Request{Method: "GET", URL: c.URL + sshKeyPath, Key: key})
	require.Equal(c, 200, a.Status, "%s", a.Body)
	require.Equal(c, map[string]any{"keys": append([]any{}, lines...)}, a.JSON)
}

var _ = area(func() {
	ops := []string{"getSshKeys", "updateSshKeys"}
	// stranger gives a key of a user who has sent nothing, with the keys taken away again after f.
	stranger := func(c *Check, f func(key string)) {
		_, key := c.newKey(`,"user":"stranger"`, "all")
		key = "Bearer " + key
		defer c.putKeys(key)
		f(key)
	}

	add("account.ssh-keys", ops, func(c *Check) {
		stranger(c, func(key string) {
			a := c.putKeys(key, rsaKey+" user@host", ed25519Key)
			require.Equal(c, 200, a.Status, "%s", a.Body)
			require.Equal(c, map[string]any{"keys": []any{rsaKey + " user@host", ed25519Key}}, a.JSON)
			c.keysAre(key, rsaKey+" user@host", ed25519Key)
		})
	})

	add("account.ssh-keys.none", ops, func(c *Check) {
		stranger(c, func(key string) { c.keysAre(key) })
	})
	add("account.ssh-keys.replace", ops, func(c *Check) {
		stranger(c, func(key string) {
			for _, line := range []string{rsaKey, ed25519Key} {
				require.Equal(c, 200, c.putKeys(key, line).Status)
				c.keysAre(key, line)
			}
			require.Equal(c, 200, c.putKeys(key).Status)
			c.keysAre(key)
		})
	})

	add("account.ssh-keys.types", ops, func(c *Check) {
		stranger(c, func(key string) {
			for _, line := range []string{rsaKey, ecdsaKey, ed25519Key, securityKey} {
				for _, comment := range []string{"", " user@host", " two words", "\tx"} {
					a := c.putKeys(key, line+comment)
					require.Equal(c, 200, a.Status, "%s", a.Body)
				}
			}
		})
	})

	add("account.ssh-keys.form", ops, func(c *Check) {
		stranger(c, func(key string) {
			for _, line := range []string{
				"", "ssh-ed25519", "x " + ed25519Key, " " + ed25519Key, ed25519Key + "\n" + rsaKey, ed25519Key + "\n", "# comment",
				`command="ls" ` + ed25519Key, "no-pty " + ed25519Key,
			} {
				errors := c.Refused(c.putKeys(key, ecdsaKey, line), 422)
				require.Len(c, errors, 1, line)
				require.Regexp(c, "^/keys/1:", errors[0])
			}
			c.keysAre(key)
		})
	})

	add("account.ssh-keys.parsed", ops, func(c *Check) {
		stranger(c, func(key string) {
			require.Equal(c, 200, c.putKeys(key, rsaKey).Status)
			wrong := []string{
				"ssh-ed25519 AAAA", "ssh-ed25519 nobase64!", ed25519Key[:len(ed25519Key)-4], "ssh-rsa" + ed25519Key[len("ssh-ed25519"):],
				"ssh-nosuch" + ed25519Key[len("ssh-ed25519"):],
			}
			errors := c.Refused(c.putKeys(key, append(wrong, ecdsaKey)...), 422)
			require.Len(c, errors, len(wrong))

			for i, line := range errors {
				require.Regexp(c, "^/keys/"+string(rune('0'+i))+":", line)
			}
			c.keysAre(key, rsaKey)
		})
	})

	add("account.ssh-keys.size", ops, func(c *Check) {
		stranger(c, func(key string) {
			require.Equal(c, 200, c.putKeys(key, ed25519Key).Status)
			c.Refused(c.putKeys(key, slices.Repeat([]string{rsaKey}, 128<<10/len(rsaKey)+1)...), 400)
			c.keysAre(key, ed25519Key)
			require.Equal(c, 200, c.putKeys(key, slices.Repeat([]string{rsaKey}, 128<<10/len(rsaKey)-10)...).Status)
		})
	})

	add("account.ssh-keys.closed", ops, func(c *Check) {
		c.invalid("PUT", sshKeyPath, `$`, "/keys:", `{}`, `{"keys":null}`, `{"keys":"a"}`)
		c.invalid("PUT", sshKeyPath, `{"keys":[$]}`, "/keys/0:", `7`, `null`)
		c.invalid("PUT", sshKeyPath, `{"keys":[],"$":1}`, "/key", "key", "keyed")
	})

	add("account.ssh-keys.ownership", ops, func(c *Check) {
		stranger(c, func(key string) {
			before := c.read(sshKeyPath)
			require.Equal(c, 200, c.putKeys(key, securityKey).Status)
			require.NotContains(c, before["keys"], securityKey)
			require.Equal(c, before, c.read(sshKeyPath))
		})
	})
})
