package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

// looksLikeID reports whether an id that a server made looks so.
func looksLikeID(name string) bool {
	return len(name) == 14 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// thing is what can be named: by its id, or by its name.
type thing struct{ id, name string }

// kind is a kind of things that a user names.
type kind struct {
	noun  string // pod
	nouns string // pods
	list  func(ctx context.Context, c *connection) ([]thing, error)
	// read reads one by its id; nil: none is read alone.
	read func(ctx context.Context, c *connection, id string) error
}

// kind is how those of a resource are named.
func (r *resource[T]) kind() kind {
	k := kind{noun: r.noun, nouns: r.nouns, list: func(ctx context.Context, c *connection) (all []thing, err error) {
		document, err := c.pages(ctx, r.listing)
		if err != nil {
			return nil, err
		}
		items, err := r.items(c, document)
		for _, item := range items {
			all = append(all, thing{r.id(item), r.name(item)})
		}
		return all, err
	}}
	if r.getting != nil {
		k.read = func(ctx context.Context, c *connection, id string) error {
			_, err := c.ask(ctx, func(ctx context.Context) (*http.Response, error) { return r.getting(ctx, c.rest, id) })
			return err
		}
	}
	return k
}

// matching gives the ids of those that a user may mean: of the one that has it as its id, or else of all that have it as their name.
func matching(named string, things []thing) (ids []string) {
	for _, one := range things {
		if one.id == named {
			return []string{named}
		}
		if one.name == named {
			ids = append(ids, one.id)
		}
	}
	return ids
}

// one gives the only id of those that match; none and several are refused.
func (k kind) one(named string, ids []string) (string, error) {
	switch len(ids) {
	case 0:
		return "", misuse(fmt.Errorf("there is no %s %q", k.noun, named), fmt.Sprintf("berth %s list shows those that there are", k.nouns))
	case 1:
		return ids[0], nil
	}
	return "", misuse(fmt.Errorf("%d %s have the name %q: %s", len(ids), strings.ReplaceAll(k.nouns, "-", " "), named, strings.Join(ids, ", ")), "give the id of one")
}

// locate gives the id of what the user named, by its id or by its name. What looks like an id is taken for one without asking; if it is
// none, its use is refused, and again has it tried as a name.
func (k kind) locate(ctx context.Context, c *connection, named string) (string, error) {
	if looksLikeID(named) {
		return named, nil
	}
	things, err := k.list(ctx, c)
	if err != nil {
		return "", err
	}
	return k.one(named, matching(named, things))
}

// withControls is locate with the key of the test controls, which lists nothing: with it only the id will do.
func (k kind) withControls(ctx context.Context, c *connection, named string) (string, error) {
	id, err := k.locate(ctx, c, named)
	if isStatus(err, http.StatusForbidden) {
		return named, nil
	}
	return id, err
}

// on calls f with the id of what the user named; once more with another, if there is nothing of that id and the name looks like one.
func (k kind) on(ctx context.Context, c *connection, named string, f func(id string) error) error {
	id, err := k.locate(ctx, c, named)
	if err != nil {
		return err
	}
	err = f(id)
	if !isStatus(err, http.StatusNotFound) || id != named {
		return err
	}

	things, wrong := k.list(ctx, c)
	ids := matching(named, things)
	if wrong != nil || len(ids) == 0 || ids[0] == named {
		return err // it was an id, or is nothing at all
	}
	if id, err = k.one(named, ids); err != nil {
		return err
	}
	return f(id)
}

// again has a command whose first argument is of the kind be called once more, as on does it: with the id in place of the name. Nothing
// was done then.
func (k kind) again(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !looksLikeID(args[0]) {
			return run(cmd, args)
		}
		c, err := connect(cmd)
		if err != nil {
			return err
		}
		return k.on(cmd.Context(), c, args[0], func(id string) error { return run(cmd, append([]string{id}, args[1:]...)) })
	}
	return cmd
}

// find gives the id of what the user named where that is but a part of what is asked for, which a refusal does not tell apart: what looks
// like an id is read.
func (k kind) find(ctx context.Context, c *connection, named string) (id string, err error) {
	err = k.on(ctx, c, named, func(found string) error {
		id = found
		if k.read == nil || found != named {
			return nil
		}
		err := k.read(ctx, c, found)
		if isStatus(err, http.StatusNotFound) {
			return err
		}
		return nil // where the key may not read it, the answer to what is asked for next says so
	})
	if isStatus(err, http.StatusNotFound) {
		return named, nil // for the server to refuse
	}
	return id, err
}

// located gives a value of a document in which names are ids: a name, several, or mounts of volumes.
func located(value any, find func(named string) (string, error)) (any, error) {
	var err error
	switch v := value.(type) {
	case string:
		if v == "" {
			return v, nil
		}
		return find(v)
	case []string:
		for i := range v {
			if v[i], err = find(v[i]); err != nil {
				return nil, err
			}
		}
	case []map[string]string:
		for _, mount := range v {
			if mount["volumeId"], err = find(mount["volumeId"]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
