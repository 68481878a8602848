package graphql

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

// The bytes of the rows of all lists that a document reads, about. They have freeLists for nothing, and then pieces of the memory for
// large answers (rule graphql.bytes).
const (
	freeLists = 1 << 20
	mostLists = 16 << 20
	listPiece = 1 << 20
)

// lists counts the rows that a document has read. It is safe for concurrent use: fields are resolved side by side.
type lists struct {
	mu     sync.Mutex
	bytes  int
	more   int // than freeLists that it may have
	pieces []func()
}

// leave gives the memory back.
func (l *lists) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, piece := range l.pieces {
		piece()
	}
	l.pieces = nil
}

// add counts so many bytes if there is room for them. Rejected if there never is, Unavailable if others have it.
func (l *lists) add(bytes int, answers *limit.Answers, key compute.KeyID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes+bytes > mostLists {
		return &compute.Error{Code: compute.Rejected} // listed has the words
	}
	for freeLists+l.more < l.bytes+bytes {
		piece, ok := answers.List(key, listPiece) // to wait for more with what it has could take for ever
		if !ok {
			return limit.Crowded()
		}
		l.more += listPiece
		l.pieces = append(l.pieces, piece)
	}

	l.bytes += bytes
	return nil
}

// listed reads a list of the user's as a whole, for which a document has room. Rejected, with where REST has the list in pages, or Unavailable
// if it has none. Without a path REST has no pages either.
func listed[T any](ctx context.Context, answers *limit.Answers, path string, read func(context.Context, compute.UserID, compute.Room) ([]T, error)) ([]T, error) {
	counted, copies := 0, copiesOf(ctx)
	var full error
	all, err := read(ctx, user(ctx), func(bytes int) bool {
		if full == nil {
			full = callOf(ctx).lists.add(copies*(bytes-counted), answers, keyOf(ctx))
			counted = bytes
		}
		return full == nil
	})

	switch {
	case compute.CodeOf(full) == compute.Rejected && path == "":
		return nil, tooLarge("read this one alone")
	case compute.CodeOf(full) == compute.Rejected:
		return nil, tooLarge("read this one in pages, with GET " + path)
	case full != nil:
		return nil, full
	}
	return all, err
}

// tooLarge refuses what a document has no room for, with where to have it.
func tooLarge(instead string) error {
	return compute.Errorf(compute.Rejected, "the lists of the document have over %d bytes: ask for fewer, or %s", mostLists, instead)
}

// counted counts a thing that a document reads by itself, and names it, with its lists: it may be asked for under many names, and be large. Errors
// as for listed.
func counted(ctx context.Context, answers *limit.Answers, path string, env map[string]string, texts ...string) error {
	return reserve(ctx, answers, bytesOf(env, texts...), "read this one with GET "+path)
}

// reserve counts so many bytes with the lists of a document, as often as its answer has them. Errors as for listed; instead says where there is
// room for them.
func reserve(ctx context.Context, answers *limit.Answers, bytes int, instead string) error {
	err := callOf(ctx).lists.add(copiesOf(ctx)*bytes, answers, keyOf(ctx))
	if compute.CodeOf(err) == compute.Rejected {
		return tooLarge(instead)
	}
	return err
}

// copiesOf is how often the answer may have what the field that is being resolved gives: as often as there are names for the value below it that
// has most of them.
func copiesOf(ctx context.Context) int {
	operation := graphql.GetOperationContext(ctx)
	var most func(graphql.CollectedField) int
	most = func(field graphql.CollectedField) int {
		if len(field.Selections) == 0 {
			return 1
		}
		names := map[string]int{}
		copies := 1
		for _, below := range graphql.CollectFields(operation, field.Selections, nil) {
			names[below.Name] += most(below)
			copies = max(copies, names[below.Name])
		}
		return copies
	}
	return most(graphql.GetFieldContext(ctx).Field)
}

// bytesOf is how many bytes an environment and texts have.
func bytesOf(env map[string]string, texts ...string) (bytes int) {
	for name, value := range env {
		bytes += len(name) + len(value)
	}
	for _, text := range texts {
		bytes += len(text)
	}
	return bytes
}
