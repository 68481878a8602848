package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
	"github.com/berthdev/berth/impl/compute"
)

func secrets() *resource[rest.Secret] {
	value := madeOfFile("value-file", "/value", "the file with the value, every byte of which counts; - is the standard input", fileText)
	description := text("description", "/description", "what it is for")

	return &resource[rest.Secret]{
		noun: "secret", article: "a", nouns: "secrets",
		examples: map[string]string{
			"create": "  printf %s \"$TOKEN\" | berth secrets create --name hf_token --value-file -\n" +
				"  berth pods create --name web --image nginx --gpu \"NVIDIA L4\" --env 'HF_TOKEN={{ RUNPOD_SECRET_hf_token }}'",
			"update": "  berth secrets update sk2m8q4x1z --value-file token.txt",
		},
		columns: []column[rest.Secret]{
			{head: "ID", value: func(s rest.Secret) string { return s.ID }},
			{head: "NAME", value: func(s rest.Secret) string { return s.Name }},
			{head: "DESCRIPTION", value: func(s rest.Secret) string { return orDash(textOf(s.Description)) }},
			{head: "CREATED", value: func(s rest.Secret) string { return s.CreatedAt.Format(time.RFC3339) }},
		},
		id:     func(s rest.Secret) string { return s.ID },
		name:   func(s rest.Secret) string { return s.Name },
		create: body{fields: []field{text("name", "/name", "what environments refer to it by"), value, description}},
		update: body{fields: []field{value, description}},
		listing: func(ctx context.Context, c *restclient.Client, _ *string) (*http.Response, error) {
			return c.ListSecrets(ctx, &rest.ListSecretsParams{})
		},
		items: func(c *connection, document []byte) ([]rest.Secret, error) {
			list, err := parse[rest.SecretList](c, document)
			return list.Secrets, err
		},
		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetSecret(ctx, id)
		},
		creating: func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error) {
			return c.CreateSecretWithBody(ctx, contentType, body)
		},
		updating: func(ctx context.Context, c *restclient.Client, id, contentType string, body io.Reader) (*http.Response, error) {
			return c.UpdateSecretWithBody(ctx, id, contentType, body)
		},
		deleting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.DeleteSecret(ctx, id)
		},
	}
}

func newSecretsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "secrets", Aliases: []string{"secret"}, Short: "Store, list, change and delete secrets",
		Long: `Store, list, change and delete secrets.

A secret is stored encrypted and never shown again. An environment variable of a pod, an endpoint or a template that contains
{{ RUNPOD_SECRET_name }} has the value in its place when a container starts.`,
	}
	cmd.AddCommand(secrets().commands()...)
	return cmd
}

// fileText reads the text of a file, or of the standard input, as far as a secret may be long.
func fileText(cmd *cobra.Command, path string) (any, error) {
	text, err := readFile(cmd, path, compute.SecretValueBytes-1)
	if err == nil && !utf8.Valid(text) {
		err = fmt.Errorf("%s is not UTF-8", path)
	}
	if err != nil {
		return nil, err
	}
	return string(text), nil
}
