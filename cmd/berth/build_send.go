package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// buildsPath is where builds are begun: it is in no document.
func buildsPath(endpoint string) string {
	return "/_berth/endpoints/" + url.PathEscape(endpoint) + "/builds"
}

// own makes a request to an address that is in no document.
func (c *connection) own(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.server+path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for _, edit := range c.rest.RequestEditors {
		if err := edit(ctx, r); err != nil {
			return nil, err
		}
	}
	return c.rest.Client.Do(r)
}
