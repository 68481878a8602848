package main

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

// registries are the credentials for registries of images.
func registries() *resource[rest.Registry] {
	return &resource[rest.Registry]{
		noun: "registry", article: "a", nouns: "registries",
		examples: map[string]string{
			"create": "  berth registries create --name private --username robot --password-file token.txt\n  berth pods create --name web --image acme/web:1 --cpu cpu3g --vcpus 2 --registry private",
			"delete": "  berth registries delete private",
		},
		columns: []column[rest.Registry]{
			{head: "ID", value: func(r rest.Registry) string { return r.ID }},
			{head: "NAME", value: func(r rest.Registry) string { return r.Name }},
		},
		id:   func(r rest.Registry) string { return r.ID },
		name: func(r rest.Registry) string { return r.Name },

		create: body{fields: []field{
			text("name", "/name", "its name"),
			text("username", "/username", "the user of the registry"),
			madeOfFile("password-file", "/password", "the file with the password or token; a newline at its end does not count; - is the standard input", passwordText),
		}},
		listing: func(ctx context.Context, c *restclient.Client, _ *string) (*http.Response, error) {
			return c.ListRegistries(ctx)
		},
		items: func(c *connection, document []byte) ([]rest.Registry, error) {
			list, err := parse[rest.RegistryList](c, document)
			return list.Registries, err
		},
		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetRegistry(ctx, id)
		},
		creating: func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error) {
			return c.CreateRegistryWithBody(ctx, contentType, body)
		},
		deleting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.DeleteRegistry(ctx, id)
		},
	}
}

// passwordText is fileText without the newline that editors put at the end.
func passwordText(cmd *cobra.Command, path string) (any, error) {
	value, err := fileText(cmd, path)
	if text, is := value.(string); is {
		value = strings.TrimRight(text, "\r\n")
	}
	return value, err
}

// delegations are the repositories of ECR that their owner lets be pulled. One is not read alone, so its name is looked for in the list.
func delegations() *resource[rest.EcrDelegation] {
	return &resource[rest.EcrDelegation]{
		noun: "delegation", article: "a", nouns: "registries delegations",
		examples: map[string]string{
			"create": "  berth registries delegations create --name ours --resource arn:aws:ecr:eu-west-1:123456789012:repository/team/image:1.0",
			"delete": "  berth registries delegations delete ours",
		},
		columns: []column[rest.EcrDelegation]{
			{head: "ID", value: func(d rest.EcrDelegation) string { return d.ID }},
			{head: "NAME", value: func(d rest.EcrDelegation) string { return pointed(d.Name.Pointer()) }},
			{head: "REPOSITORY", value: func(d rest.EcrDelegation) string { return d.Repository }},
			{head: "TAG", value: func(d rest.EcrDelegation) string { return d.Tag }},
			{head: "REGION", value: func(d rest.EcrDelegation) string { return d.AwsRegion }},
			{head: "CREATED", value: func(d rest.EcrDelegation) string { return textOf(d.CreatedAt) }},
		},
		id: func(d rest.EcrDelegation) string { return d.ID },
		name: func(d rest.EcrDelegation) string {
			name, _ := d.Name.Get()
			return name
		},
		create: body{fields: []field{
			text("resource", "/resource", "ARN of the repository, with a tag after another colon if it is not latest"),
			text("name", "/name", "its name"),
		}},

		listing: func(ctx context.Context, c *restclient.Client, _ *string) (*http.Response, error) {
			return c.ListDelegations(ctx)
		},
		items: func(c *connection, document []byte) ([]rest.EcrDelegation, error) {
			list, err := parse[rest.DelegationList](c, document)
			return list.Delegations, err
		},
		creating: func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error) {
			return c.CreateDelegationWithBody(ctx, contentType, body)
		},
		deleting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.RevokeDelegation(ctx, id)
		},
	}
}

func newRegistriesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "registries", Aliases: []string{"registry"}, Short: "Store, list and delete credentials for registries of images",
		Long: `Store, list and delete credentials for registries of images, which --registry of pods, endpoints and templates names. User name and
password are stored encrypted and never shown again.`,
	}
	cmd.AddCommand(registries().commands()...)

	granted := &cobra.Command{
		Use: "delegations", Aliases: []string{"delegation"}, Short: "Record, list and revoke that repositories of ECR may be pulled",
	}
	for _, sub := range delegations().commands() {
		switch sub.Name() {
		case "list":
			sub.Short = "List the delegations, the newest first"
		case "delete":
			sub.Aliases, sub.Short = append(sub.Aliases, "revoke"), "Revoke delegations, for good"
		}
		granted.AddCommand(sub)
	}
	cmd.AddCommand(granted)
	return cmd
}
