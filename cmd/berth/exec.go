package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term" // terminals differ from system to system

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/shell/wire"
)

// remoteExit is the exit code of a command that ran in a pod or worker: it is ours, too.
type remoteExit int

func (r remoteExit) Error() string { return fmt.Sprintf("the command ended with exit code %d", int(r)) }

// execFlags are what is asked for of a command.
type execFlags struct {
	stdin, tty bool
}

func (f *execFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.stdin, "stdin", "i", false, "pass the standard input to the command")
	cmd.Flags().BoolVarP(&f.tty, "tty", "t", false, "give the command a terminal")
}

const execLong = `Run a command in %s, beside what it runs: in its file system, as its user and with its environment. berth
exits with the exit code of the command. With -it the command has your terminal. Without a command it is a shell: bash if the image
has it, otherwise sh. The command ends when the connection does.`

func newPodExecCommand(r *resource[rest.Pod]) *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Use:               "exec POD [-- COMMAND...]",
		Short:             "Run a command in a pod",
		Long:              fmt.Sprintf(execLong, "a pod"),
		Example:           "  berth pods exec k3v9x2m1q8w7rt -- nvidia-smi\n  berth pods exec k3v9x2m1q8w7rt -it -- python\n  berth pods exec k3v9x2m1q8w7rt -i -- sh -c 'cat > /workspace/notes' < notes",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.hint(f.runInPod(cmd, args[0], args[1:]))
		},
	}
	f.add(cmd)
	return cmd
}

func newPodShellCommand(r *resource[rest.Pod]) *cobra.Command {
	return &cobra.Command{
		Use:               "shell POD",
		Short:             "Open a shell in a pod",
		Long:              "Open a shell in a pod, with your terminal: bash if the image has it, otherwise sh. It is the same as berth pods exec POD -it.",
		Example:           "  berth pods shell k3v9x2m1q8w7rt",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			f := execFlags{stdin: true, tty: true}
			return r.hint(f.runInPod(cmd, args[0], nil))
		},
	}
}

func newWorkerExecCommand(r *resource[rest.Endpoint]) *cobra.Command {
	var (
		f      execFlags
		worker string
	)
	cmd := &cobra.Command{
		Use:               "exec ENDPOINT [-- COMMAND...]",
		Short:             "Run a command in a worker",
		Long:              fmt.Sprintf(execLong, "a worker") + " Without --worker it is the newest worker that is up.",
		Example:           "  berth endpoints exec words -- env\n  berth endpoints exec words --worker w7x2k9m4q1 -it",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			endpoint, err := c.endpoint(cmd.Context(), args[0])
			if err != nil {
				return err
			}

			id := worker
			if id == "" {
				list, _, err := c.workersOf(cmd.Context(), endpoint)
				if err != nil {
					return r.hint(err)
				}
				if len(list.Workers) == 0 {
					return &failure{code: exitFailed, cause: fmt.Errorf("endpoint %s has no worker", args[0]), hint: "a job, or berth endpoints update --workers-min 1, starts one"}
				}
				id = newestUp(list.Workers)
			}

			in := func(server string, p controls.ExecPodParams) (*http.Request, error) {
				return controlsclient.NewExecWorkerRequest(server, endpoint, id, (*controls.ExecWorkerParams)(&p))
			}
			return hinted(f.run(cmd, c, in, args[1:]), fmt.Sprintf("berth endpoints workers %s shows those that there are", args[0]))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&worker, "worker", "", "id of the worker")
	return cmd
}

// newestUp gives the worker that is meant if none is named: the newest one that is up, else the newest one, of which the server says why no
// command runs in it.
func newestUp(workers []rest.Worker) string {
	for _, w := range workers {
		if w.StartedAt.Pointer() != nil {
			return w.ID
		}
	}
	return workers[0].ID
}

// execRequest makes the request that runs a command in something.
type execRequest func(server string, p controls.ExecPodParams) (*http.Request, error)

func podExec(id string) execRequest {
	return func(server string, p controls.ExecPodParams) (*http.Request, error) {
		return controlsclient.NewExecPodRequest(server, id, &p)
	}
}

// runInPod runs the command in the pod that is named.
func (f *execFlags) runInPod(cmd *cobra.Command, named string, command []string) error {
	c, err := connect(cmd)
	if err != nil {
		return err
	}
	id, err := c.pod(cmd.Context(), named)
	if err != nil {
		return err
	}
	return f.run(cmd, c, podExec(id), command)
}

// run runs the command with the streams of this one.
func (f *execFlags) run(cmd *cobra.Command, c *connection, in execRequest, command []string) error {
	e := runtime.Exec{Command: command, Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr()}
	if f.stdin || len(command) == 0 {
		e.Stdin = cmd.InOrStdin()
	}
	if f.tty {
		restore, err := f.terminal(cmd, &e)
		if err != nil {
			return err
		}
		defer restore()
	}
	return c.exec(cmd.Context(), in, e)
}

// terminal gives the command the terminal that this one has, until restore is called.
func (f *execFlags) terminal(cmd *cobra.Command, e *runtime.Exec) (restore func(), err error) {
	in, is := cmd.InOrStdin().(*os.File)
	if !is || !term.IsTerminal(int(in.Fd())) {
		return nil, misuse(errors.New("the standard input is no terminal"), "leave out -t, or call berth from a terminal")
	}
	size := func() (s runtime.Size) {
		if width, height, err := term.GetSize(int(in.Fd())); err == nil {
			s = runtime.Size{Width: uint16(width), Height: uint16(height)}
		}
		return s
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	changes, stop := followSize(size)
	e.TTY = &runtime.TTY{Size: size(), Resize: changes}
	return func() {
		stop()
		_ = term.Restore(int(in.Fd()), before)
	}, nil
}

// exec has the server run a command. The error is remoteExit if it ends with another code than 0.
func (c *connection) exec(ctx context.Context, in execRequest, e runtime.Exec) error {
	request, err := in(c.server, wire.Params(e))
	if err != nil {
		return err
	}
	if err := c.authorize(ctx, request); err != nil {
		return err
	}

	code, err := wire.Run(ctx, request, e)
	var (
		refused *wire.Refused
		address *url.Error
	)
	switch {
	case errors.As(err, &refused):
		return c.refused(&http.Response{StatusCode: refused.Code, Header: refused.Header}, refused.Body)
	case errors.As(err, &address):
		return c.unreached(err)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case code != 0:
		return remoteExit(code)
	}
	return nil
}

// output runs a command without input, and gives what it wrote to its standard output.
func (c *connection) output(ctx context.Context, in execRequest, stderr io.Writer, command ...string) (string, error) {
	var out limited
	err := c.exec(ctx, in, runtime.Exec{Command: command, Stdout: &out, Stderr: stderr})
	return string(out.text), err
}

// limited keeps the first bytes that are written.
type limited struct{ text []byte }

func (l *limited) Write(p []byte) (int, error) {
	const most = 64 << 10
	l.text = append(l.text, p[:min(len(p), most-len(l.text))]...)
	return len(p), nil
}
