package ship

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var moment = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

// summed makes an object of what is before its checksum.
func summed(parts ...[]byte) []byte {
	all := bytes.Join(parts, nil)
	sum := sha256.Sum256(all)
	return append(all, sum[:]...)
}

// zipped is the content of an object.
func zipped(t *testing.T, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func length(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

func TestObject_IsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	h := header{Kind: kindBase, Generation: "g", Number: 7, At: moment, Log: "salt", Offset: 32, Previous: "sum", Base: &base{Number: 1, Parts: 2, Bytes: 3, First: 4, Whole: 5, At: moment}}
	for _, content := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte("content "), 10_000)} {
		object, sum, err := seal(h, content)
		require.NoError(t, err)
		require.Equal(t, magic, string(object[:len(magic)]))
		require.Equal(t, sum, hex.EncodeToString(object[len(object)-sha256.Size:]))
		got, read, its, err := unseal(object)
		require.NoError(t, err)
		require.Equal(t, sum, its)
		require.True(t, bytes.Equal(content, read))
		want := h
		want.Bytes = int64(len(content))
		require.Equal(t, want, got)
	}
}

func TestObject_AnyOtherByteIsDamage(t *testing.T) {
	t.Parallel()
	object, _, err := seal(header{Kind: kindPart, Generation: "g", Number: 1}, []byte("content"))
	require.NoError(t, err)
	for i := range object {
		other := bytes.Clone(object)
		other[i] ^= 1
		_, _, _, err := unseal(other)
		require.ErrorIs(t, err, errDamaged, "byte %d", i)
		_, _, _, err = unseal(object[:i])
		require.ErrorIs(t, err, errDamaged, "%d bytes", i)
	}

	text, err := json.Marshal(header{Kind: kindPart, Bytes: 7})
	require.NoError(t, err)
	whole := summed([]byte(magic), length(len(text)), text, zipped(t, "content"))
	_, content, _, err := unseal(whole)
	require.NoError(t, err)
	require.Equal(t, "content", string(content))
	for what, object := range map[string][]byte{
		"nothing":                      summed(),
		"no more than the magic":       summed([]byte(magic)),
		"half a length":                summed([]byte(magic), []byte{0, 0, 0}),
		"another magic":                summed([]byte("berthlog2\n"), length(len(text)), text, zipped(t, "content")),
		"a header longer than it":      summed([]byte(magic), length(1000), text, zipped(t, "content")),
		"a header that is no JSON":     summed([]byte(magic), length(3), []byte("xyz"), zipped(t, "content")),
		"a content that is no gzip":    summed([]byte(magic), length(len(text)), text, []byte("content")),
		"a content that is cut":        summed([]byte(magic), length(len(text)), text, zipped(t, "content")[:20]),
		"a shorter content than said":  summed([]byte(magic), length(len(text)), text, zipped(t, "conten")),
		"a longer content than said":   summed([]byte(magic), length(len(text)), text, zipped(t, "contents")),
		"a header, and nothing at all": summed([]byte(magic), length(len(text)), text),
	} {
		_, content, sum, err := unseal(object)
		require.ErrorIs(t, err, errDamaged, what)
		require.Empty(t, content, what)
		require.Empty(t, sum, what)
	}
}

func TestNames_StandInTheOrderOfWhatTheyName(t *testing.T) {
	t.Parallel()
	g := nameGeneration(moment.In(time.FixedZone("elsewhere", 3600)), "x")
	require.Equal(t, "20260301T120000.123Z-x", g)
	began, err := beginOf(g)
	require.NoError(t, err)
	require.Equal(t, moment.Truncate(time.Millisecond), began)
	_, err = beginOf("lost+found")
	require.Error(t, err)

	name := nameSegment(g, 42, moment)
	require.Equal(t, g+"/log/0000000042-1772366400123", name)
	s, ok := readSegment(Object{Name: name, Bytes: 9})
	require.True(t, ok)
	require.Equal(t, segment{Object{name, 9}, 42, moment.Truncate(time.Millisecond)}, s, "what is said to be there is")
	for _, name := range []string{"", "g/log/", "g/log/x-1", "g/log/1", "g/log/1-x", "g/log/1-"} {
		_, ok := readSegment(Object{Name: name})
		require.False(t, ok, name)
	}
	require.Less(t, nameSegment(g, 999, moment), nameSegment(g, 1000, moment))
	require.Less(t, nameBase(g, 9), nameBase(g, 10))
	require.Less(t, namePart(g, 9, 10), namePart(g, 10, 1))
	require.Less(t, namePart(g, 9, 9), namePart(g, 9, 10))
	require.Equal(t, g+"/key", nameKey(g))
}

func TestDirectoryOf_IsUpToTheLastSlash(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]string{"": "", "a": "", "a/": "a/", "a/b": "a/", "a/b/c": "a/b/"} {
		require.Equal(t, want, directoryOf(prefix))
	}
}
