package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

// devEndpoint is the name of the endpoint of berth dev.
const devEndpoint = "dev"

func newDevCommand() *cobra.Command {
	var asJSON bool
	var once string
	until := &waiting{wait: true}
	cmd := &cobra.Command{
		Use:   "dev HANDLER.py | dev -- COMMAND [ARG...]",
		Short: "Run the server with an endpoint for your handler",
		Long: `Run the server with one endpoint, "dev", whose worker is your handler: an unmodified worker program that takes its jobs
from the server. The worker is running before the first job, and what it prints is shown. It is restarted when the handler changes, or
a file of the same kind beside or below it, which it may import; a job that it holds is finished first.

A handler in Python is run by the Python of the first virtual environment that there is: that of VIRTUAL_ENV, .venv beside the handler,
.venv in the working directory, or the environment that berth itself is installed in. Otherwise it is the Python on the PATH.

With --input it runs one job with that input, prints the job when it has ended, and exits, with code 5 if the job did not complete, or
if the handler has ended 3 times and not taken it. --timeout bounds how long that may take. A job that has not ended by then is cancelled.

The key is kept in the data directory, in dev.key, for its owner alone, and is the same at every start.`,
		Example: `  berth dev handler.py
  berth dev handler.py --input '{"text": "hello"}'
  berth dev -- node worker.mjs`,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := devWorker(args, cmd.ArgsLenAtDash() == 0)
			if err != nil {
				return misuse(err, "see berth dev --help")
			}
			input, err := onceInput(cmd, once)
			if err != nil {
				return err
			}
			if input == nil && cmd.Flags().Changed("timeout") {
				return misuse(errors.New("--timeout goes with --input"), "see berth dev --help")
			}
			config, lines, err := setUp(cmd)
			if err != nil {
				return err
			}

			defer flush(lines)
			config.WorkerOutput = lines // beside the log, and as little waited for
			config.GraphQL.Playground = true
			config.Endpoints = []app.Endpoint{{Name: devEndpoint, Command: w.command, WorkersMin: 1, WorkersMax: 1}}

			ctx, end := context.WithCancel(cmd.Context())
			defer end()
			var outcome error // of the one job
			err = serve(ctx, config, func(s *app.Server) error {
				key, err := s.DevKey(cmd.Context())
				if err != nil {
					return err
				}
				if input != nil {
					outcome = runOnce(cmd, s, key, input, until)
					end()
					return nil
				}

				go newWatch(w.files, config.Data).run(cmd.Context(), func() {
					config.Log.Info("the handler or what it imports changed: its worker is replaced once it holds no job")
					s.ReplaceWorkers(devEndpoint)
				})
				if asJSON {
					return printReady(cmd.OutOrStdout(), s, key)
				}

				return w.greet(cmd.OutOrStdout(), s, key, config.Data)
			})
			return errors.Join(outcome, wrongValue(cmd, err))
		},
	}

	addSettings(cmd, cmd.Flags(), devSettings())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON (url, queueUrl, key, endpoints, and metricsUrl and ssh where there are such) when ready; with --input the job")
	cmd.Flags().StringVar(&once, "input", "", "run one job with this input, JSON, @FILE, or @- for the standard input, print it and end")
	waitingVar(cmd.Flags(), &until.timeout, "timeout", 0, "with --input, how long to wait for the end of the job; 0: for ever")
	return cmd
}

// devSettings are those of a server. What helps who develops is on, if it is not turned off.
func devSettings() []setting.Setting {
	all := settingsFor(setting.Server)
	for i, s := range all {
		if s.Name == "private-webhooks" || s.Name == "graphql-introspection" {
			all[i].Default = "true"
		}
	}
	return all
}

// devProgram is what the worker of berth dev is.
type devProgram struct {
	command []string
	python  string   // why it is this Python; empty: it is no handler in Python
	files   []string // those of the command that are watched, with what is below their directories
}

// devWorker gives the worker's program for the arguments of berth dev, dashed for a command.
func devWorker(args []string, dashed bool) (devProgram, error) {
	if len(args) == 0 {
		return devProgram{}, errors.New("name a handler file, or a command after --")
	}
	if dashed {
		if _, err := exec.LookPath(args[0]); err != nil {
			return devProgram{}, fmt.Errorf("the command of the worker: %w", err)
		}
		return devProgram{command: args, files: filesOf(args)}, nil
	}

	if filepath.Ext(args[0]) != ".py" {
		return devProgram{}, fmt.Errorf("%s is not a .py file; give any other worker as a command after --", args[0])
	}
	handler, err := filepath.Abs(args[0])
	if err != nil {
		return devProgram{}, err
	}

	switch info, err := os.Stat(handler); {
	case err != nil:
		return devProgram{}, fmt.Errorf("the handler file: %w", err)
	case !info.Mode().IsRegular():
		return devProgram{}, fmt.Errorf("the handler file: %s is no file", handler)
	}

	python, why, err := pythonFor(handler, os.Getenv("VIRTUAL_ENV"))
	return devProgram{command: append([]string{python, "-u", handler}, args[1:]...), python: why, files: []string{handler}}, err
}

// filesOf gives the arguments of a command that are files with an extension.
func filesOf(args []string) (files []string) {
	for _, a := range args {
		if info, err := os.Stat(a); err == nil && info.Mode().IsRegular() && filepath.Ext(a) != "" {
			if path, err := filepath.Abs(a); err == nil {
				files = append(files, path)
			}
		}
	}
	return files
}

// pythonFor gives the Python of the virtual environment at hand, or the one on the PATH, and where it is from. An environment that
// is named or there, and has no Python, is passed over.
func pythonFor(handler, environment string) (python, why string, err error) {
	places := []struct{ dir, why string }{
		{environment, "of the virtual environment in VIRTUAL_ENV"},
		{filepath.Join(filepath.Dir(handler), ".venv"), "of the virtual environment beside the handler"},
		{".venv", "of the virtual environment in the working directory"},
		{ownEnvironment(), "of the virtual environment that berth is installed in"},
	}

	for _, p := range places {
		if p.dir == "" {
			continue
		}
		inside := filepath.Join(p.dir, "bin", "python")
		if runtime.GOOS == "windows" {
			inside = filepath.Join(p.dir, "Scripts", "python.exe")
		}
		if path, err := exec.LookPath(inside); err == nil {
			path, err = filepath.Abs(path) // and no link is followed: the environment is found by the path
			return path, p.why, err
		}
	}

	for _, name := range []string{"python", "python3"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, "on the PATH: there is no virtual environment in VIRTUAL_ENV, beside the handler, here or around berth", nil
		}
	}

	return "", "", errors.New("there is no virtual environment in VIRTUAL_ENV, beside the handler, here or around berth, and neither python nor python3 is on the PATH")
}

// ownEnvironment is the virtual environment that this program is installed in, as pip and uv do; empty if it is in none.
func ownEnvironment() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return environmentOf(self)
}

// environmentOf is the virtual environment whose program that is; empty if it is of none.
func environmentOf(program string) string {
	root := filepath.Dir(filepath.Dir(program))
	if _, err := os.Stat(filepath.Join(root, "pyvenv.cfg")); err != nil {
		return ""
	}
	return root
}

// greet prints what a person needs: what serves, and lines to paste.
func (w devProgram) greet(out io.Writer, s *app.Server, key, data string) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "berth serves %s at %s (data in %s)\n", strings.Join(w.command, " "), s.URL(), data)
	if w.python != "" {
		fmt.Fprintf(text, "Python is %s, %s\n", w.command[0], w.python)
	}
	printPages(text, s)

	watched := "The worker is started anew when the handler or what it imports changes."
	if len(w.files) == 0 {
		watched = "No file of the command is watched: start berth dev again when one changes."
	}
	fmt.Fprintf(text, `%s

Paste this to run a job:

  %s

or, with the Python SDK:

  import runpod
  runpod.api_key, runpod.endpoint_url_base = "%s", "%s/v2"
  print(runpod.Endpoint("%s").run_sync({"input": {"hello": "dev"}}))

or, with this program:

  export BERTH_SERVER=%s BERTH_KEY=%s
  berth jobs run dev --input '{"hello":"dev"}' --wait

`, watched, runSyncLine(s, devEndpoint, key), key, s.QueueURL(), s.Endpoints()[devEndpoint], s.URL(), key)

	_, err := io.WriteString(out, text.String())
	return err
}

// run looks for changes, and calls changed for each, until ctx ends.
func (w *watch) run(ctx context.Context, changed func()) {
	for pausing(ctx, w.pause()) == nil {
		if w.changed() {
			changed()
		}
	}
}
