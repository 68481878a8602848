package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
)

func newKeysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Long: `Create, list and revoke the API keys of a data directory, or of a database that --store names, whether a server runs on it or not. A running server knows a
new key at once, and that one was revoked within a second. One that is older than this program and has a database of an
earlier version must be stopped first.

With --server they are the keys of the server there: listing takes a key with the scope admin, and the rest the key of the test controls.`,
	}
	addSettings(cmd, cmd.PersistentFlags(), settingsNamed("data", "store"))
	addConnection(cmd)
	cmd.AddCommand(newKeysCreateCommand(), newKeysListCommand(), newKeysRevokeCommand())
	for _, sub := range cmd.Commands() {
		sub.PreRunE = func(cmd *cobra.Command, _ []string) error {
			if remote(cmd) && (cmd.Flags().Changed("data") || cmd.Flags().Changed("store")) {
				return misuse(errors.New("--server is for the keys of a server, --data and --store for those of a database here"), "leave out one of them")
			}
			return nil
		}
	}
	return cmd
}

// withKeys opens the keys for f.
func withKeys(cmd *cobra.Command, f func(*app.Keys) error) error {
	data, _ := cmd.Flags().GetString("data")
	url, _ := cmd.Flags().GetString("store")
	keys, err := app.OpenKeys(cmd.Context(), data, url)
	if err != nil {
		return err
	}
	return errors.Join(f(keys), keys.Close())
}

func newKeysCreateCommand() *cobra.Command {
	var name, user string
	var scopes []string
	var exempt bool
	var contract string
	var spendLimit float64

	var expiry time.Duration
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a key and print it, once",
		Example: `  berth keys create --name ci --scope rest:read --scope 'queue:*:invoke' --expires-in 24h
  berth keys create --name 'my workers' --scope queue:f08vqgrv1p2xkd:work
  berth keys create --user somebody`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range scopes {
				if err := app.CheckScope(s); err != nil {
					return misuse(fmt.Errorf("--%w", err), "") // scope "x": …
				}
			}

			if contract != "" {
				var err error
				if contract, err = app.Contract(contract); err != nil {
					return misuse(fmt.Errorf("--contract: %w", err), "")
				}
			}

			if expiry < 0 {
				return misuse(errors.New("--expires-in must not be negative"), "")
			}

			if cmd.Flags().Changed("user") && user == "" {
				return misuse(errors.New("--user must name a user"), "")
			}

			if !(spendLimit >= 0 && spendLimit <= math.MaxFloat64) { // nor where it is no number
				return misuse(errors.New("--spend-limit must be a number of USD that is not negative"), "")
			}

			wanted := app.NewKey(name, scopes, exempt, expiry)
			wanted.Contract, wanted.SpendLimit = contract, spendLimit
			if remote(cmd) {
				return createKeyRemotely(cmd, newKeyOf(name, user, scopes, exempt, contract, spendLimit, expiry))
			}
			return withKeys(cmd, func(keys *app.Keys) error {
				wanted.UserID = cmp.Or(compute.UserID(user), wanted.UserID)
				key, token, err := keys.Create(cmd.Context(), wanted)
				if err != nil {
					return refusedField(err, map[string]string{"/user": "--user", "/scopes": "--scope"})
				}
				return printKey(cmd, string(key.ID), token)
			})
		},
	}

	cmd.Flags().StringVar(&name, "name", "", "what the key is for")
	cmd.Flags().StringVar(&user, "user", "", "whose it is: pods, endpoints and all else of one user another one does not see; without it the owner of the server")
	cmd.Flags().StringArrayVar(&scopes, "scope", []string{string(compute.ScopeAll)}, "a permission; repeatable: "+app.ScopeWords)
	cmd.Flags().BoolVar(&exempt, "exempt", false, "from rate limits")
	cmd.Flags().StringVar(&contract, "contract", "", "the edition of the contract that its requests are of, unless they name one: "+strings.Join(app.Contracts(), ", ")+"; empty: the server's")
	cmd.Flags().Float64Var(&spendLimit, "spend-limit", 0, "USD an hour: pods that would bring what the user's cost over this are refused with 402; 0: there is no limit")
	cmd.Flags().DurationVar(&expiry, "expires-in", 0, "how long it is valid; 0: for ever")
	return cmd
}

func newKeysListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the keys, without their secrets",
		Example: "  berth keys list --data /var/lib/berth --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if remote(cmd) {
				return listKeysRemotely(cmd)
			}
			return withKeys(cmd, func(keys *app.Keys) error { return printKeys(cmd, shownKeys(keys)) })
		},
	}
}

func newKeysRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke KEY",
		Aliases: []string{"delete", "rm"},
		Short:   "Make a key invalid for good",
		Long:    "Make a key invalid for good. It is named by its id, or by its name where no other key that is valid has it.",
		Example: "  berth keys revoke gbeykwuu82\n  berth keys revoke ci",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if remote(cmd) {
				return revokeKeyRemotely(cmd, args[0])
			}
			return withKeys(cmd, func(keys *app.Keys) error {
				id, err := keyNamed(args[0], shownKeys(keys))
				if err != nil {
					return err
				}
				if err := keys.Revoke(cmd.Context(), compute.KeyID(id)); err != nil {
					return err
				}
				return printDone(cmd, id, "revoked")
			})
		},
	}
}

// shownKey is a key without its secret, whose times may be null.
type shownKey struct {
	ID        compute.KeyID   `json:"id"`
	Name      string          `json:"name"`
	User      compute.UserID  `json:"user"`
	Scopes    []compute.Scope `json:"scopes"`
	Exempt    bool            `json:"exempt"`
	Contract  string          `json:"contract"`   // empty: the server's
	Spend     float64         `json:"spendLimit"` // USD an hour; 0: none
	CreatedAt *time.Time      `json:"createdAt"`
	ExpiresAt *time.Time      `json:"expiresAt"`
	RevokedAt *time.Time      `json:"revokedAt"`
}

var keyColumns = []column[shownKey]{
	{head: "ID", value: func(k shownKey) string { return string(k.ID) }},
	{head: "NAME", value: func(k shownKey) string { return k.Name }},
	{head: "USER", value: func(k shownKey) string { return string(k.User) }},
	{head: "SCOPES", value: func(k shownKey) string { return join(k.Scopes) }},
	{head: "EXEMPT", value: func(k shownKey) string { return textOf(k.Exempt) }},
	{head: "CONTRACT", value: func(k shownKey) string { return k.Contract }},
	{head: "SPEND LIMIT", value: func(k shownKey) string { return spendLimit(k.Spend) }},
	{head: "CREATED", value: func(k shownKey) string { return pointed(k.CreatedAt) }},
	{head: "EXPIRES", value: func(k shownKey) string { return pointed(k.ExpiresAt) }},
	{head: "REVOKED", value: func(k shownKey) string { return pointed(k.RevokedAt) }},
}

// spendLimit is how many USD an hour a key may cost; empty: as many as it likes.
func spendLimit(limit float64) string {
	if limit == 0 {
		return pointed[float64](nil)
	}
	return textOf(limit)
}

// moment is nil for no time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
