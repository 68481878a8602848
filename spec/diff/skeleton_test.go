package diff_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/spec/diff"
)

// What the overlay says does not depend on the order of maps: of the components that one was compared with it takes the one with its name, or
// the first, and writes what is needed in the order of the names.
func TestSkeleton_IsTheSameEachTime(t *testing.T) {
	t.Parallel()
	a := parse(t, `paths:
  /x:
    get: {responses: {200: {$ref: '#/components/responses/Here'}, 201: {$ref: '#/components/responses/There'}, 202: {$ref: '#/components/responses/Gone'}}}
components:
  schemas: {Boat: {type: object}, Bark: {type: object}, Crew: {type: object}}
  responses:
    Here: {content: {application/json: {schema: {$ref: '#/components/schemas/Bark'}}}}
    There: {content: {application/json: {schema: {$ref: '#/components/schemas/Boat'}}}}
    Gone: {content: {application/json: {schema: {$ref: '#/components/schemas/Crew'}}}}
`)
	b := parse(t, `paths:
  /x:
    get: {responses: {200: {$ref: '#/components/responses/Both'}, 201: {$ref: '#/components/responses/Both'}, 202: {$ref: '#/components/responses/Gone'}}}
  /x/y:
    get:
      operationId: y
      responses:
        200: {$ref: '#/components/responses/Both'}
        202: {headers: {H2: {schema: {$ref: '#/components/schemas/N2'}}, H1: {schema: {$ref: '#/components/schemas/N1'}}}}
        203: {content: {text/b: {schema: {$ref: '#/components/schemas/N4'}}, text/a: {schema: {$ref: '#/components/schemas/N3'}}}}
        204: {content: {text/a: {schema: {properties: {b: {$ref: '#/components/schemas/N6'}, a: {$ref: '#/components/schemas/N5'}, c: {$ref: '#/components/schemas/Boat'}, d: {$ref: '#/components/schemas/Crew'}}}}}}
components:
  schemas: {Boat: {type: object}, Crew: {type: object}, N1: {type: object}, N2: {type: object}, N3: {type: object}, N4: {type: object}, N5: {type: object}, N6: {type: object}}
  responses:
    Both: {content: {application/json: {schema: {$ref: '#/components/schemas/Boat'}}}}
    Gone: {content: {application/json: {schema: {$ref: '#/components/schemas/Crew'}}}}
`)
	found, named := diff.Compare(a, b), regexp.MustCompile(`(?:#/components/|\n {6})(\w+/?\w+)['"]?(?:\n|:\n {8}type)`)
	for range 20 {
		text, left, err := diff.Skeleton(a, b, found, "n", "a.yaml")
		require.NoError(t, err)
		require.Empty(t, left)
		var names []string
		for _, match := range named.FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
		require.Equal(t, []string{
			"responses/Here", "schemas/N1", "schemas/N2", "schemas/N3", "schemas/N4", "schemas/N5", "schemas/N6", "schemas/Boat", "schemas/Crew",
			"N1", "N2", "N3", "N4", "N5", "N6",
		}, names)
	}
}

// The path of an operation may begin with that of another, which either document may have.
func TestSkeleton_WritesEachOperationByItsWholePath(t *testing.T) {
	t.Parallel()
	a := parse(t, `paths:
  /x: {get: {operationId: x, responses: {200: {}}}}
  /x/{id}: {get: {operationId: one, responses: {200: {}}}}
  /x/{id}/old: {get: {operationId: old, responses: {200: {}}}}
`)
	b := parse(t, `paths:
  /x: {get: {operationId: x, responses: {200: {}}}}
  /x/{id}: {get: {operationId: one, parameters: [{name: color, in: query, schema: {type: string}}], responses: {200: {}, 418: {}}}}
  /x/{id}/new: {get: {operationId: new, responses: {200: {}}}}
`)
	found := diff.Compare(a, b)
	require.Len(t, found, 4)
	_, left, err := diff.Skeleton(a, b, found, "n", "a.yaml")
	require.NoError(t, err)
	require.Empty(t, left)
}
