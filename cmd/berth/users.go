package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
)

func newUsersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "users", Aliases: []string{"user"}, Short: "List, make, change and delete users, and say what their keys permit at most",
		Long: `List, make, change and delete the users of a data directory, or of a database that --store names, whether a server runs on it or not. A running
server knows of a change within a second. One that is older than this program and has a database of an earlier version must be stopped first.

The keys of a user permit what their scopes and its role allow: an admin everything, a member everything but the scope admin, and a reader
rest:read and graphql:read alone. A user that is disabled is refused with every key, and what it runs goes on.

With --server they are the users of the server there, for a key with the scope admin; a change counts at once.`,
	}
	addSettings(cmd, cmd.PersistentFlags(), settingsNamed("data", "store"))
	addConnection(cmd)
	cmd.AddCommand(newUsersListCommand(), newUsersCreateCommand(), newUsersSetRoleCommand(), newUsersDisableCommand(), newUsersEnableCommand(), newUsersDeleteCommand())
	for _, sub := range cmd.Commands() {
		sub.PreRunE = func(cmd *cobra.Command, _ []string) error {
			if remote(cmd) && (cmd.Flags().Changed("data") || cmd.Flags().Changed("store")) {
				return misuse(errors.New("--server is for the users of a server, --data and --store for those of a database here"), "leave out one of them")
			}
			return nil
		}
	}
	return cmd
}

// shownUser is a user, whose time may be null.
type shownUser struct {
	Name      compute.UserID `json:"name"`
	Role      compute.Role   `json:"role"`
	Disabled  bool           `json:"disabled"`
	CreatedAt *time.Time     `json:"createdAt"`
}

func shownUserOf(u compute.User) shownUser {
	return shownUser{u.Name, u.Role, u.Disabled, moment(u.CreatedAt)}
}

func servedUser(u controls.User) shownUser {
	return shownUser{compute.UserID(u.Name), compute.Role(u.Role), u.Disabled, u.CreatedAt}
}

var userColumns = []column[shownUser]{
	{head: "NAME", value: func(u shownUser) string { return string(u.Name) }},
	{head: "ROLE", value: func(u shownUser) string { return string(u.Role) }},
	{head: "DISABLED", value: func(u shownUser) string { return textOf(u.Disabled) }},
	{head: "CREATED", value: func(u shownUser) string { return pointed(u.CreatedAt) }},
}

// withUsers opens the users of a database for f.
func withUsers(cmd *cobra.Command, f func(*app.Keys) error) error {
	data, _ := cmd.Flags().GetString("data")
	url, _ := cmd.Flags().GetString("store")
	keys, err := app.OpenUsers(cmd.Context(), data, url)
	if err != nil {
		return err
	}
	err = f(keys)
	if compute.CodeOf(err) == compute.NotFound {
		err = &failure{code: exitFailed, cause: err, hint: "berth users list shows those that there are"}
	}
	return errors.Join(err, keys.Close())
}

// usersOf lists the users of a server, or of a database.
func usersOf(cmd *cobra.Command) (shown []shownUser, err error) {
	shown = []shownUser{}
	if !remote(cmd) {
		return shown, withUsers(cmd, func(keys *app.Keys) error {
			users, err := keys.Users(cmd.Context())
			for _, u := range users {
				shown = append(shown, shownUserOf(u))
			}
			return err
		})
	}

	c, err := connect(cmd)
	if err != nil {
		return shown, err
	}
	list, _, err := fetch[controls.UserList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return c.controls.ListUsers(ctx) })
	for _, u := range list.Users {
		shown = append(shown, servedUser(u))
	}
	return shown, err
}

// printUser prints the user that is the answer of a server, or else the one that change gives of a database.
func printUser(cmd *cobra.Command, ask func(*connection) request, change func(*app.Keys) (compute.User, error)) error {
	var shown shownUser
	if remote(cmd) {
		c, err := connect(cmd)
		if err != nil {
			return err
		}
		u, _, err := fetch[controls.User](cmd.Context(), c, ask(c))
		if err != nil {
			return err
		}
		shown = servedUser(u)
	} else {
		err := withUsers(cmd, func(keys *app.Keys) error {
			u, err := change(keys)
			shown = shownUserOf(u)
			return err
		})
		if err != nil {
			return err
		}
	}

	if asJSON(cmd) {
		return printJSON(cmd, shown)
	}
	return printTable(cmd, userColumns, []shownUser{shown})
}

// changeUser changes a user and prints it.
func changeUser(cmd *cobra.Command, name string, change compute.UserChange) error {
	return printUser(cmd, func(c *connection) request {
		wanted := controls.UserChange{Disabled: change.Disabled}
		if change.Role != nil {
			wanted.Role = new(controls.UserChangeRole(*change.Role))
		}
		return func(ctx context.Context) (*http.Response, error) { return c.controls.ChangeUser(ctx, name, wanted) }
	}, func(keys *app.Keys) (compute.User, error) {
		return keys.ChangeUser(cmd.Context(), compute.UserID(name), change)
	})
}

// roleWords are the names of the roles.
func roleWords() (all []string) {
	for _, r := range compute.Roles {
		all = append(all, string(r))
	}
	return all
}

// role gives the role of the name; where says in which place that is.
func role(name, where string) (compute.Role, error) {
	if r := compute.Role(name); compute.IsRole(r) {
		return r, nil
	}
	return "", choiceError(where, name, roleWords())
}

// offerUsers offers the names of users for the first argument, and then the words.
func offerUsers(then ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) (offered []string, _ cobra.ShellCompDirective) {
		switch {
		case len(args) == 1:
			return then, cobra.ShellCompDirectiveNoFileComp
		case len(args) > 1 || resolve(cmd) != nil:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}

		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, cancel := context.WithTimeout(ctx, completionTime)
		defer cancel()
		cmd.SetContext(ctx)
		users, err := usersOf(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp // a shell has no place for errors
		}
		for _, u := range users {
			offered = append(offered, string(u.Name)+"\t"+string(u.Role))
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

func newUsersListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the users and their roles", Args: cobra.NoArgs,
		Example: "  berth users list --data /var/lib/berth --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			users, err := usersOf(cmd)
			if err != nil {
				return err
			}
			if asJSON(cmd) {
				return printJSON(cmd, map[string]any{"users": users})
			}
			return printTable(cmd, userColumns, users)
		},
	}
}

func newUsersCreateCommand() *cobra.Command {
	var named string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a user, who has no key yet", Args: cobra.ExactArgs(1),
		Long: `Make a user, who has no key yet: berth keys create --user NAME makes one. Without this, the first key that is made for a user makes the user, as
a member, or as an admin if the key has the scope admin.`,
		Example: `  berth users create auditor --role reader
  berth keys create --user auditor`,
		RunE: func(cmd *cobra.Command, args []string) error {
			as, err := role(named, "--role")
			if err != nil {
				return err
			}
			name := compute.UserID(args[0])
			if wrong := compute.CheckUserName(name); wrong != "" {
				return misuse(fmt.Errorf("NAME: %q: %s", name, wrong), "")
			}
			return printUser(cmd, func(c *connection) request {
				wanted := controls.NewUser{Name: args[0], Role: new(controls.NewUserRole(as))}
				return func(ctx context.Context) (*http.Response, error) { return c.controls.CreateUser(ctx, wanted) }
			}, func(keys *app.Keys) (compute.User, error) { return keys.CreateUser(cmd.Context(), name, as) })
		},
	}
	cmd.Flags().StringVar(&named, "role", string(compute.RoleMember), "what its keys permit at most: "+strings.Join(roleWords(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("role", words(roleWords()...).values)
	return cmd
}

func newUsersSetRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set-role NAME ROLE", Short: "Give a user another role", Args: cobra.ExactArgs(2),
		Long:              "Give a user another role: admin, member or reader. Its keys stay, and permit what the role allows. The last admin who is not disabled stays an admin.",
		Example:           "  berth users set-role auditor member",
		ValidArgsFunction: offerUsers(roleWords()...),
		RunE: func(cmd *cobra.Command, args []string) error {
			as, err := role(args[1], "ROLE")
			if err != nil {
				return err
			}
			return changeUser(cmd, args[0], compute.UserChange{Role: &as})
		},
	}
}

func newUsersDisableCommand() *cobra.Command {
	return &cobra.Command{
		Use: "disable NAME", Short: "Refuse a user with every key; what it runs goes on", Args: cobra.ExactArgs(1),
		Example: "  berth users disable auditor", ValidArgsFunction: offerUsers(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeUser(cmd, args[0], compute.UserChange{Disabled: new(true)})
		},
	}
}

func newUsersEnableCommand() *cobra.Command {
	return &cobra.Command{
		Use: "enable NAME", Short: "Accept a user again that was disabled", Args: cobra.ExactArgs(1),
		Example: "  berth users enable auditor", ValidArgsFunction: offerUsers(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeUser(cmd, args[0], compute.UserChange{Disabled: new(false)})
		},
	}
}

func newUsersDeleteCommand() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "delete NAME", Aliases: []string{"remove", "rm"}, Short: "Delete a user and revoke its keys", Args: cobra.ExactArgs(1),
		Long: `Delete a user and revoke its keys. One that has pods, endpoints, clusters, volumes, templates, registries, delegations, secrets, SSH keys or apps
is not deleted, unless --keep-resources says that these stay as they are. Nobody reaches them then, until there is a user of that name again.`,
		Example: "  berth users delete auditor\n  berth users delete somebody --keep-resources", ValidArgsFunction: offerUsers(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if remote(cmd) {
				c, err := connect(cmd)
				if err != nil {
					return err
				}
				p := &controls.DeleteUserParams{KeepResources: &keep}
				if _, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return c.controls.DeleteUser(ctx, args[0], p) }); err != nil {
					return err
				}
				return printDone(cmd, args[0], "deleted")
			}
			return withUsers(cmd, func(keys *app.Keys) error {
				if err := keys.DeleteUser(cmd.Context(), compute.UserID(args[0]), keep); err != nil {
					return err
				}
				return printDone(cmd, args[0], "deleted")
			})
		},
	}
	cmd.Flags().BoolVar(&keep, "keep-resources", false, "delete it although it has resources, which stay as they are")
	return cmd
}
