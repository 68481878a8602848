package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
)

// remote reports whether the keys of a server are meant, not those of a database: only the flag says so, since the environment may name
// a server for all other commands.
func remote(cmd *cobra.Command) bool { return cmd.Flags().Changed("server") }

// shownKeys gives the keys of a database, without their secrets.
func shownKeys(keys *app.Keys) []shownKey {
	shown := []shownKey{}
	for _, k := range keys.Keys(false) {
		shown = append(shown, shownKey{k.ID, k.Name, k.UserID, k.Scopes, k.Exempt, k.Contract, k.SpendLimit, moment(k.CreatedAt), moment(k.ExpiresAt), moment(k.RevokedAt)})
	}
	return shown
}

// keysOf reads the keys of a server.
func keysOf(cmd *cobra.Command, c *connection) ([]shownKey, error) {
	list, _, err := fetch[controls.KeyList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return c.controls.ListKeys(ctx) })
	shown := []shownKey{}
	for _, k := range list.Keys {
		one := shownKey{
			ID: compute.KeyID(k.ID), Name: k.Name, User: compute.UserID(k.User), Exempt: k.Exempt,
			CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt,
		}
		for _, scope := range k.Scopes {
			one.Scopes = append(one.Scopes, compute.Scope(scope))
		}
		if k.Contract != nil {
			one.Contract = *k.Contract
		}
		if k.SpendLimit != nil {
			one.Spend = *k.SpendLimit
		}
		shown = append(shown, one)
	}
	return shown, err
}

// keyNamed gives the id of the key that is named by it or by its name, which a key that is not valid any more leaves to others.
func keyNamed(named string, keys []shownKey) (string, error) {
	var things []thing
	for _, k := range keys {
		if string(k.ID) == named {
			return named, nil
		}
		if k.RevokedAt == nil {
			things = append(things, thing{string(k.ID), k.Name})
		}
	}
	return kind{noun: "key", nouns: "keys"}.one(named, matching(named, things))
}

// printKeys prints keys.
func printKeys(cmd *cobra.Command, keys []shownKey) error {
	if asJSON(cmd) {
		return printJSON(cmd, map[string]any{"keys": keys})
	}
	return printTable(cmd, keyColumns, keys)
}

// printKey prints a new key: it is not to be had again, so that it is printed with --quiet, too.
func printKey(cmd *cobra.Command, id, token string) error {
	if asJSON(cmd) {
		return printJSON(cmd, map[string]any{"id": id, "key": token})
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), token)
	return err
}

func listKeysRemotely(cmd *cobra.Command) error {
	c, err := connect(cmd)
	if err != nil {
		return err
	}
	keys, err := keysOf(cmd, c)
	if err != nil {
		return err
	}
	return printKeys(cmd, keys)
}

func createKeyRemotely(cmd *cobra.Command, wanted controls.NewKey) error {
	return controlled(cmd, "making and revoking keys of a server take", func(c *connection) error {
		key, _, err := fetch[controls.Key](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return c.controls.CreateKey(ctx, wanted) })
		if err != nil {
			return err
		}
		return printKey(cmd, key.ID, key.Key)
	})
}

func revokeKeyRemotely(cmd *cobra.Command, named string) error {
	return controlled(cmd, "making and revoking keys of a server take", func(c *connection) error {
		keys, err := keysOf(cmd, c)
		if err != nil {
			return err
		}
		id, err := keyNamed(named, keys)
		if err != nil {
			return err
		}
		if _, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return c.controls.RevokeKey(ctx, id) }); err != nil {
			return err
		}
		return printDone(cmd, id, "revoked")
	})
}

// newKeyOf is what a server is asked for.
func newKeyOf(name, user string, scopes []string, exempt bool, contract string, spendLimit float64, expiry time.Duration) controls.NewKey {
	wanted := controls.NewKey{Scopes: scopes, Exempt: &exempt}
	if name != "" {
		wanted.Name = &name
	}
	if user != "" {
		wanted.User = &user
	}
	if contract != "" {
		wanted.Contract = &contract
	}
	if spendLimit > 0 {
		wanted.SpendLimit = &spendLimit
	}
	if expiry > 0 {
		wanted.ExpiresIn = new(cmp.Or(expiry.Milliseconds(), 1))
	}
	return wanted
}
