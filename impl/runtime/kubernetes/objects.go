package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
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

// How many objects a list gives at a time, at first. A slice may have 128 devices and a megabyte.
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
	return listAs[T](ctx, c, path, selector, "")
}

// listMetadata lists what every object has, and nothing else of them.
func listMetadata(ctx context.Context, c *client, path, selector string) ([]metadataOnly, error) {
	all, _, err := listAs[metadataOnly](ctx, c, path, selector, typeMetadata)
	return all, err
}

// listAs lists objects as a type of bodies has them. How large they are is up to users: a page that is too large is asked for again with
// half as many of them.
func listAs[T any](ctx context.Context, c *client, path, selector, accept string) (all []T, version string, err error) {
	limit := pageSize
	if path == slicesPath {
		limit = slicePage
	}
	query := url.Values{}
	if selector != "" {
		query.Set("labelSelector", selector)
	}

	for {
		query.Set("limit", strconv.Itoa(limit))
		var page list[T]
		err := c.do(ctx, call{what: "list " + path, method: http.MethodGet, path: path, query: query, accept: accept}, &page)
		switch {
		case errors.Is(err, errTooLarge) && limit > 1:
			limit /= 2
			continue
		case err != nil:
			return nil, "", err
		}

		all = append(all, page.Items...)
		if page.Metadata.Continue == "" {
			return all, page.Metadata.ResourceVersion, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}
