package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
)

func newKeysCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Long: `Create, list and revoke the API keys of a data directory, whether a server runs on it or not. A running server knows a
change within a second.`,
	}
	cmd.PersistentFlags().StringVar(&data, "data", "berth-data", "directory of the database")
	cmd.AddCommand(newKeysCreateCommand(&data), newKeysListCommand(&data), newKeysRevokeCommand(&data))
	return cmd
}

// withKeys opens the keys for f.
func withKeys(cmd *cobra.Command, data string, f func(*app.Keys) error) error {
	keys, err := app.OpenKeys(cmd.Context(), data)
	if err != nil {
		return err
	}
	return errors.Join(f(keys), keys.Close())
}

func newKeysCreateCommand(data *string) *cobra.Command {
	var name string
	var scopes []string
	var exempt bool
	var expiry time.Duration
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Create a key and print it, once",
		Example: "  berth keys create --name ci --scope rest:read --scope 'queue:*:invoke' --expires-in 24h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range scopes {
				if err := app.CheckScope(s); err != nil {
					return err
				}
			}
			if expiry < 0 {
				return errors.New("--expires-in must not be negative")
			}
			return withKeys(cmd, *data, func(keys *app.Keys) error {
				_, token, err := keys.Create(cmd.Context(), app.NewKey(name, scopes, exempt, expiry))
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what the key is for")
	cmd.Flags().StringArrayVar(&scopes, "scope", []string{string(compute.ScopeAll)}, "a permission; repeatable: all, admin, rest:read, rest:write, graphql:read, graphql:write, queue:<endpoint id or *>:invoke")
	cmd.Flags().BoolVar(&exempt, "exempt", false, "from rate limits")
	cmd.Flags().DurationVar(&expiry, "expires-in", 0, "how long it is valid; 0: for ever")
	return cmd
}

func newKeysListCommand(data *string) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the keys, without their secrets",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withKeys(cmd, *data, func(keys *app.Keys) error {
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "ID\tNAME\tSCOPES\tEXEMPT\tCREATED\tEXPIRES\tREVOKED")
				for _, k := range keys.Keys(false) {
					var scopes []string
					for _, s := range k.Scopes {
						scopes = append(scopes, string(s))
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%t\t%s\t%s\t%s\n", k.ID, k.Name, strings.Join(scopes, ","), k.Exempt,
						moment(k.CreatedAt), moment(k.ExpiresAt), moment(k.RevokedAt))
				}
				return w.Flush()
			})
		},
	}
}

func newKeysRevokeCommand(data *string) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Make a key invalid for good",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withKeys(cmd, *data, func(keys *app.Keys) error {
				return keys.Revoke(cmd.Context(), compute.KeyID(args[0]))
			})
		},
	}
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.RFC3339)
}
