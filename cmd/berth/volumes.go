package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

func volumes() *resource[rest.NetworkVolume] {
	return &resource[rest.NetworkVolume]{
		noun: "network volume", article: "a", nouns: "volumes",
		examples: map[string]string{
			"create": "  berth volumes create --name data --size 100 --data-center EU-RO-1",
			"update": "  berth volumes update vk2m8q4x1z --size 200",
		},
		columns: []column[rest.NetworkVolume]{
			{head: "ID", value: func(v rest.NetworkVolume) string { return v.ID }},
			{head: "NAME", value: func(v rest.NetworkVolume) string { return v.Name }},
			{head: "SIZE", value: func(v rest.NetworkVolume) string { return fmt.Sprintf("%d GB", v.Size) }},
			{head: "DATA CENTER", value: func(v rest.NetworkVolume) string { return v.DataCenter }},
			{head: "TYPE", value: func(v rest.NetworkVolume) string { return string(v.Type) }},
		},
		id:   func(v rest.NetworkVolume) string { return v.ID },
		name: func(v rest.NetworkVolume) string { return v.Name },
		note: func(v rest.NetworkVolume) string { return v.Name + ", " + v.DataCenter },
		create: body{fields: []field{
			text("name", "/name", "its name"),
			number("size", "/size", "GB"),
			text("data-center", "/dataCenter", "where it is").offering(idsOf(dataCenters)),
			choice("type", "/type", "STANDARD or HIGH_PERFORMANCE", "STANDARD", "HIGH_PERFORMANCE"),
		}},
		update: body{fields: []field{
			text("name", "/name", "its name"),
			number("size", "/size", "GB, no fewer than before"),
		}},

		listing: func(ctx context.Context, c *restclient.Client, cursor *string) (*http.Response, error) {
			return c.ListNetworkVolumes(ctx, &rest.ListNetworkVolumesParams{Cursor: cursor})
		},
		items: func(c *connection, document []byte) ([]rest.NetworkVolume, error) {
			list, err := parse[rest.NetworkVolumeList](c, document)
			return list.NetworkVolumes, err
		},

		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetNetworkVolume(ctx, id)
		},
		creating: func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error) {
			return c.CreateNetworkVolumeWithBody(ctx, contentType, body)
		},
		updating: func(ctx context.Context, c *restclient.Client, id, contentType string, body io.Reader) (*http.Response, error) {
			return c.UpdateNetworkVolumeWithBody(ctx, id, contentType, body)
		},
		deleting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.DeleteNetworkVolume(ctx, id)
		},
	}
}

func newVolumesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "volumes", Aliases: []string{"volume"}, Short: "Create, list, change and delete network volumes"}
	cmd.AddCommand(volumes().commands()...)
	return cmd
}
