package sqlite_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// frameSize is that of a page in the log.
const frameSize = 24 + 4096

// crashed gives the files of a database with a log of some commits, as a crash leaves them; ends are the lengths of the log after
// each commit.
func crashed(t *testing.T) (file, log []byte, ends []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "berth.db")
	s := openAt(t, path)
	for i := range 6 {
		require.NoError(t, s.Write(t.Context(), insertJob(compute.JobID(fmt.Sprint(i)))))
		info, err := os.Stat(path + "-wal")
		require.NoError(t, err)
		ends = append(ends, int(info.Size()))
	}

	file, err := os.ReadFile(path)
	require.NoError(t, err)
	log, err = os.ReadFile(path + "-wal")
	require.NoError(t, err)
	return file, log, ends
}

// headed puts a number into the header of a log, at its offset, with the checksum that the header has then.
func headed(log []byte, at int, n uint32) []byte {
	binary.BigEndian.PutUint32(log[at:], n)
	var a, b uint32
	for i := 0; i < 24; i += 8 {
		a += binary.LittleEndian.Uint32(log[i:]) + b
		b += binary.LittleEndian.Uint32(log[i+4:]) + a
	}
	binary.BigEndian.PutUint32(log[24:], a)
	binary.BigEndian.PutUint32(log[28:], b)
	return log
}

// after opens the files as they are and gives what is found to be damaged, and how many jobs there are.
func after(t *testing.T, file, log []byte) (*sqlite.Damage, int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "berth.db")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	require.NoError(t, os.WriteFile(path+"-wal", log, 0o600))

	s := openAt(t, path)
	jobs := 0
	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		return tx.UnfinishedJobs(func(compute.Job) { jobs++ })
	}))

	found := s.Damage()
	require.NoError(t, s.Close())
	require.Nil(t, openAt(t, path).Damage(), "it is reported once")
	return found, jobs
}

func TestDamage_IsFoundAndWhatCouldBeRead(t *testing.T) {
	t.Parallel()
	file, log, ends := crashed(t)
	pages := func(from, to int) int { return (to - from) / frameSize }
	for name, c := range map[string]struct {
		damage   func(log []byte) []byte
		jobs     int
		found    *sqlite.Damage
		certain  bool
		contains string
	}{
		"nothing is damaged": {func(log []byte) []byte { return log }, 6, nil, false, ""},
		"a byte in the middle": {
			func(log []byte) []byte { log[ends[1]+100]++; return log }, 2,
			&sqlite.Damage{Commits: 2, Pages: pages(32, ends[1]), LostCommits: 4, LostPages: pages(ends[1], ends[5])}, true, "2 commits",
		},
		"a byte of the last commit": {
			func(log []byte) []byte { log[ends[5]-1]++; return log }, 5,
			&sqlite.Damage{Commits: 5, Pages: pages(32, ends[4]), LostCommits: 1, LostPages: pages(ends[4], ends[5])}, false, "and 1 after",
		},
		"the last commit was under way": {func(log []byte) []byte { return log[:ends[5]-frameSize] }, 5, nil, false, ""},
		"a frame was under way":         {func(log []byte) []byte { return log[:ends[5]-1000] }, 5, nil, false, ""},
		"the header":                    {func(log []byte) []byte { log[17]++; return log }, 0, &sqlite.Damage{Header: true, LostPages: pages(32, ends[5])}, true, "header"},
		"the header's magic":            {func(log []byte) []byte { log[0]++; return log }, 0, &sqlite.Damage{Header: true, LostPages: pages(32, ends[5])}, true, "none of its"},
		"pages of half the least size":  {func(log []byte) []byte { return headed(log, 8, 256) }, 0, &sqlite.Damage{Header: true, LostPages: pages(32, ends[5])}, true, "header"},
		"pages of twice the most":       {func(log []byte) []byte { return headed(log, 8, 1<<17) }, 0, &sqlite.Damage{Header: true, LostPages: pages(32, ends[5])}, true, "header"},
		"pages of no power of two":      {func(log []byte) []byte { return headed(log, 8, 5000) }, 0, &sqlite.Damage{Header: true, LostPages: pages(32, ends[5])}, true, "header"},
		"another magic with its sum":    {func(log []byte) []byte { return headed(log, 0, 0x377f0680) }, 0, &sqlite.Damage{Header: true, LostPages: pages(32, ends[5])}, true, "header"},
		"nothing was ever written":      {func(log []byte) []byte { clear(log); return log }, 0, nil, false, ""},
		"half a header":                 {func(log []byte) []byte { return log[:20] }, 0, nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, jobs := after(t, file, c.damage(append([]byte(nil), log...)))
			require.Equal(t, c.jobs, jobs)
			require.Equal(t, c.found, found)
			if found != nil {
				require.Equal(t, c.certain, found.Certain())
				require.ErrorContains(t, found, c.contains)
			}
		})
	}
}

func TestDamage_LogOfAnotherWriterIsNone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s := openAt(t, path)

	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}

			if err := s.Write(t.Context(), insertJob(compute.JobID(fmt.Sprint(i)))); err != nil {
				stopped <- err
				return
			}
		}
	}()

	for range 20 {
		beside := openAt(t, path)
		require.Nil(t, beside.Damage())
		require.NoError(t, beside.Close())
	}

	close(stop)
	require.NoError(t, <-stopped)
}
