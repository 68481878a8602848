package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

// pages reads a list to its end and gives one document with what all pages list; the other members are those of the last page. A list
// that is not read in pages ends with the first.
func (c *connection) pages(ctx context.Context, list func(ctx context.Context, c *restclient.Client, cursor *string) (*http.Response, error)) ([]byte, error) {
	var cursor *string
	read := func() (document []byte, next *string, err error) {
		page, document, err := fetch[struct{ Pagination rest.Pagination }](ctx, c, func(ctx context.Context) (*http.Response, error) {
			return list(ctx, c.rest, cursor)
		})
		next = page.Pagination.NextCursor.Pointer()
		if err == nil && next != nil && cursor != nil && *next == *cursor {
			err = &failure{code: exitRefused, cause: fmt.Errorf("%s answered with the same cursor again: the list has no end", withoutPassword(c.server))}
		}
		return document, next, err
	}

	document, next, err := read()
	if err != nil || next == nil {
		return document, err
	}

	lists := map[string][]json.RawMessage{}
	for {
		members, err := parse[map[string]json.RawMessage](c, document)
		if err != nil {
			return nil, err
		}
		for name, text := range members {
			if text[0] != '[' {
				continue
			}
			some, err := parse[[]json.RawMessage](c, text)
			if err != nil {
				return nil, err
			}
			lists[name] = append(lists[name], some...)
		}

		if next == nil {
			return joined(members, lists)
		}
		cursor = next
		if document, next, err = read(); err != nil {
			return nil, err
		}
	}
}

// joined gives a document with the lists in place of its own.
func joined(members map[string]json.RawMessage, lists map[string][]json.RawMessage) (document []byte, err error) {
	for name, list := range lists {
		if members[name], err = json.Marshal(list); err != nil {
			return nil, err
		}
	}
	return json.Marshal(members)
}
