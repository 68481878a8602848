package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh" // it reads the keys that OpenSSH writes

	"github.com/berthdev/berth/gen/rest"
)

func newSSHKeysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ssh-keys", Aliases: []string{"ssh-key"}, Short: "List, add and remove the SSH keys that may log in to your pods",
		Long: `List, add and remove the public SSH keys that may log in to your pods. Name a key by its fingerprint, or by its comment if no other
key has that comment. The service keeps them as one list: if two people change it at once, one may undo what the other did.`,
	}
	cmd.AddCommand(newSSHKeysListCommand(), newSSHKeysAddCommand(), newSSHKeysRemoveCommand(), newSSHKeysReplaceCommand())
	return cmd
}

// sshKey is a public key, as the service keeps it, and what it says.
type sshKey struct{ text, print, form, comment string }

// readSSHKey reads a line of a file of public keys. A service may keep keys that are not understood here; they have no fingerprint.
func readSSHKey(line string) sshKey {
	k := sshKey{text: line, print: "-", form: "-"}
	if key, comment, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err == nil {
		k.print, k.form, k.comment = ssh.FingerprintSHA256(key), key.Type(), comment
	}
	return k
}

// sshKeyKind is how a key is named.
var sshKeyKind = kind{noun: "SSH key", nouns: "ssh-keys"}

var sshKeyColumns = []column[sshKey]{
	{head: "FINGERPRINT", value: func(k sshKey) string { return k.print }},
	{head: "TYPE", value: func(k sshKey) string { return k.form }},
	{head: "COMMENT", value: func(k sshKey) string { return orDash(k.comment) }},
}

// sshKeys reads the keys of the account.
func (c *connection) sshKeys(ctx context.Context) (keys []sshKey, document []byte, err error) {
	list, document, err := fetch[rest.SSHKeys](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.rest.GetSSHKeys(ctx) })
	for _, line := range list.Keys {
		keys = append(keys, readSSHKey(line))
	}
	return keys, document, err
}

// keepSSHKeys has the account have these keys, and prints them.
func keepSSHKeys(cmd *cobra.Command, c *connection, keys []sshKey) error {
	lines := []string{}
	for _, k := range keys {
		lines = append(lines, k.text)
	}
	document, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) {
		return c.rest.UpdateSSHKeys(ctx, rest.UpdateSSHKeysRequest{Keys: lines})
	})
	if err != nil {
		return err
	}
	return printSSHKeys(cmd, keys, document)
}

func printSSHKeys(cmd *cobra.Command, keys []sshKey, document []byte) error {
	if asJSON(cmd) {
		return printDocument(cmd, document)
	}
	return printTable(cmd, sshKeyColumns, keys)
}

// readSSHKeys reads the public keys of a file, one a line. Empty lines and comments are left out.
func readSSHKeys(cmd *cobra.Command, path string) (keys []sshKey, err error) {
	text, err := readFile(cmd, path, mostDocument)
	if err != nil {
		return nil, misuse(err, "")
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}

		k := readSSHKey(line)
		if strings.Contains(line, "PRIVATE KEY") {
			return nil, misuse(fmt.Errorf("%s: it is a private key, which stays with you", path), "the public one is in the file whose name ends in .pub")
		}
		if k.form == "-" {
			return nil, misuse(fmt.Errorf("%s: line %d is no public key", path, number), "such as ~/.ssh/id_ed25519.pub")
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func newSSHKeysListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the SSH keys, in the order in which they were added", Args: cobra.NoArgs,
		Example: "  berth ssh-keys list\n  berth ssh-keys list --json | jq -r '.keys[]'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			keys, document, err := c.sshKeys(cmd.Context())
			if err != nil {
				return err
			}
			return printSSHKeys(cmd, keys, document)
		},
	}
}

func newSSHKeysAddCommand() *cobra.Command {
	return &cobra.Command{
		Use: "add FILE", Short: "Add the public keys of a file", Args: cobra.ExactArgs(1),
		Long:    "Add the public keys of a file, or of the standard input if it is -. A key that is already there is not added again.",
		Example: "  berth ssh-keys add ~/.ssh/id_ed25519.pub",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSSHKeys(cmd, args[0], func(there, more []sshKey) []sshKey {
				for _, k := range more {
					if !slices.ContainsFunc(there, func(old sshKey) bool { return old.print == k.print }) {
						there = append(there, k)
					}
				}
				return there
			})
		},
	}
}

func newSSHKeysReplaceCommand() *cobra.Command {
	return &cobra.Command{
		Use: "replace FILE", Short: "Replace all SSH keys by the public keys of a file", Args: cobra.ExactArgs(1),
		Long:    "Replace all SSH keys by the public keys of a file, or of the standard input if it is -. An empty file removes all.",
		Example: "  berth ssh-keys replace authorized_keys",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSSHKeys(cmd, args[0], func(_, all []sshKey) []sshKey { return all })
		},
	}
}

// changeSSHKeys has the account have what change makes of the keys that there are and those of a file.
func changeSSHKeys(cmd *cobra.Command, path string, change func(there, file []sshKey) []sshKey) error {
	c, err := connect(cmd)
	if err != nil {
		return err
	}
	file, err := readSSHKeys(cmd, path)
	if err != nil {
		return err
	}
	there, _, err := c.sshKeys(cmd.Context())
	if err != nil {
		return err
	}
	return keepSSHKeys(cmd, c, change(there, file))
}

func newSSHKeysRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove KEY [KEY...]", Aliases: []string{"rm", "delete"}, Short: "Remove SSH keys", Args: cobra.MinimumNArgs(1),
		Example: "  berth ssh-keys remove user@example\n  berth ssh-keys remove SHA256:Zsn3m2UuWVVAJnb2EVhBQEH9ScCnFtBEoAJFTLvfmM0",
		ValidArgsFunction: completion(func(ctx context.Context, c *connection, _ []string) (words []string, err error) {
			keys, _, err := c.sshKeys(ctx)
			for _, k := range keys {
				words = append(words, k.print+"\t"+oneLine(k.comment))
			}
			return words, err
		}).values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			keys, _, err := c.sshKeys(cmd.Context())
			if err != nil {
				return err
			}

			for _, named := range args {
				if named == "" || named == "-" {
					return misuse(errors.New("KEY: it is empty"), "berth ssh-keys list shows those that there are")
				}

				var things []thing
				for _, k := range keys {
					things = append(things, thing{k.print, k.comment})
				}
				id, err := sshKeyKind.one(named, matching(named, things))
				if err != nil {
					return err
				}
				keys = slices.DeleteFunc(keys, func(k sshKey) bool { return k.print == id })
			}
			return keepSSHKeys(cmd, c, keys)
		},
	}
}
