package main

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

func globalVolumes() *resource[rest.GlobalVolume] {
	name := body{fields: []field{text("name", "/name", "its name")}}
	return &resource[rest.GlobalVolume]{
		noun: "global volume", article: "a", nouns: "global-volumes",
		examples: map[string]string{
			"create": "  berth global-volumes create --name models",
			"update": "  berth global-volumes update vk2m8q4x1z --name weights",
		},
		columns: []column[rest.GlobalVolume]{
			{head: "ID", value: func(v rest.GlobalVolume) string { return v.ID }},
			{head: "NAME", value: func(v rest.GlobalVolume) string { return v.Name }},
			{head: "CREATED", value: func(v rest.GlobalVolume) string { return v.CreatedAt.Format(time.RFC3339) }},
		},
		id:     func(v rest.GlobalVolume) string { return v.ID },
		name:   func(v rest.GlobalVolume) string { return v.Name },
		create: name,
		update: name,

		listing: func(ctx context.Context, c *restclient.Client, cursor *string) (*http.Response, error) {
			return c.ListGlobalVolumes(ctx, &rest.ListGlobalVolumesParams{Cursor: cursor})
		},
		items: func(c *connection, document []byte) ([]rest.GlobalVolume, error) {
			list, err := parse[rest.GlobalVolumeList](c, document)
			return list.GlobalVolumes, err
		},

		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetGlobalVolume(ctx, id)
		},
		creating: func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error) {
			return c.CreateGlobalVolumeWithBody(ctx, contentType, body)
		},
		updating: func(ctx context.Context, c *restclient.Client, id, contentType string, body io.Reader) (*http.Response, error) {
			return c.UpdateGlobalVolumeWithBody(ctx, id, contentType, body)
		},
		deleting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.DeleteGlobalVolume(ctx, id)
		},
	}
}

func newGlobalVolumesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "global-volumes", Aliases: []string{"global-volume"}, Short: "Create, list, rename and delete global volumes",
		Long: `Create, list, rename and delete global volumes.

A global volume is storage that the workers of endpoints mount at /runpod-volume in whatever data center they are:
berth endpoints create --global-volume ID.`,
	}
	cmd.AddCommand(globalVolumes().commands()...)
	return cmd
}
