//go:build unix

package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/pkg/sftp"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// packetOf is a packet of so many bytes after its length.
func packetOf(size int) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(size)), make([]byte, size)...)
}

func TestPackets_NoMoreAreReadThanMayWait(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer func() { _ = ours.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	p := bounded(ctx, theirs)
	var read atomic.Int64
	go func() {
		for {
			head := make([]byte, 4)
			if _, err := io.ReadFull(p, head); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, p, int64(binary.BigEndian.Uint32(head))); err != nil {
				return
			}
			read.Add(1)
		}
	}()

	send := func(within time.Duration) error {
		require.NoError(t, ours.SetWriteDeadline(time.Now().Add(within)))
		_, err := ours.Write(packetOf(9))
		return err
	}
	for range mostUnanswered {
		require.NoError(t, send(10*time.Second))
	}
	require.ErrorIs(t, send(200*time.Millisecond), os.ErrDeadlineExceeded)
	require.EqualValues(t, mostUnanswered, read.Load())

	go func() { _, _ = io.Copy(io.Discard, iotest.OneByteReader(ours)) }()
	_, err := p.Write(append(packetOf(5), packetOf(0)[:2]...)) // one answer, and a part of the next
	require.NoError(t, err)
	require.NoError(t, send(10*time.Second))
	require.Eventually(t, func() bool { return read.Load() == mostUnanswered+1 }, 10*time.Second, time.Millisecond)
	cancel()
	_, err = bounded(ctx, &bytes.Buffer{}).Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

func TestFiles_AttributesThatEndEarlyAreRefused(t *testing.T) {
	t.Parallel()
	for _, flags := range []uint32{1, 2, 4, 8, 4 | 1<<31} {
		require.ErrorIs(t, (&files{}).Filecmd(&sftp.Request{Method: "Setstat", Filepath: "/a", Flags: flags}), sftp.ErrSSHFxBadMessage)
	}
}

func TestWriting_WhatComesEarlyIsBounded(t *testing.T) {
	t.Parallel()
	w := &writing{size: 5, open: true, early: map[int64][]byte{}}
	var err error
	for at := int64(100); err == nil && at < 100_000; at++ {
		_, err = w.WriteAt([]byte{1}, at)
	}
	require.ErrorIs(t, err, errOrder)
	require.LessOrEqual(t, len(w.early)*pieceCost, window)

	w = &writing{size: 5, open: true, early: map[int64][]byte{}}
	for at := range int64(100_000) {
		_, err := w.WriteAt(nil, at)
		require.NoError(t, err)
		_, err = w.WriteAt([]byte{1}, 100)
		require.NoError(t, err, "the same piece again takes no more room")
	}
	require.Len(t, w.early, 1)
}

func TestFiles_WhatIsNotWrittenAgainStays(t *testing.T) {
	t.Parallel()
	files, dir := filesOfPod(t), t.TempDir()
	at := filepath.Join(dir, "a")
	for _, c := range []struct {
		flags      int
		text, want string
	}{
		{os.O_WRONLY, "AB", "AB23456789"}, {os.O_WRONLY | os.O_TRUNC, "AB", "AB"}, {os.O_WRONLY | os.O_TRUNC | os.O_APPEND, "new", "new"}, {os.O_WRONLY | os.O_APPEND, "AB", "0123456789AB"},
	} {
		require.NoError(t, os.WriteFile(at, []byte("0123456789"), 0o600))
		file, err := files.OpenFile(at, c.flags)
		require.NoError(t, err)
		_, err = file.Write([]byte(c.text))
		require.NoError(t, err)
		require.NoError(t, file.Close())
		got, err := os.ReadFile(at)
		require.NoError(t, err)
		require.Equal(t, c.want, string(got), "%x", c.flags)
	}
}

func TestCreating_GivesANewFileTheModeThatIsSent(t *testing.T) {
	t.Parallel()
	for mode, want := range map[uint32]string{0o100755: "0755", 0o600: "0600", 0o666: "0644", 0: "0600"} {
		command := creating(&sftp.Request{Filepath: "/a", Attrs: binary.BigEndian.AppendUint32(nil, mode)}, false)
		require.Equal(t, want, command[len(command)-1])
	}
	require.Len(t, creating(&sftp.Request{Filepath: "/a", Attrs: make([]byte, 4)}, true), 5, "what is there keeps its own")
	require.Len(t, creating(&sftp.Request{Filepath: "/a"}, false), 5)
}

// TestFiles_AreOneSession: what a login does by many commands is one entry of who changed what.
func TestFiles_AreOneSession(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	client, err := sftp.NewClientPipe(channelOfPod(t, func() { opened.Add(1) }))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	dir := t.TempDir()
	for range 20 {
		_, err := client.Stat(dir)
		require.NoError(t, err)
	}
	file, err := client.Create(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.EqualValues(t, 1, opened.Load())
}

func TestShare_OfChannelsIsBounded(t *testing.T) {
	t.Parallel()
	var s compute.Share[compute.UserID]
	for i := range mostChannels {
		require.True(t, s.Enter(compute.UserID(strconv.Itoa(i/channelsOfUser)), mostChannels, channelsOfUser))
	}
	require.False(t, s.Enter("another", mostChannels, channelsOfUser))
	s.Leave("0")
	require.True(t, s.Enter("another", mostChannels, channelsOfUser))
	require.False(t, s.Enter("1", mostChannels+1, channelsOfUser), "the user has as many as one may")
}
