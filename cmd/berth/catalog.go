package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

// availability asks for what is free, for pods.
var availability = rest.CatalogInclude{"AVAILABILITY"}

func gpuTypes() *resource[rest.GpuType] {
	return &resource[rest.GpuType]{
		noun: "gpus", nouns: "GPU types",
		columns: []column[rest.GpuType]{
			{head: "ID", value: func(g rest.GpuType) string { return g.ID }},
			{head: "MEMORY", value: func(g rest.GpuType) string { return fmt.Sprintf("%d GB", g.Memory) }},
			{head: "POOL", value: func(g rest.GpuType) string { return pointed(g.Pool.Pointer()) }},
			{head: "SECURE USD/H", value: func(g rest.GpuType) string { return textOf(g.Price.Secure) }},
			{head: "COMMUNITY USD/H", value: func(g rest.GpuType) string { return textOf(g.Price.Community) }},
			{head: "MOST", value: func(g rest.GpuType) string { return fmt.Sprint(max(g.MaxCount.Secure, g.MaxCount.Community)) }},
			{head: "FREE", value: func(g rest.GpuType) string { return pointed(g.Availability) }},
		},
		id:   func(g rest.GpuType) string { return g.ID },
		note: func(g rest.GpuType) string { return fmt.Sprintf("%d GB", g.Memory) },
		listing: func(ctx context.Context, c *restclient.Client, _ *string) (*http.Response, error) {
			return c.ListGpuTypes(ctx, &rest.ListGpuTypesParams{Include: availability, Product: rest.GpuProduct{"POD"}})
		},
		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetGpuType(ctx, id, &rest.GetGpuTypeParams{Include: availability, Product: rest.GpuProduct{"POD"}})
		},
		items: func(c *connection, document []byte) ([]rest.GpuType, error) {
			list, err := parse[rest.GpuTypeList](c, document)
			return list.Gpus, err
		},
	}
}

func cpuTypes() *resource[rest.CPUType] {
	return &resource[rest.CPUType]{
		noun: "cpus", nouns: "CPU flavors",
		columns: []column[rest.CPUType]{
			{head: "ID", value: func(t rest.CPUType) string { return t.ID }},
			{head: "NAME", value: func(t rest.CPUType) string { return t.Name }},
			{head: "VCPUS", value: func(t rest.CPUType) string { return fmt.Sprintf("%d-%d", t.Vcpu.Min, t.Vcpu.Max) }},
			{head: "GB/VCPU", value: func(t rest.CPUType) string { return textOf(t.RAMGbPerVcpu) }},
			{head: "USD/H/VCPU", value: func(t rest.CPUType) string { return textOf(t.Price.SecurePerVcpu) }},
			{head: "FREE", value: func(t rest.CPUType) string { return pointed(t.Availability) }},
		},
		id:   func(t rest.CPUType) string { return t.ID },
		name: func(t rest.CPUType) string { return t.Name },
		listing: func(ctx context.Context, c *restclient.Client, _ *string) (*http.Response, error) {
			return c.ListCPUTypes(ctx, &rest.ListCPUTypesParams{Include: availability, Product: rest.CPUProduct{"POD"}})
		},
		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetCPUType(ctx, id, &rest.GetCPUTypeParams{Include: availability, Product: rest.CPUProduct{"POD"}})
		},
		items: func(c *connection, document []byte) ([]rest.CPUType, error) {
			list, err := parse[rest.CPUTypeList](c, document)
			return list.Cpus, err
		},
	}
}

func dataCenters() *resource[rest.DataCenter] {
	return &resource[rest.DataCenter]{
		noun: "datacenters", nouns: "data centers",
		columns: []column[rest.DataCenter]{
			{head: "ID", value: func(d rest.DataCenter) string { return d.ID }},
			{head: "NAME", value: func(d rest.DataCenter) string { return d.Name }},
			{head: "REGION", value: func(d rest.DataCenter) string { return string(d.Region) }},
			{head: "VOLUMES", value: func(d rest.DataCenter) string { return join(d.NetworkVolumeTypes) }},
			{head: "GLOBAL NETWORK", value: func(d rest.DataCenter) string { return textOf(d.GlobalNetwork) }},
		},
		id:   func(d rest.DataCenter) string { return d.ID },
		name: func(d rest.DataCenter) string { return d.Name },
		listing: func(ctx context.Context, c *restclient.Client, _ *string) (*http.Response, error) {
			return c.ListDataCenters(ctx, &rest.ListDataCentersParams{})
		},
		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetDataCenter(ctx, id, &rest.GetDataCenterParams{})
		},
		items: func(c *connection, document []byte) ([]rest.DataCenter, error) {
			list, err := parse[rest.DataCenterList](c, document)
			return list.DataCenters, err
		},
	}
}

func newCatalogCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "catalog", Short: "List what a server offers, and what it costs"}
	cmd.AddCommand(asList(gpuTypes()), asList(cpuTypes()), asList(dataCenters()))
	return cmd
}

// asList makes a command of its own of the list of a resource, which shows one of it if its id is given.
func asList[T any](r *resource[T]) *cobra.Command {
	cmd := r.listCommand()
	list := cmd.RunE
	cmd.Use, cmd.Aliases, cmd.Args = r.noun+" [ID]", nil, cobra.MaximumNArgs(1)
	cmd.Short = "List the " + r.nouns + ", or show one"
	cmd.Example = fmt.Sprintf("  berth catalog %s\n  berth catalog %s --json", r.noun, r.noun)
	cmd.ValidArgsFunction = r.ids().first().values
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return list(cmd, args)
		}
		c, err := connect(cmd)
		if err != nil {
			return err
		}
		document, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return r.getting(ctx, c.rest, args[0]) })
		if isStatus(err, http.StatusNotFound) {
			err = hinted(err, fmt.Sprintf("berth catalog %s shows those that there are", r.noun))
		}
		if err != nil {
			return err
		}
		return r.print(cmd, c, document)
	}
	return cmd
}
