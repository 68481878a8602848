package main

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

// httpAddresses gives the column of where the HTTP ports of pods are reached, if one of them is RUNNING and has some: the server is asked where
// that is, and one that does not say it has no such column.
func httpAddresses(ctx context.Context, c *connection, pods []rest.Pod) []column[rest.Pod] {
	if !slices.ContainsFunc(pods, func(p rest.Pod) bool { return len(httpPorts(p)) > 0 }) {
		return nil
	}
	session, _, err := fetch[controls.Session](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.controls.GetSession(ctx) })
	if err != nil || session.PodAddress == "" {
		return nil
	}

	at := compute.PodAddress(session.PodAddress)
	return []column[rest.Pod]{{head: "HTTP", value: func(p rest.Pod) string {
		var all []string
		for _, port := range httpPorts(p) {
			all = append(all, at.Of(compute.PodID(p.ID), port))
		}
		return textOf(all)
	}}}
}

// httpPorts gives the ports of a pod that are reached over HTTP now.
func httpPorts(p rest.Pod) (all []int) {
	for _, text := range p.Ports {
		number, kind, _ := strings.Cut(text, "/")
		if port, err := strconv.Atoi(number); err == nil && kind == compute.HTTPPort && p.Status == rest.PodStatusRUNNING {
			all = append(all, port)
		}
	}
	return all
}
