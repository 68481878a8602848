package kubernetes

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The resources in the namespace.
const (
	pods     = "pods"
	services = "services"
	secrets  = "secrets"
	claims   = "persistentvolumeclaims"

	deviceClaims = "resourceclaims"
)

// How many objects a list gives at a time. A slice may have 128 devices and a megabyte: a page of them must not have over mostBody bytes.
const (
	pageSize  = 500
	slicePage = 40
)

// fetch gets an object.
func fetch[T any](ctx context.Context, c *client, resource, name string) (*T, error) {
	found := new(T)
	err := c.do(ctx, call{what: "get " + resource + " " + name, method: http.MethodGet, path: c.path(resource, name)}, found)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// create makes an object and gives it as it is stored.
func create[T any](ctx context.Context, c *client, resource, name string, wanted *T) (*T, error) {
	made := new(T)
	err := c.do(ctx, call{what: "create " + resource + " " + name, method: http.MethodPost, path: c.path(resource), body: wanted}, made)
	if err != nil {
		return nil, err
	}
	return made, nil
}

// merge changes an object by a JSON merge patch and gives it as it is stored.
func merge[T any](ctx context.Context, c *client, resource, name string, patch any) (*T, error) {
	changed := new(T)
	err := c.do(ctx, call{
		what: "patch " + resource + " " + name, method: http.MethodPatch, path: c.path(resource, name), kind: typeMerge, body: patch,
	}, changed)
	if err != nil {
		return nil, err
	}
	return changed, nil
}

// remove deletes the object of a name, if its uid is that one. Grace in whole seconds is for Pods; less than 0: the object's own. It gives
// what the server answers: the object, where that is not gone at once.
func remove(ctx context.Context, c *client, resource, name, uid string, grace time.Duration) (json.RawMessage, error) {
	options := deleteOptions{APIVersion: "v1", Kind: "DeleteOptions", Preconditions: preconditions{UID: uid}}
	if grace >= 0 {
		seconds := int64((grace + time.Second - 1) / time.Second)
		options.Grace = &seconds
	}
	var answer json.RawMessage
	err := c.do(ctx, call{what: "delete " + resource + " " + name, method: http.MethodDelete, path: c.path(resource, name), body: options}, &answer)
	return answer, err
}

// listAll lists the objects that the selector of labels selects, page by page, and gives the version that the list is of.
func listAll[T any](ctx context.Context, c *client, path, selector string) (all []T, version string, err error) {
	limit := pageSize
	if path == slicesPath {
		limit = slicePage
	}
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	for {
		var page list[T]
		if err := c.do(ctx, call{what: "list " + path, method: http.MethodGet, path: path, query: query}, &page); err != nil {
			return nil, "", err
		}
		all = append(all, page.Items...)
		if page.Metadata.Continue == "" {
			return all, page.Metadata.ResourceVersion, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}
