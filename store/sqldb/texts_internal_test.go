package sqldb

import (
	"database/sql/driver"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestSeqOf_IsTheTimeAndCounterOfAnID(t *testing.T) {
	t.Parallel()
	const rest = "-8000-000000000000"
	for id, want := range map[string]int64{
		"00000000-0000-7000" + rest: 0, "00000000-0000-7001" + rest: 1, "00000000-0000-700f" + rest: 15, "00000000-0000-700a" + rest: 10, "00000000-0000-7fff" + rest: 0xfff,
		"00000000-0001-7000" + rest: 0x1000, "00000001-0000-7000" + rest: 0x10000000, "01234567-89ab-7cde" + rest: 0x0123456789abcde, "ffffffff-ffff-7fff" + rest: 1<<60 - 1,
	} {
		require.Equal(t, want, seqOf(compute.JobID(id)), id)
		require.Equal(t, want, seqOf(compute.JobID("sync-"+id)), "sync-%s", id)
		require.Equal(t, want, seqOf(compute.JobID(strings.Replace(id, "-8000-", "-9fff-", 1))), "what cannot be guessed is no part of it")
	}

	seen := map[int64]string{}
	for _, id := range []string{
		"", "a", "j1", "00000000-0000-4000" + rest, "00000000-0000-700A" + rest, "00000000-0000-700g" + rest, "00000000-0000-700/" + rest, "00000000-0000-700:" + rest, "00000000-0000-700`" + rest,
		"00000000+0000-7000" + rest, "00000000-0000+7000" + rest, "00000000-0000-7000+8000-000000000000", "00000000-0000-7000" + rest + "0", "0000000-0000-7000" + rest, "async-00000000-0000-7000" + rest,
	} {
		seq := seqOf(compute.JobID(id))
		require.GreaterOrEqual(t, seq, int64(1)<<62, "%q is above all those", id)
		require.Empty(t, seen[seq], id)
		seen[seq] = "taken"
		require.Equal(t, seq, seqOf(compute.JobID(id)))
	}
}

func TestLogLines_ComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	log := []compute.LogLine{{Source: compute.LogSystem, Position: 1, Text: "it is up"}, {Source: compute.LogContainer, Position: -1, Text: ""}, {Position: 1 << 62, Text: " a b "}}
	got, err := logLines(lineTexts(log))
	require.NoError(t, err)
	require.Equal(t, log, got)
	for _, text := range []string{"", "1", "1 system", "x system text", " system text", "1.5 system text"} {
		_, err := logLines([]string{"1 system fine", text})
		require.ErrorContains(t, err, "is no line of a log", "%q", text)
	}
	var w compute.EndedWorker
	require.NoError(t, readLines(&w, `["1 system it is up"]`))
	require.Equal(t, log[:1], w.Log)
	require.Error(t, readLines(&w, `["nonsense"]`))
	require.Error(t, readLines(&w, `["\x"]`))
}

func TestCPUs_ComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	cpus := []compute.CPU{{ID: "cpu3c", VCPUCount: 2, MemoryGB: 4}, {ID: "a flavor of 2 words", VCPUCount: 1 << 40, MemoryGB: 0}, {}}
	got, err := cpusOf(cpuWords(cpus))
	require.NoError(t, err)
	require.Equal(t, cpus, got)
	for _, text := range []string{"", "cpu3c", "cpu3c 2", "cpu3c x 4", "cpu3c 2 x", "cpu3c 2 "} {
		_, err := cpusOf([]string{"cpu3c 2 4", text})
		require.Error(t, err, "%q", text)
	}
	var e compute.Endpoint
	require.NoError(t, readCPUs(&e, `["cpu3c 2 4"]`))
	require.Equal(t, cpus[:1], e.CPUs)
	require.Error(t, readCPUs(&e, `["cpu3c 2"]`))
	require.Error(t, readCPUs(&e, `["\x"]`))
}

func TestHash_IsReadWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	hash := []byte(strings.Repeat("h", 32))
	var k compute.Key
	require.NoError(t, readHash(&k, hash))
	require.Equal(t, hash, k.Hash[:])
	for _, v := range []driver.Value{[]byte{}, hash[:31], "text", nil} {
		require.Error(t, readHash(&k, v), "%v", v)
	}
}

func TestReleases_DiffOfDifferentLengthsIsRefused(t *testing.T) {
	t.Parallel()
	of := releaseColumns.only("fields", "old_values", "new_values")
	want := compute.Release{Diff: []compute.FieldChange{{Field: "image", Old: json.RawMessage(`"a"`), New: json.RawMessage(`"b"`)}, {Field: "args", Old: json.RawMessage(`""`), New: json.RawMessage(`"-x"`)}}}
	for _, want := range []compute.Release{{}, want} {
		var got compute.Release
		values := of.values(nil, &want)
		require.NoError(t, of.scan(row{values[0], values[1], values[2]}, &got))
		require.Equal(t, want, got)
	}

	var r compute.Release
	require.EqualError(t, of.scan(row{`["image"]`, `["1"]`, `["1","2"]`}, &r), "new_values: 2 values for 1 changes")
	r = compute.Release{}
	require.EqualError(t, of.scan(row{`["image"]`, `[]`, `[]`}, &r), "old_values: 0 values for 1 changes")
	r = compute.Release{}
	require.Error(t, of.scan(row{`["\x"]`, `[]`, `[]`}, &r))
}

func TestContains_MatchesAnyTextInSmallLetters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "%%", "abc": "%abc%", "AZaz09@[`{": "%azaz09@[`{%", "100%": "%100!%%", "a_b!": "%a!_b!!%", "Éé": "%Éé%",
	} {
		require.Equal(t, want, contains(text))
	}
}

func TestSizeOf_CountsTextsAndBytes(t *testing.T) {
	t.Parallel()
	require.Zero(t, sizeOf(row{}))
	small := sizeOf(row{int64(1), nil, ""})
	require.Positive(t, small)
	require.Equal(t, small+1000, sizeOf(row{int64(1), nil, strings.Repeat("x", 1000)}))
	require.Equal(t, small+1000, sizeOf(row{int64(1), make([]byte, 1000), ""}))
	require.Greater(t, sizeOf(row{int64(1), nil, "", 1.5}), small)
}
