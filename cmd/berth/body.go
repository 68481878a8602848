package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// field is a flag that sets a member of a request's document. What the member may be is for the server to say, which has
// the document's schema and names every violation.
type field struct {
	flag  string
	at    string // the member, as a JSON Pointer
	add   func(flags *pflag.FlagSet, name string)
	value func(flags *pflag.FlagSet, name string) (any, error)
	// read gives the member from what value names; nil: it is the member.
	read func(cmd *cobra.Command, path string) (any, error)
	// offer gives values for the completion in a shell; nil: none.
	offer   completion
	choices []string // what the value is one of, as far as is known here; nil: anything
	// find gives the id of what the value names; nil: it names nothing.
	find func(ctx context.Context, c *connection, named string) (string, error)
}

// naming has the value be of a kind, by id or by name.
func naming[T any](f field, of func() *resource[T]) field {
	f.offer = idsOf(of)
	f.find = func(ctx context.Context, c *connection, named string) (string, error) {
		return of().kind().find(ctx, c, named)
	}
	return f
}

func (f field) offering(c completion) field {
	f.offer = c
	return f
}

func text(flag, at, usage string) field {
	return field{flag: flag, at: at,
		add:   func(flags *pflag.FlagSet, name string) { flags.String(name, "", usage) },
		value: func(flags *pflag.FlagSet, name string) (any, error) { return flags.GetString(name) }}
}

// choice is text that is one of some words. A server may know others, so that they are no more than a hint.
func choice(flag, at, usage string, choices ...string) field {
	f := text(flag, at, usage).offering(words(choices...))
	f.choices = choices
	return f
}

// reference is text whose empty value is null.
func reference(flag, at, usage string) field {
	f := text(flag, at, usage+"; empty: none")
	f.value = func(flags *pflag.FlagSet, name string) (any, error) {
		id, err := flags.GetString(name)
		if id == "" {
			return nil, err
		}
		return id, err
	}
	return f
}

func number(flag, at, usage string) field {
	return field{flag: flag, at: at,
		add:   func(flags *pflag.FlagSet, name string) { flags.Int64(name, 0, usage) },
		value: func(flags *pflag.FlagSet, name string) (any, error) { return flags.GetInt64(name) }}
}

func truth(flag, at, usage string) field {
	return field{flag: flag, at: at,
		add:   func(flags *pflag.FlagSet, name string) { flags.Bool(name, false, usage) },
		value: func(flags *pflag.FlagSet, name string) (any, error) { return flags.GetBool(name) }}
}

// span is a duration, in the unit of the member.
func span(flag, at, usage string, unit time.Duration) field {
	return field{flag: flag, at: at,
		add: func(flags *pflag.FlagSet, name string) { flags.Duration(name, 0, usage) },
		value: func(flags *pflag.FlagSet, name string) (any, error) {
			d, err := flags.GetDuration(name)
			if err == nil && d%unit != 0 {
				err = fmt.Errorf("--%s: %s is not a whole number of %s", name, d, unit)
			}
			return int64(d / unit), err
		}}
}

func list(flag, at, usage string) field {
	return field{flag: flag, at: at,
		add: func(flags *pflag.FlagSet, name string) { flags.StringArray(name, nil, usage+"; repeatable") },
		value: func(flags *pflag.FlagSet, name string) (any, error) {
			values, err := flags.GetStringArray(name)
			if len(values) == 1 && values[0] == "" {
				values = []string{} // so that a list can be made empty
			}
			return values, err
		}}
}

// pairs is an object of NAME=TEXT.
func pairs(flag, at, usage string) field {
	f := list(flag, at, usage)
	f.value = func(flags *pflag.FlagSet, name string) (any, error) {
		values, err := flags.GetStringArray(name)
		object := map[string]string{}
		for _, v := range values {
			key, text, ok := strings.Cut(v, "=")
			if !ok && v != "" {
				return nil, fmt.Errorf("--%s: %q is not NAME=VALUE", name, v)
			}
			if ok {
				object[key] = text
			}
		}

		return object, err
	}

	return f
}

// made is a field whose text is read by a function.
func made(flag, at, usage string, read func(string) (any, error)) field {
	f := text(flag, at, usage)
	f.value = func(flags *pflag.FlagSet, name string) (any, error) {
		text, err := flags.GetString(name)
		if err != nil {
			return nil, err
		}
		value, err := read(text)
		if err != nil {
			err = fmt.Errorf("--%s: %w", name, err)
		}
		return value, err
	}

	return f
}

// madeOfFile is a field whose text names a file, or the standard input of the command, that is read by a function.
func madeOfFile(flag, at, usage string, read func(cmd *cobra.Command, path string) (any, error)) field {
	f := text(flag, at, usage)
	f.read = read
	return f
}

// body is a request's document: a file, and over it what the flags say.
type body struct {
	fields   []field
	defaults map[string]any // the document where there is no file
}

// add adds --file and the flags of the fields.
func (b body) add(cmd *cobra.Command) {
	cmd.Flags().StringP("file", "f", "", "file with the body as JSON, - for the standard input; flags change it")
	_ = cmd.MarkFlagFilename("file", "json")
	for _, f := range b.fields {
		f.add(cmd.Flags(), f.flag)
		if f.offer != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.flag, f.offer.values)
		}
	}
}

// read gives the document; what flags name is looked up over the connection. A file is sent as it is if no flag changes it.
func (b body) read(cmd *cobra.Command, c *connection) ([]byte, error) {
	path, _ := cmd.Flags().GetString("file")
	document := map[string]any{}
	var file []byte
	if path == "" {
		document = maps.Clone(b.defaults)
	} else {
		var err error
		if file, err = readJSON(cmd, path); err != nil {
			return nil, misuse(fmt.Errorf("--file: %w", err), "")
		}
	}

	changed := slices.ContainsFunc(b.fields, func(f field) bool { return cmd.Flags().Changed(f.flag) })
	if path == "" && !changed {
		return nil, misuse(fmt.Errorf("%s: nothing is asked for", cmd.CommandPath()), "give flags, or a document with --file")
	}

	if path != "" {
		if !changed {
			return file, nil
		}
		d := json.NewDecoder(bytes.NewReader(file))
		d.UseNumber()
		if err := d.Decode(&document); err != nil || document == nil {
			return nil, misuse(fmt.Errorf("%s: it must be a JSON object for flags to change it", path), "")
		}
	}

	if document == nil {
		document = map[string]any{}
	}
	for _, f := range b.fields {
		if !cmd.Flags().Changed(f.flag) {
			continue
		}
		value, err := f.value(cmd.Flags(), f.flag)
		if path, is := value.(string); is && err == nil && f.read != nil {
			if value, err = f.read(cmd, path); err != nil {
				err = fmt.Errorf("--%s: %w", f.flag, err)
			}
		}
		if err == nil && f.find != nil {
			value, err = located(value, func(named string) (string, error) { return f.find(cmd.Context(), c, named) })
		}
		if err == nil {
			err = put(document, f.at, value)
		}
		if err != nil {
			return nil, misuse(err, "")
		}
	}

	return plainJSON(document)
}

// plainJSON encodes without the escapes of < > & that encoding/json makes: what was given stays as it is.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// hint adds to a refusal the words that may have been meant by the flags that have one of some.
func (b body) hint(cmd *cobra.Command, err error) error {
	for _, f := range b.fields {
		if f.choices == nil || !cmd.Flags().Changed(f.flag) {
			continue
		}
		if text, _ := cmd.Flags().GetString(f.flag); !slices.Contains(f.choices, text) {
			err = hinted(err, didYouMean(nearest(text, f.choices)))
		}
	}
	return err
}

// put sets the member at a JSON Pointer.
func put(document map[string]any, at string, value any) error {
	names := strings.Split(at, "/")[1:]
	for _, name := range names[:len(names)-1] {
		inner, ok := document[name].(map[string]any)
		if document[name] != nil && !ok {
			return fmt.Errorf("%s: %s is not an object in the file", at, name)
		}
		inner = maps.Clone(inner)
		if inner == nil {
			inner = map[string]any{}
		}
		document[name] = inner
		document = inner
	}

	document[names[len(names)-1]] = value
	return nil
}

// readJSON reads a file, or the standard input for -, that must be JSON. The caller knows which flag named it.
func readJSON(cmd *cobra.Command, path string) (text []byte, err error) {
	name := path
	if path == "-" {
		name = "the standard input"
		text, err = readInput(cmd.Context(), cmd.InOrStdin())
	} else {
		text, err = os.ReadFile(path)
	}
	if err == nil && !json.Valid(text) {
		err = fmt.Errorf("%s: %w", name, errSyntax(text))
	}
	return text, err
}

// errSyntax reports where text is no JSON.
func errSyntax(text []byte) error {
	var value any
	err := json.Unmarshal(text, &value)
	var at *json.SyntaxError
	if errors.As(err, &at) {
		before := text[:min(int(at.Offset), len(text))]
		return fmt.Errorf("line %d: %w", 1+bytes.Count(before, []byte("\n")), err)
	}
	return err
}

// sending is a call of a generated client with a body.
type sending func(contentType string, body io.Reader) (*http.Response, error)

// send calls it with a document.
func send(document []byte, s sending) (*http.Response, error) {
	return s("application/json", bytes.NewReader(document))
}
