package diff_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/spec/diff"
)

func parse(t *testing.T, text string) diff.Document {
	t.Helper()
	d, err := diff.Parse([]byte(text))
	require.NoError(t, err)
	return d
}

// YAML reads a status without quotes as a number, and 3.1 lets an operation have no responses: neither is passed over.
func TestCompare_NoOperationIsPassedOver(t *testing.T) {
	t.Parallel()
	quoted := parse(t, "paths: {/x: {get: {responses: {'200': {}, '422': {}}}}}")
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"the same, without quotes": {"paths: {/x: {get: {responses: {200: {}, 422: {}}}}}", nil},
		"without quotes":           {"paths: {/x: {get: {responses: {200: {}, 404: {}}}}}", []string{"GET /x/responses/404: absent | present", "GET /x/responses/422: present | absent"}},
		"keys by aliases":          {"x-status: &status 200\npaths: {/x: {get: {responses: {*status : {}, 422: {}}}}}", nil},
		"keys merged":              {"x-all: &all {422: {}}\npaths: {/x: {get: {responses: {<<: *all, 200: {}}}}}", nil},
		"no responses":             {"paths: {/x: {get: {operationId: getX}}}", []string{"GET /x/operationId: absent | getX", "GET /x/responses/200: present | absent", "GET /x/responses/422: present | absent"}},
		"another method":           {"paths: {/x: {get: {responses: {200: {}, 422: {}}}, put: {}}}", []string{"PUT /x: absent | present"}},
		"a path without any":       {"paths: {/x: {}, x-more: here}", []string{"GET /x: present | absent"}},
	} {
		var got []string
		for _, d := range diff.Compare(quoted, parse(t, c.text)) {
			got = append(got, d.String())
		}
		require.Equal(t, c.want, got, name)
	}

	value := parse(t, "x-status: &status 200\npaths: {/x: {get: {x: *status, responses: {*status : {}}}}}")
	require.Empty(t, diff.Compare(value, parse(t, "paths: {/x: {get: {x: 200, responses: {200: {}}}}}")), "a value stays a number")
}

func TestParse_WhatShouldBeAnObjectIsNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"paths: {/x: []}":                      "paths: /x: it is to be an object",
		"paths: {/x: }":                        "paths: /x: it is to be an object",
		"paths: {/x: {get: []}}":               "paths: /x: get: it is to be an object",
		"paths: {/x: {get: }}":                 "paths: /x: get: it is to be an object",
		"paths: {/x: {get: {responses: [a]}}}": "paths: /x: get: responses: it is to be an object",
	} {
		_, err := diff.Parse([]byte(text))
		require.EqualError(t, err, want, text)
	}
}

// What a document has in other forms than OpenAPI has them is no reason to fall over.
func TestSkeleton_TakesDocumentsOfOtherForms(t *testing.T) {
	t.Parallel()
	a := parse(t, "paths: {/x: {get: {responses: {200: {content: {application/json: {schema: {type: string}}}}}}}}")
	for _, text := range []string{
		"paths: {/x: {get: {responses: {200: {content: {application/json: }}}}}}",
		"paths: {/x: {get: {}, put: {}, post: {responses: {201: {content: {application/json: }}}}}}",
		"paths: {/x: {get: {security: [a]}}}\nsecurity: [b]",
		"paths: {/x: {post: {requestBody: {content: {application/json: {}}}}}}",
		"paths: {/x: {post: {responses: {200: {content: {application/json: {schema: {properties: [], oneOf: {}}}}}}}}}",
		"paths: {/x: {get: {responses: {200: {content: {application/json: {schema: {required: true, allOf: [{required: [a]}]}}}}}}}}",
		"paths: {/x: {get: {responses: {200: {content: {application/json: {schema: {properties: [], allOf: [{properties: {a: {}}}]}}}}}}}}",
	} {
		b := parse(t, text)
		b.Operations()
		found := diff.Compare(a, b)
		require.NotEmpty(t, found, text)
		_, _, err := diff.Skeleton(a, b, found, "n", "a.yaml")
		require.NoError(t, err, text)
	}
}
