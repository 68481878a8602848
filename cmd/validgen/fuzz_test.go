package main

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzRest(f *testing.F)     { fuzz(f, "rest") }
func FuzzQueue(f *testing.F)    { fuzz(f, "queue") }
func FuzzWorker(f *testing.F)   { fuzz(f, "worker") }
func FuzzControls(f *testing.F) { fuzz(f, "controls") }
func FuzzKeywords(f *testing.F) { fuzz(f, "keywords") }

// hugeExponent finds numbers that the oracle would write out in full.
var hugeExponent = regexp.MustCompile(`[eE][+-]?[0-9]{4}`)

// fuzz reads any text with the decoders of a document: they must not panic, and what they accept the oracle and encoding/json
// must accept. What they refuse the oracle must refuse too, unless ours is the stricter one by design.
func fuzz(f *testing.F, document string) {
	all := bodiesOf(f, document)
	for i, b := range all {
		m := newMaker(b.root, 7)
		for range 40 {
			text, err := json.Marshal(m.valid(map[string]any{"$ref": "#/components/schemas/" + b.schema}, 0))
			require.NoError(f, err)
			f.Add(i, text)
		}
	}

	known := append(alsoStricter, stricter...)
	f.Fuzz(func(t *testing.T, i int, text []byte) {
		b := all[uint(i)%uint(len(all))]
		if hugeExponent.Match(text) {
			_, _, _ = b.op.Decode(text)
			return
		}
		if _, difference := b.disagreement(text, known); difference != "" {
			require.Fail(t, difference, "%s", text)
		}
	})
}
