// Command berth is the whole service in one program: the server, a worker, and the tools around them. Cobra reads the
// command line: it is what the field uses.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker, else it is that of the module, which go install knows.
var version = "dev"

func main() {
	version = orModule(version, debug.ReadBuildInfo)
	ctx, stop := untilSignal(context.Background())
	code := conclude(ctx, os.Stderr, newCommandFor(os.Args[1:]).ExecuteContext(ctx))
	stop()
	os.Exit(code)
}

// untilSignal gives a context that ends when the program is to end: interrupted, terminated, or hung up as its terminal closes. Who was
// started with hang-ups ignored, as by nohup, goes on; they are caught there, too, since what is ignored would be so in every program that
// this one starts, and a shell in a pod has to end with its session.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	if signal.Ignored(syscall.SIGHUP) {
		signals = signals[:2]
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}

// orModule gives the version of the module that the program was built from, where the linker set none and Go knows it.
func orModule(linked string, read func() (*debug.BuildInfo, bool)) string {
	if build, ok := read(); ok && linked == "dev" && strings.HasPrefix(build.Main.Version, "v") {
		return build.Main.Version
	}
	return linked
}

// entry is a command below the root. Making them all takes longer than what most are called for.
type entry struct {
	name string
	make func() *cobra.Command
}

// The commands, in the two groups of the help.
var (
	serverCommands = []entry{
		{"serve", newServeCommand}, {"dev", newDevCommand}, {"worker", newWorkerCommand}, {"keys", newKeysCommand}, {"users", newUsersCommand}, {"migrate", newMigrateCommand}, {"backup", newBackupCommand}, {"restore", newRestoreCommand}, {"check", newCheckCommand}, {"seed", newSeedCommand}, {"conformance", newConformanceCommand},
		{"record", newRecordCommand}, {"play", newPlayCommand}, {"compare", newCompareCommand},
		{"doctor", newDoctorCommand}, {"docs", newDocsCommand}, {"spec", newSpecCommand}, {"config", newConfigCommand}, {"version", newVersionCommand}, {"healthcheck", newHealthcheckCommand},
	}
	clientCommands = []entry{
		{"pods", newPodsCommand}, {"jobs", newJobsCommand}, {"endpoints", newEndpointsCommand}, {"build", func() *cobra.Command { return endpoints().kind().again(newBuildCommand()) }}, {"templates", newTemplatesCommand},
		{"clusters", newClustersCommand}, {"volumes", newVolumesCommand}, {"global-volumes", newGlobalVolumesCommand}, {"secrets", newSecretsCommand}, {"registries", newRegistriesCommand}, {"ssh-keys", newSSHKeysCommand}, {"catalog", newCatalogCommand}, {"billing", newBillingCommand}, {"whoami", newWhoamiCommand},
		{"hosts", newHostsCommand}, {"journal", newJournalCommand}, {"faults", newFaultsCommand}, {"script", newScriptCommand}, {"clock", newClockCommand}, {"webhooks", newWebhooksCommand},
		{"states", newStatesCommand}, {"controls", newControlsCommand}, {"costs", newCostsCommand}, {"history", newHistoryCommand}, {"events", newEventsCommand}, {"audit", newAuditCommand},
	}
)

// newCommand makes berth with every command.
func newCommand() *cobra.Command {
	root := newRoot(serverCommands, clientCommands)
	checkHelp(root)
	root.AddCommand(newCompletionCommand())
	return finished(root)
}

func finished(root *cobra.Command) *cobra.Command {
	finish(root)
	return root
}

// newCommandFor makes berth for a call with these arguments: with the one command that the first of them names, which needs none
// of the others, else with every one, since help, completion and hints name them all.
func newCommandFor(args []string) *cobra.Command {
	if len(args) > 0 {
		named := func(e entry) bool { return e.name == args[0] }
		if i := slices.IndexFunc(serverCommands, named); i >= 0 {
			return finished(newRoot(serverCommands[i:i+1], nil))
		}
		if i := slices.IndexFunc(clientCommands, named); i >= 0 {
			return finished(newRoot(nil, clientCommands[i:i+1]))
		}
	}
	return newCommand()
}

func newRoot(serverCommands, clientCommands []entry) *cobra.Command {
	root := &cobra.Command{
		Use:   "berth",
		Short: "Pods and serverless jobs on your own machines",
		Long: `Pods and serverless jobs on your own machines: the server, and the commands that speak to one over HTTP.

berth takes a setting from its flag, otherwise from the environment (--queue-listen is BERTH_QUEUE_LISTEN), otherwise from the
configuration file (queue-listen: …), and otherwise uses the default; see berth config --help.

` + exitCodes,
		Example: `  berth serve --endpoint 'echo=berth worker --handler echo'
  export BERTH_KEY=brt_...
  berth pods create --name first --image ubuntu:24.04 --cpu cpu3g --vcpus 2 --wait
  berth jobs run echo --input '{"hello":"berth"}' --follow`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil { // cobra does it later, when it is no misuse any more
				return misuse(err, fmt.Sprintf("see %s --help", cmd.CommandPath()))
			}
			return resolve(cmd)
		},
	}

	root.PersistentFlags().Bool("json", false, "print JSON")
	root.PersistentFlags().BoolP("quiet", "q", false, "print only ids, one per line, and nothing if there are none")
	root.Flags().Bool("version", false, "print the version")
	root.PersistentFlags().String("config", "", "configuration file; without it BERTH_CONFIG, otherwise berth/config.yaml in your configuration directory, if it exists")
	_ = root.MarkPersistentFlagFilename("config", "yaml", "yml")
	server := &cobra.Group{ID: "server", Title: "The server and its tools:"}
	client := &cobra.Group{ID: "client", Title: "What speaks to a server:"}
	root.AddGroup(server, client)

	for _, e := range serverCommands {
		cmd := e.make()
		cmd.GroupID = server.ID
		root.AddCommand(cmd)
	}

	for _, e := range clientCommands {
		cmd := e.make()
		cmd.GroupID = client.ID
		addConnection(cmd)
		root.AddCommand(cmd)
	}

	return root
}

// finish makes every wrong call of a command below cmd a failure with its exit code and a hint. A command that only has others
// below it shows its help, and refuses what is none of them.
func finish(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return miscall(cmd, flagError(err), nearFlags(cmd, err)) })
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if wanted, _ := cmd.Flags().GetBool("version"); wanted {
				return printVersion(cmd)
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			return miscall(cmd, fmt.Errorf("there is no command %s %s", cmd.CommandPath(), args[0]), nearCommands(cmd, args[0]))
		}
	}

	if check := cmd.Args; check != nil {
		cmd.Args = checkedArguments(check)
	}
	for _, sub := range cmd.Commands() {
		finish(sub)
	}
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version; with --json also the version of Go it was built with, and for which system.",
		Example: "  berth version --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd) },
	}
}

func printVersion(cmd *cobra.Command) error {
	if asJSON(cmd) {
		return printJSON(cmd, map[string]string{"version": version, "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), "berth", version)
	return err
}
