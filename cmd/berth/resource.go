package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

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
	// more gives columns for which the server is asked beside; nil: there are none.
	more func(ctx context.Context, c *connection, items []T) []column[T]
	id   func(T) string
	// name is what the user calls it, and may name it by.
	name func(T) string
	// note is what a shell shows beside the id; nil: the name.
	note   func(T) string
	create body
	update body

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

// placeholder is what help calls the argument: the last word of what it is.
func (r *resource[T]) placeholder() string {
	return strings.ToUpper(r.noun[strings.LastIndex(r.noun, " ")+1:])
}

// ids offers the ids of those that there are.
func (r *resource[T]) ids() completion {
	return func(ctx context.Context, c *connection, _ []string) (words []string, err error) {
		body, err := c.pages(ctx, r.listing)
		if err != nil {
			return nil, err
		}
		items, err := r.items(c, body)
		note := r.note
		if note == nil {
			note = r.name
		}
		for _, item := range items {
			words = append(words, r.id(item)+"\t"+oneLine(note(item)))
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
	return printDetail(cmd, r.all(cmd, c, []T{item}), item)
}

// all gives the columns for the items, those too for which the server is asked.
func (r *resource[T]) all(cmd *cobra.Command, c *connection, items []T) []column[T] {
	if r.more == nil {
		return r.columns
	}
	return slices.Concat(r.columns, r.more(cmd.Context(), c, items))
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

// lastLook is how long a look at what was waited for in vain may take.
const lastLook = 5 * time.Second

// awaitAndPrint waits, if that is asked for, and prints; where the wait came to nothing, too, as it was seen last: who made something has to know
// its id.
func (r *resource[T]) awaitAndPrint(cmd *cobra.Command, w *waiting, c *connection, id string, document []byte) error {
	if !w.wait {
		return r.print(cmd, c, document)
	}
	err := r.wait(cmd, w, c, id)
	if err == nil {
		return r.show(cmd, c, id)
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), lastLook) // it may be that which has ended
	defer cancel()
	seen, failed := c.ask(ctx, func(ctx context.Context) (*http.Response, error) { return r.getting(ctx, c.rest, id) })
	if failed == nil {
		document = seen
	}
	if item, failed := parse[T](c, document); failed == nil && !asJSON(cmd) {
		_ = printDetail(cmd, r.columns, item)
	} else {
		_ = printDocument(cmd, document)
	}
	return err
}

func (r *resource[T]) createCommand() *cobra.Command {
	var w waiting
	cmd := &cobra.Command{
		Use:   "create",
		Short: fmt.Sprintf("Create %s %s", r.article, r.noun),
		Long: fmt.Sprintf(`Create %s %s from flags, from a JSON document (--file), or from a document that flags change. The server checks it
and names every violation.`, r.article, r.noun),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			document, err := r.create.read(cmd, c)
			if err != nil {
				return err
			}

			answer, err := c.hold(cmd.Context(), timeToSend(document), func(ctx context.Context) (*http.Response, error) {
				return send(document, func(contentType string, body io.Reader) (*http.Response, error) {
					return r.creating(ctx, c.rest, contentType, body)
				})
			})
			if err != nil {
				return r.create.hint(cmd, err)
			}
			made, err := parse[T](c, answer)
			if err != nil {
				return err
			}

			return r.awaitAndPrint(cmd, &w, c, r.id(made), answer)
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
			return printTable(cmd, r.all(cmd, c, items), items)
		},
	}
}

func (r *resource[T]) getCommand() *cobra.Command {
	return r.kind().again(&cobra.Command{
		Use:               "get " + r.placeholder(),
		Short:             fmt.Sprintf("Show %s %s", r.article, r.noun),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			id, err := r.kind().locate(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return r.show(cmd, c, id)
		},
	})
}

func (r *resource[T]) updateCommand() *cobra.Command {
	var w waiting
	cmd := &cobra.Command{
		Use:     "update " + r.placeholder(),
		Aliases: []string{"patch"},
		Short:   fmt.Sprintf("Change %s %s", r.article, r.noun),
		Long: fmt.Sprintf(`Change %s %s: only what flags or the document of --file name. A flag for a list or for pairs replaces them all, and one
empty value empties them.`, r.article, r.noun),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			document, err := r.update.read(cmd, c)
			if err != nil {
				return err
			}

			return r.kind().on(cmd.Context(), c, args[0], func(id string) error {
				changed, err := c.hold(cmd.Context(), timeToSend(document), func(ctx context.Context) (*http.Response, error) {
					return send(document, func(contentType string, body io.Reader) (*http.Response, error) {
						return r.updating(ctx, c.rest, id, contentType, body)
					})
				})
				if err != nil {
					return r.hint(r.update.hint(cmd, err))
				}
				return r.awaitAndPrint(cmd, &w, c, id, changed)
			})
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
				err := r.kind().on(cmd.Context(), c, named, func(id string) error {
					if _, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return r.deleting(ctx, c.rest, id) }); err != nil {
						return r.hint(err)
					}
					return printDone(cmd, id, "deleted")
				})
				if err != nil {
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
	return say(cmd, what+" "+id)
}
