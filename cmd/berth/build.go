package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

const (
	sendTime   = time.Hour              // for an archive to be sent
	cancelTime = 10 * time.Second       // for a build to be cancelled
	buildPause = 500 * time.Millisecond // between looks at a build
)

func newBuildCommand() *cobra.Command {
	var detach bool
	cmd := &cobra.Command{
		Use:   "build ENDPOINT PATH",
		Short: "Build the image of an endpoint from a folder or a tar archive",
		Long: `Build the image of an endpoint from a folder or a tar archive, which may be compressed with gzip, and has a Dockerfile at its top.
The server's engine runs the build, and the command prints its log. When the build is completed, the endpoint uses the image, as a
release that its workers take as they are replaced. Files of a folder that its .dockerignore names are not sent. Interrupting
the command cancels the build.`,
		Example: "  berth build words .\n  berth build words words.tar.gz --detach",
		Args:    cobra.ExactArgs(2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return endpoints().ids().first().values(cmd, args, prefix)
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			archive, kind, err := openArchive(args[1])
			if err != nil {
				return misuse(err, "")
			}
			defer func() { _ = archive.Close() }()

			endpoint, err := c.endpoint(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			document, err := c.hold(cmd.Context(), sendTime, func(ctx context.Context) (*http.Response, error) {
				return c.own(ctx, http.MethodPost, buildsPath(endpoint), kind, archive)
			})
			if err != nil {
				return endpoints().hint(err)
			}
			build, err := parse[rest.Build](c, document)
			if err != nil {
				return err
			}

			if detach {
				return printBuild(cmd, document, build)
			}
			return c.follow(cmd, endpoint, build)
		},
	}

	cmd.Flags().BoolVar(&detach, "detach", false, "do not wait for the end of the build")
	return cmd
}

// openArchive gives what is to be sent, and its content type.
func openArchive(path string) (io.ReadCloser, string, error) {
	is, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	if is.IsDir() {
		folder, err := packed(path)
		return folder, "application/x-tar", err
	}

	file, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	head := bufio.NewReader(file)
	kind := "application/x-tar"
	if begin, _ := head.Peek(2); string(begin) == "\x1f\x8b" {
		kind = "application/gzip"
	}
	return struct {
		io.Reader
		io.Closer
	}{head, file}, kind, nil
}

// follow prints what the build writes until it has ended, and fails if it does. With --json it prints the build alone, once it has ended.
func (c *connection) follow(cmd *cobra.Command, endpoint string, build rest.Build) error {
	var away outage
	goesOn := func(err error) error {
		if isStatus(err, http.StatusNotFound) {
			return err
		}
		return noted(err, fmt.Sprintf("the build goes on: berth endpoints build-logs %s %s --follow shows its log", endpoint, build.ID))
	}
	if !asJSON(cmd) {
		q := logQuery{follow: true, tail: 5000}
		err := q.print(cmd, c, func(ctx context.Context, p *rest.GetPodLogsParams, resume restclient.RequestEditorFn) (*http.Response, error) {
			return c.rest.GetBuildLogs(ctx, endpoint, build.ID, (*rest.GetBuildLogsParams)(p), resume)
		})
		if err != nil && cmd.Context().Err() == nil {
			return goesOn(err)
		}
	}

	for {
		if cmd.Context().Err() != nil {
			return c.cancelBuild(cmd, endpoint, build.ID)
		}
		build, document, err := fetch[rest.Build](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
			return c.rest.GetEndpointBuild(ctx, endpoint, build.ID)
		})
		if err == nil {
			away.end()
		}
		switch {
		case cmd.Context().Err() != nil:
			continue
		case err != nil && !away.bears(err):
			return goesOn(err)
		case err != nil: // it is asked again
		case build.Status == rest.BuildStateCOMPLETED:
			return printBuild(cmd, document, build)
		case build.Status != rest.BuildStatePENDING && build.Status != rest.BuildStateBUILDING:
			return &failure{code: exitEnded, cause: fmt.Errorf("build %s is %s: %s", build.ID, build.Status, pointed(build.Error.Pointer()))}
		}

		if err := pausing(cmd.Context(), buildPause); err != nil && cmd.Context().Err() == nil {
			return err
		}
	}
}

func printBuild(cmd *cobra.Command, document []byte, b rest.Build) error {
	if asJSON(cmd) {
		return printDocument(cmd, document)
	}
	image := ""
	if name := b.ImageName.Pointer(); name != nil {
		image = ": the endpoint's image is " + *name
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "build %s is %s%s\n", b.ID, b.Status, image)
	return err
}

// cancelBuild cancels a build whose command was interrupted.
func (c *connection) cancelBuild(cmd *cobra.Command, endpoint, id string) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(cmd.Context()), cancelTime)
	defer stop()
	_, err := c.ask(ctx, func(ctx context.Context) (*http.Response, error) {
		return c.own(ctx, http.MethodDelete, buildsPath(endpoint)+"/"+id, "", nil)
	})
	return errors.Join(cmd.Context().Err(), err)
}

func newBuildsCommand(r *resource[rest.Endpoint]) *cobra.Command {
	return below(r, "builds", "List the builds of an endpoint, the newest first", []column[rest.Build]{
		{head: "ID", value: func(b rest.Build) string { return b.ID }},
		{head: "STATUS", value: func(b rest.Build) string { return string(b.Status) }},
		{head: "IMAGE", value: func(b rest.Build) string { return pointed(b.ImageName.Pointer()) }},
		{head: "STARTED", value: func(b rest.Build) string { return pointed(b.StartedAt.Pointer()) }},
		{head: "COMPLETED", value: func(b rest.Build) string { return pointed(b.CompletedAt.Pointer()) }},
		{head: "ERROR", value: func(b rest.Build) string {
			why, _ := b.Error.Get()
			return orDash(brief(why))
		}},
	}, func(l rest.BuildList) []rest.Build { return l.Builds }, func(*cobra.Command, string, rest.BuildList) error { return nil },
		func(ctx context.Context, c *restclient.Client, id string, cursor *string) (*http.Response, error) {
			return c.ListEndpointBuilds(ctx, id, &rest.ListEndpointBuildsParams{Cursor: cursor})
		})
}

func newBuildLogsCommand(r *resource[rest.Endpoint]) *cobra.Command {
	var q logQuery
	cmd := &cobra.Command{
		Use:               "build-logs ENDPOINT BUILD",
		Short:             "Print the log of a build",
		Long:              fmt.Sprintf(logsLong, "a build"),
		Example:           "  berth endpoints build-logs words b5j8d2f7h4k1m9 --follow",
		Args:              cobra.ExactArgs(2),
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
			err = q.print(cmd, c, func(ctx context.Context, p *rest.GetPodLogsParams, resume restclient.RequestEditorFn) (*http.Response, error) {
				return c.rest.GetBuildLogs(ctx, endpoint, args[1], (*rest.GetBuildLogsParams)(p), resume)
			})
			return hinted(err, fmt.Sprintf("berth endpoints builds %s shows those that there are", args[0]))
		},
	}

	q.add(cmd)
	return cmd
}
