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
		name: func(g rest.GpuType) string { return fmt.Sprintf("%d GB", g.Memory) },
		listing: func(ctx context.Context, c *restclient.Client, _ *string) (*http.Response, error) {
			return c.ListGpuTypes(ctx, &rest.ListGpuTypesParams{Include: availability, Product: rest.GpuProduct{"POD"}})
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
		items: func(c *connection, document []byte) ([]rest.DataCenter, error) {
			list, err := parse[rest.DataCenterList](c, document)
			return list.DataCenters, err
		},
	}
}

func newCatalogCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "catalog", Short: "List what can be had, and what it costs"}
	cmd.AddCommand(asList(gpuTypes()), asList(cpuTypes()), asList(dataCenters()))
	return cmd
}

// asList makes a command of its own of the list of a resource.
func asList[T any](r *resource[T]) *cobra.Command {
	cmd := r.listCommand()
	cmd.Use, cmd.Aliases = r.noun, nil
	cmd.Short = "List the " + r.nouns
	cmd.Example = fmt.Sprintf("  berth catalog %s\n  berth catalog %s --json", r.noun, r.noun)
	return cmd
}
