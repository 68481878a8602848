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

func templates() *resource[rest.Template] {
	fields := append(container(),
		made("persistent", "/mounts/persistent", "a volume on the host, GB:PATH", persistentMount),
		choice("category", "/category", "CPU, NVIDIA or AMD", "CPU", "NVIDIA", "AMD"),
		truth("public", "/public", "others may use it"),
		truth("serverless", "/serverless", "for endpoints, not for pods"),
		list("cuda-version", "/allowedCudaVersions", "a CUDA version that will do, like 12.8"),
	)

	return &resource[rest.Template]{
		noun: "template", article: "a", nouns: "templates",
		examples: map[string]string{
			"create": "  berth templates create --name words --image acme/words:1.0 --serverless",
			"update": "  berth templates update t8x2k4m1q9 --image acme/words:1.1",
		},
		columns: []column[rest.Template]{
			{head: "ID", value: func(t rest.Template) string { return t.ID }},
			{head: "NAME", value: func(t rest.Template) string { return t.Name }},
			{head: "IMAGE", value: func(t rest.Template) string { return t.Image }},
			{head: "CATEGORY", value: func(t rest.Template) string { return string(t.Category) }},
			{head: "SERVERLESS", value: func(t rest.Template) string { return textOf(t.Serverless) }},
			{head: "PUBLIC", value: func(t rest.Template) string { return textOf(t.Public) }},
			{head: "ARGS", value: func(t rest.Template) string { return orDash(t.Args) }, wide: true},
			{head: "ENV", value: func(t rest.Template) string { return textOf(t.Env) }, wide: true},
			{head: "DISK", value: func(t rest.Template) string { return fmt.Sprintf("%d GB", t.Disk) }, wide: true},
			{head: "MOUNTS", value: func(t rest.Template) string { return mounts(rest.Mounts{Persistent: t.Mounts.Persistent}) }, wide: true},
			{head: "PORTS", value: func(t rest.Template) string { return textOf(t.Ports) }, wide: true},
			{head: "REGISTRY", value: func(t rest.Template) string { return pointed(t.Registry.Pointer()) }, wide: true},
			{head: "CUDA VERSIONS", value: func(t rest.Template) string { return textOf(t.AllowedCudaVersions) }, wide: true},
		},
		id:     func(t rest.Template) string { return t.ID },
		name:   func(t rest.Template) string { return t.Name },
		create: body{fields: fields},
		update: body{fields: fields},
		listing: func(ctx context.Context, c *restclient.Client, cursor *string) (*http.Response, error) {
			return c.ListTemplates(ctx, &rest.ListTemplatesParams{Cursor: cursor})
		},
		items: func(c *connection, document []byte) ([]rest.Template, error) {
			list, err := parse[rest.TemplateList](c, document)
			return list.Templates, err
		},
		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetTemplate(ctx, id)
		},
		creating: func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error) {
			return c.CreateTemplateWithBody(ctx, contentType, body)
		},
		updating: func(ctx context.Context, c *restclient.Client, id, contentType string, body io.Reader) (*http.Response, error) {
			return c.UpdateTemplateWithBody(ctx, id, contentType, body)
		},
		deleting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.DeleteTemplate(ctx, id)
		},
	}
}

func newTemplatesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "templates", Aliases: []string{"template"}, Short: "Create, list, change and delete templates"}
	r := templates()
	cmd.AddCommand(r.commands()...)
	cmd.AddCommand(newPublicTemplatesCommand(r))
	return cmd
}

// templateSources are who answers for a public template.
var templateSources = []string{"official", "verified", "community"}

func newPublicTemplatesCommand(r *resource[rest.Template]) *cobra.Command {
	var source string
	cmd := &cobra.Command{
		Use: "public", Short: "List the templates that everybody may use", Args: cobra.NoArgs,
		Example: "  berth templates public --source community",
		RunE: func(cmd *cobra.Command, _ []string) error {
			from := rest.ListPublicTemplatesParamsSource(source)
			if !from.Valid() {
				return choiceError("--source", source, templateSources)
			}
			c, err := connect(cmd)
			if err != nil {
				return err
			}

			document, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) {
				return c.rest.ListPublicTemplates(ctx, &rest.ListPublicTemplatesParams{Source: &from})
			})
			if err != nil || asJSON(cmd) {
				return orPrint(cmd, document, err)
			}
			items, err := r.items(c, document)
			if err != nil {
				return err
			}
			return printTable(cmd, r.columns, items)
		},
	}
	cmd.Flags().StringVar(&source, "source", "official", "who answers for them: official, verified or community")
	_ = cmd.RegisterFlagCompletionFunc("source", words(templateSources...).values)
	return cmd
}
