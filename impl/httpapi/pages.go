package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"io"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/nullable"
)

// pageLimit is how many things a page has at most if its request does not say.
const pageLimit = 1000

// A cursor is the base64 of this version, of the position in two numbers, and of a hash of these with the list that they are
// of. It is no secret, and needs no protection: a client that makes one up sees no more than its own list from another place on.
const cursorVersion = 1

// listed is a list that is read in pages: an operation as its caller asked for it, with all parameters but the page's own. A cursor of
// another list is none of this one.
type listed []string

// listOf names a list of the caller's.
func listOf(c echo.Context, operation string, parameters ...string) listed {
	return append(listed{string(callerOf(c).UserID), operation}, parameters...)
}

// page gives what the parameters ask for. Invalid for a cursor that this list did not give (rules pages.cursor.*).
func (l listed) page(cursor *rest.Cursor, limit *rest.Limit) (p compute.Page, err error) {
	p.Limit = pageLimit
	if limit != nil {
		p.Limit = int(*limit)
	}
	if cursor != nil {
		p.After, err = l.position(*cursor)
	}
	return p, err
}

// The bytes of a page's rows, about. A page has freePage for nothing, and then pieces as there is memory for large answers: where there is
// none it ends early, and nobody waits (rule pages.bytes).
const (
	freePage   = 1 << 20
	mostPage   = 4 << 20
	pagePiece  = 1 << 20
	pageMemory = 2 // a page is its rows, and then its text
)

// page gives what the parameters ask for, with room for its rows, and what gives that back once the page is written. Invalid as for listed.page.
func (s *Services) page(c echo.Context, l listed, cursor *rest.Cursor, limit *rest.Limit) (p compute.Page, leave func(), err error) {
	if p, err = l.page(cursor, limit); err != nil {
		return p, nil, err
	}
	p.Room, _, leave = s.roomFor(c, mostPage)
	return p, leave, nil
}

// roomFor gives the room for the rows of a page, or of a list, of so many bytes at most. busy reports whether it was others who left none; leave
// gives it back.
func (s *Services) roomFor(c echo.Context, most int) (room compute.Room, busy func() bool, leave func()) {
	key, had, full := callerOf(c).ID, freePage, false
	var pieces []func()
	room = func(bytes int) bool {
		if bytes > most {
			return false
		}
		for had < bytes {
			piece, ok := s.Answers.Try(key, pagePiece*pageMemory)
			if !ok {
				full = true
				return false
			}
			had += pagePiece
			pieces = append(pieces, piece)
		}
		return true
	}

	return room, func() bool { return full }, func() {
		for _, piece := range pieces {
			piece()
		}
	}
}

// mostUnpaged is how many bytes the rows of a list without pages may have, about.
const mostUnpaged = 8 << 20

// unpaged reads a list of the caller's that has no pages, which is refused where it is too large: 400, or 503 if others have the memory for it (rule
// pages.none.bytes). leave gives its memory back, and is to be called in any case.
func unpaged[T any](h restHandlers, c echo.Context, read func(context.Context, compute.UserID, compute.Room) ([]T, error)) (all []T, leave func(), err error) {
	room, busy, leave := h.roomFor(c, mostUnpaged)
	all, err = read(contextOf(c), callerOf(c).UserID, room)
	if compute.CodeOf(err) == compute.Rejected {
		err = compute.Errorf(compute.Rejected, "the list has over %d bytes: delete some of what is in it, or ask for one by its id", mostUnpaged)
		if busy() {
			err = limit.Crowded()
		}
	}
	return all, leave, err
}

// pagination says where the next page begins.
func (l listed) pagination(next compute.Position) rest.Pagination {
	if next == (compute.Position{}) {
		return rest.Pagination{NextCursor: nullable.NewNullNullable[string]()}
	}
	return rest.Pagination{HasNextPage: true, NextCursor: nullable.NewNullableWithValue(l.cursor(next))}
}

// cursor writes a position of the list.
func (l listed) cursor(p compute.Position) string {
	text := []byte{cursorVersion}
	text = binary.AppendVarint(text, p.At)
	text = binary.AppendVarint(text, p.Seq)
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(text, l.hash(text)))
}

// position reads what cursor has written. Invalid for everything else.
func (l listed) position(cursor string) (p compute.Position, err error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil && len(text) > 0 && text[0] == cursorVersion {
		at, n := binary.Varint(text[1:])
		if n > 0 {
			p.At = at
			p.Seq, _ = binary.Varint(text[1+n:])
		}
	}

	if p == (compute.Position{}) || l.cursor(p) != cursor {
		const line = "query.cursor: is not a cursor that this list gave, for the same caller and parameters"
		return compute.Position{}, &compute.Error{Code: compute.Invalid, Detail: line, Fields: []string{line}}
	}
	return p, nil
}

// hash is that of the text and of the list.
func (l listed) hash(text []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(text) // it never fails
	for _, part := range l {
		_, _ = h.Write([]byte{0})
		_, _ = io.WriteString(h, part)
	}
	return h.Sum64()
}
