package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/restclient"
)

// resource is a kind of thing of the REST API, of which T is the document. Its commands are made from what is here: a
// function that is nil is a command that there is not.
type resource[T any] struct {
	noun     string // pod
	article  string // a, an
	nouns    string // pods
	examples map[string]string
	columns  []column[T]
	id       func(T) string
	// name is what a shell shows beside the id.
	name   func(T) string
	create body
	update body
	// find gives the id of what the user named; nil: that is the id.
	find func(ctx context.Context, c *connection, named string) (string, error)

	listing  func(ctx context.Context, c *restclient.Client, cursor *string) (*http.Response, error) // a page; of some, all
	items    func(c *connection, document []byte) ([]T, error)
	getting  func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error)
	creating func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error)
	updating func(ctx context.Context, c *restclient.Client, id, contentType string, body io.Reader) (*http.Response, error)
	deleting func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error)

	// wait waits until one is as it should be after it was made or changed; nil: nothing takes time.
	wait  func(cmd *cobra.Command, w *waiting, c *connection, id string) error
	until string // what it waits for
}

// commands gives the commands that the functions allow.
func (r *resource[T]) commands() (all []*cobra.Command) {
	if r.creating != nil {
		all = append(all, r.createCommand())
	}
	if r.listing != nil {
		all = append(all, r.listCommand())
	}
	if r.getting != nil {
		all = append(all, r.getCommand())
	}
	if r.updating != nil {
		all = append(all, r.updateCommand())
	}
	if r.deleting != nil {
		all = append(all, r.deleteCommand())
	}
	for _, cmd := range all {
		cmd.Example = cmp.Or(r.examples[cmd.Name()], fmt.Sprintf("  berth %s %s", r.nouns, cmd.Use))
	}

	return all
}

// placeholder is what help calls the argument.
func (r *resource[T]) placeholder() string {
	if r.find != nil {
		return strings.ToUpper(r.noun)
	}
	return "ID"
}

// locate gives the id of what the user named.
func (r *resource[T]) locate(ctx context.Context, c *connection, named string) (string, error) {
	if r.find == nil {
		return named, nil
	}
	return r.find(ctx, c, named)
}

// ids offers the ids of those that there are.
func (r *resource[T]) ids() completion {
	return func(ctx context.Context, c *connection, _ []string) (words []string, err error) {
		body, err := c.pages(ctx, r.listing)
		if err != nil {
			return nil, err
		}
		items, err := r.items(c, body)
		for _, item := range items {
			words = append(words, r.id(item)+"\t"+oneLine(r.name(item)))
		}
		return words, err
	}
}

// idsOf offers the ids of a resource that is made when they are wanted.
func idsOf[T any](r func() *resource[T]) completion {
	return func(ctx context.Context, c *connection, args []string) ([]string, error) {
		return r().ids()(ctx, c, args)
	}
}

// print prints one.
func (r *resource[T]) print(cmd *cobra.Command, c *connection, document []byte) error {
	if asJSON(cmd) {
		return printDocument(cmd, document)
	}
	item, err := parse[T](c, document)
	if err != nil {
		return err
	}
	return printDetail(cmd, r.columns, item)
}

// show reads one and prints it.
func (r *resource[T]) show(cmd *cobra.Command, c *connection, id string) error {
	document, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return r.getting(ctx, c.rest, id) })
	if err != nil {
		return r.hint(err)
	}
	return r.print(cmd, c, document)
}

// hint adds to a refusal what to do about it where the kind of thing has a list.
func (r *resource[T]) hint(err error) error {
	if isStatus(err, http.StatusNotFound) && r.listing != nil {
		return hinted(err, fmt.Sprintf("berth %s list shows those that there are", r.nouns))
	}
	return err
}

// awaitAndPrint waits, if that is asked for, and prints; where the wait came to nothing, too.
func (r *resource[T]) awaitAndPrint(cmd *cobra.Command, w *waiting, c *connection, id string, document []byte) error {
	if !w.wait {
		return r.print(cmd, c, document)
	}
	err := r.wait(cmd, w, c, id)
	if shown := r.show(cmd, c, id); err == nil {
		return shown
	}
	return err
}

func (r *resource[T]) createCommand() *cobra.Command {
	var w waiting
	cmd := &cobra.Command{
		Use:   "create",
		Short: fmt.Sprintf("Create %s %s", r.article, r.noun),
		Long: fmt.Sprintf(`Create %s %s from flags, from a JSON document (--file), or from a document that flags change. It is checked by the
server, which names every violation.`, r.article, r.noun),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			document, err := r.create.read(cmd)
			if err != nil {
				return err
			}
			c, err := connect(cmd)
			if err != nil {
				return err
			}

			made, document, err := fetch[T](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
				return send(document, func(contentType string, body io.Reader) (*http.Response, error) {
					return r.creating(ctx, c.rest, contentType, body)
				})
			})
			if err != nil {
				return err
			}

			return r.awaitAndPrint(cmd, &w, c, r.id(made), document)
		},
	}

	r.create.add(cmd)
	if r.wait != nil {
		w.add(cmd, r.until)
	}
	return cmd
}

func (r *resource[T]) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   fmt.Sprintf("List the %s, the newest first", strings.ReplaceAll(r.nouns, "-", " ")),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			document, err := c.pages(cmd.Context(), r.listing)
			if err != nil {
				return err
			}
			if asJSON(cmd) {
				return printDocument(cmd, document)
			}

			items, err := r.items(c, document)
			if err != nil {
				return err
			}
			return printTable(cmd, r.columns, items)
		},
	}
}

func (r *resource[T]) getCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "get " + r.placeholder(),
		Short:             fmt.Sprintf("Show %s %s", r.article, r.noun),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			id, err := r.locate(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return r.show(cmd, c, id)
		},
	}
}

func (r *resource[T]) updateCommand() *cobra.Command {
	var w waiting
	cmd := &cobra.Command{
		Use:     "update " + r.placeholder(),
		Aliases: []string{"patch"},
		Short:   fmt.Sprintf("Change %s %s", r.article, r.noun),
		Long: fmt.Sprintf(`Change %s %s: only what flags or the document of --file name. A flag for a list or for pairs replaces them all; one
empty value empties them.`, r.article, r.noun),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			document, err := r.update.read(cmd)
			if err != nil {
				return err
			}
			c, err := connect(cmd)
			if err != nil {
				return err
			}

			id, err := r.locate(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}

			document, err = c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) {
				return send(document, func(contentType string, body io.Reader) (*http.Response, error) {
					return r.updating(ctx, c.rest, id, contentType, body)
				})
			})
			if err != nil {
				return r.hint(err)
			}

			return r.awaitAndPrint(cmd, &w, c, id, document)
		},
	}

	r.update.add(cmd)
	if r.wait != nil {
		w.add(cmd, r.until)
	}
	return cmd
}

func (r *resource[T]) deleteCommand() *cobra.Command {
	name := r.placeholder()
	return &cobra.Command{
		Use:               fmt.Sprintf("delete %s [%s...]", name, name),
		Aliases:           []string{"rm"},
		Short:             fmt.Sprintf("Delete %s, for good", strings.ReplaceAll(r.nouns, "-", " ")),
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: r.ids().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}

			for _, named := range args {
				id, err := r.locate(cmd.Context(), c, named)
				if err != nil {
					return err
				}
				if _, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return r.deleting(ctx, c.rest, id) }); err != nil {
					return r.hint(err)
				}
				if err := printDone(cmd, id, "deleted"); err != nil {
					return err
				}
			}

			return nil
		},
	}
}

// printDone reports what was done with something of which nothing else is left to show.
func printDone(cmd *cobra.Command, id, what string) error {
	if asJSON(cmd) {
		return printJSON(cmd, map[string]any{"id": id, what: true})
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), what, id)
	return err
}
