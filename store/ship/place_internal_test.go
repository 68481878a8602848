package ship

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenBucket_GoesByTheUsualVariables(t *testing.T) {
	t.Parallel()
	opened := func(endpoint string, variables map[string]string) *bucket {
		t.Helper()
		all := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
		for name, value := range variables {
			all[name] = value
		}
		b, err := openBucket("s3://jobs/pre", endpoint, func(name string) string { return all[name] })
		require.NoError(t, err)
		return b
	}
	for _, c := range []struct {
		endpoint     string
		variables    map[string]string
		region, base string
	}{
		{"", nil, "us-east-1", "https://s3.us-east-1.amazonaws.com/jobs"},
		{"", map[string]string{"AWS_DEFAULT_REGION": "b"}, "b", "https://s3.b.amazonaws.com/jobs"},
		{"", map[string]string{"AWS_DEFAULT_REGION": "b", "AWS_REGION": "a"}, "a", "https://s3.a.amazonaws.com/jobs"},
		{"", map[string]string{"AWS_ENDPOINT_URL": "http://all:9000"}, "us-east-1", "http://all:9000/jobs"},
		{"", map[string]string{"AWS_ENDPOINT_URL": "http://all:9000", "AWS_ENDPOINT_URL_S3": "http://s3:9000/"}, "us-east-1", "http://s3:9000/jobs"},
		{"https://mine/path", map[string]string{"AWS_ENDPOINT_URL_S3": "http://s3:9000"}, "us-east-1", "https://mine/path/jobs"},
	} {
		b := opened(c.endpoint, c.variables)
		require.Equal(t, c.region, b.region)
		require.Equal(t, c.base, b.base.String())
		require.Equal(t, "s3://jobs/pre/", b.String())
		require.Equal(t, "id", b.credentials.AccessKeyID)
		require.Equal(t, "secret", b.credentials.SecretAccessKey)
	}
	for _, endpoint := range []string{"ftp://host", "host:9000", "http://", "://"} {
		_, err := openBucket("s3://jobs", endpoint, func(string) string { return "x" })
		require.ErrorContains(t, err, "the endpoint of S3 must be http(s)://HOST", endpoint)
	}
	for _, missing := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		_, err := openBucket("s3://jobs", "", func(name string) string {
			if name == missing {
				return ""
			}
			return "x"
		})
		require.ErrorContains(t, err, "s3://jobs needs a key")
	}
}
