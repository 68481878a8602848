package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/record"
)

// recordListen is where the proxy and the player listen by default, beside a server.
const recordListen = "127.0.0.1:8766"

// upstreamFlags say where a service is.
type upstreamFlags struct{ rest, queue, graphql string }

// read gives the service; the names are those of the flags.
func (u upstreamFlags) read(restFlag, queueFlag, graphqlFlag string) (up record.Upstream, err error) {
	for _, base := range []struct {
		flag, address string
		to            **url.URL
	}{{restFlag, u.rest, &up.REST}, {queueFlag, u.queue, &up.Queue}, {graphqlFlag, u.graphql, &up.GraphQL}} {
		if base.address == "" && base.flag != restFlag {
			continue
		}
		if !isBase(base.address) {
			return up, misuse(fmt.Errorf("--%s: %q is not an http or https URL", base.flag, withoutPassword(base.address)), "")
		}
		if *base.to, err = url.Parse(base.address); err != nil {
			return up, misuse(fmt.Errorf("--%s: %w", base.flag, err), "")
		}
	}
	return up, nil
}

// cutTime is how long the recorder waits for exchanges that were cut off, which are written then.
const cutTime = 2 * time.Second

func newRecordCommand() *cobra.Command {
	var to upstreamFlags
	var listen string
	var most, body int

	cmd := &cobra.Command{
		Use: "record FILE", Short: "Record what a client and a service say to each other, as a proxy between them", Args: cobra.ExactArgs(1),
		Long: `Pass requests on to a service, and keep each with its answer as a line of JSON in FILE, which is on disk when the client is answered. Point the
client at --listen instead of the service, with its own key. The recorder serves REST, the queue and GraphQL at the paths of a berth. Keys, cookies and other
secrets are masked before anything is kept. The upstream's certificate is checked as always.

Bodies longer than --body, and everything after the first --most exchanges, are passed on and not kept, and the recorder says so. FILE must not exist yet.`,
		Example: `  berth record --upstream http://127.0.0.1:8765 session.jsonl
  berth record --upstream https://rest.example.com --queue-upstream https://api.example.com --graphql-upstream https://api.example.com session.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			upstream, err := to.read("upstream", "queue-upstream", "graphql-upstream")
			if err != nil {
				return err
			}
			if most < 1 || body < 1 {
				return misuse(errors.New("--most and --body are at least 1"), "")
			}
			l, err := listenAt(cmd.Context(), listen)
			if err != nil {
				return err
			}
			file, err := record.Create(args[0], withoutPassword(upstream.REST.String()), time.Now())
			if err != nil {
				return errors.Join(existing(err), l.Close())
			}
			proxy, err := record.NewRecorder(record.Settings{
				Upstream: upstream, Most: most, Body: body, Say: func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), "berth:", oneLine(text)) },
			}, file)
			if err != nil {
				return errors.Join(err, l.Close(), file.Close())
			}
			err = front(cmd, l, proxy, fmt.Sprintf("records what goes to %s in %s", withoutPassword(upstream.REST.String()), args[0]))
			proxy.Wait(cutTime) // streams were cut off a moment ago: they are kept as far as they were read
			return errors.Join(err, file.Close())
		},
	}

	flags := cmd.Flags()
	flags.StringVar(&to.rest, "upstream", "", "base address of the service")
	flags.StringVar(&to.queue, "queue-upstream", "", "base address of its queue, if that is different")
	flags.StringVar(&to.graphql, "graphql-upstream", "", "base address of its GraphQL, to which /graphql is added, if it is another one")
	flags.StringVar(&listen, "listen", recordListen, "address to listen at; port 0: any free one")
	flags.IntVar(&most, "most", record.DefaultMost, "how many exchanges to keep")
	flags.IntVar(&body, "body", record.DefaultBody, "how many bytes of a body to keep")
	return cmd
}

// existing gives the failure of a file that cannot be made.
func existing(err error) error {
	if errors.Is(err, os.ErrExist) {
		return misuse(err, "a recording is never overwritten: remove it, or name another file")
	}
	return err
}

func newPlayCommand() *cobra.Command {
	var listen string
	var latency bool

	cmd := &cobra.Command{
		Use: "play FILE", Short: "Answer requests from a recording", Args: cobra.ExactArgs(1),
		Long: `Answer requests as the recorded service did: by method, path, query and body, where the order of members and how a number is written make no
difference. Equal requests are answered in the order in which they were recorded, and the last answer is repeated. Any key is accepted if one was sent.
A request that the recording does not have gets 404, with the nearest exchange and how it differs.`,
		Example: `  berth play session.jsonl
  berth play session.jsonl --listen 127.0.0.1:0 --latency --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			recording, err := readRecording(args[0])
			if err != nil {
				return err
			}
			player, err := record.NewPlayer(recording)
			if err != nil {
				return err
			}
			player.Latency = latency
			l, err := listenAt(cmd.Context(), listen)
			if err != nil {
				return err
			}
			return front(cmd, l, player, fmt.Sprintf("plays the %d exchanges of %s", len(recording.Exchanges), args[0]))
		},
	}
	cmd.Flags().StringVar(&listen, "listen", recordListen, "address to listen at; port 0: any free one")
	cmd.Flags().BoolVar(&latency, "latency", false, "wait before each answer as long as it took when it was recorded")
	return cmd
}

// readRecording reads a recording; one that is wrong is a misuse.
func readRecording(file string) (*record.Recording, error) {
	r, err := record.Load(file)
	return r, misuse(err, "berth record writes recordings")
}

// listenAt listens at the address of --listen, which the error names.
func listenAt(ctx context.Context, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		return l, nil
	}
	if wrong, is := errors.AsType[*net.AddrError](err); is {
		return nil, misuse(fmt.Errorf("--listen %q: %s: it must be HOST:PORT, such as 127.0.0.1:8765; port 0 picks one", address, wrong.Err), "")
	}
	f := &failure{code: exitFailed, cause: fmt.Errorf("--listen %q: %w", address, err)}
	if errors.Is(err, syscall.EADDRINUSE) {
		f.hint = "another program listens there; choose another address with --listen, such as 127.0.0.1:0 for any free port"
	}
	return nil, f
}

// How long clients of the proxy and the player may take for the head of a request, and how long exchanges may go on when it ends.
const (
	headTime = 10 * time.Second
	stopTime = 5 * time.Second
)

// front serves until the command is interrupted, which is how it ends. What it prints first says where, as a line of JSON if that is asked for.
func front(cmd *cobra.Command, l net.Listener, h http.Handler, does string) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: headTime, ErrorLog: log.New(io.Discard, "", 0)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	address := "http://" + l.Addr().String()
	if asJSON(cmd) {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]string{"url": address}); err != nil {
			return errors.Join(err, server.Close())
		}
	} else {
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", address, does)
	}

	select {
	case err := <-failed:
		return err
	case <-cmd.Context().Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), stopTime)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return server.Close() // streams have no end of their own
	}
	return nil
}

// keyOf gives the key of a side: that of its flag or of its variable, else the one for both.
func keyOf(flag, variable, both string) string { return cmp.Or(flag, os.Getenv(variable), both) }
