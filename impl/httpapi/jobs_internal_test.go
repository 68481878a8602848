package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	jobs "github.com/berthdev/berth/impl/queue"
)

func TestJobs_TimesAreThoseOfWhatHasHappened(t *testing.T) {
	t.Parallel()
	at := func(ms int64) time.Time { return time.UnixMilli(1_700_000_000_000 + ms) }
	waits := listedJobView(compute.Job{QueuedAt: at(0)})
	require.Nil(t, waits.DelayTime)
	require.Nil(t, waits.ExecutionTime)
	require.Nil(t, waits.StartedAt)
	require.Nil(t, waits.FinishedAt)
	runs := listedJobView(compute.Job{QueuedAt: at(0), TakenAt: at(1500)})
	require.EqualValues(t, 1500, *runs.DelayTime)
	require.Nil(t, runs.ExecutionTime)
	ended := listedJobView(compute.Job{QueuedAt: at(0), TakenAt: at(1500), EndedAt: at(4000)})
	require.EqualValues(t, 1500, *ended.DelayTime)
	require.EqualValues(t, 2500, *ended.ExecutionTime)
	never := listedJobView(compute.Job{QueuedAt: at(0), EndedAt: at(4000)})
	require.Nil(t, never.ExecutionTime, "no worker had it")
}

func TestJobs_TextsAreNotCutWithinACharacter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "abc": "abc", "aé": "aé", "a\xc3": "a", "a€": "a€", "a\xe2\x82": "a", "a\xe2": "a", "a😀": "a😀", "a\xf0\x9f\x98": "a", "a\xf0\x9f": "a", "a\xf0": "a",
		"\xc3": "", "éa": "éa", "\x80\x80\x80\x80": "\x80\x80\x80\x80", "€\xe2\x82": "€",
	} {
		require.Equal(t, want, string(uncut([]byte(text))), "%q", text)
	}

	long := jobDetailView(jobs.ShownJob{Job: compute.Job{Error: strings.Repeat("x", jobs.ExcerptSize-1) + "é"}, Input: jobs.Excerpt{Text: []byte("ab"), Size: 2}, Output: jobs.Excerpt{Text: []byte("ab"), Size: 3}})
	require.Equal(t, strings.Repeat("x", jobs.ExcerptSize-1), *long.Error)
	require.False(t, long.Input.Truncated, "it is whole")
	require.True(t, long.Output.Truncated)
	require.Nil(t, jobDetailView(jobs.ShownJob{}).Error)
}

func TestJobs_LongestTimesStayTimes(t *testing.T) {
	t.Parallel()
	const years = 100 * 365 * 24 * time.Hour
	for ms, want := range map[int64]time.Duration{
		0: 0, 1: time.Millisecond, -5: -5 * time.Millisecond, years.Milliseconds() - 1: years - time.Millisecond, years.Milliseconds(): years, years.Milliseconds() + 1: years, 1 << 62: years,
	} {
		require.Equal(t, want, milliseconds(ms), ms)
	}
	require.Equal(t, jobs.DefaultWait, waitOf(nil))
	require.Equal(t, 5*time.Millisecond, waitOf(new(int64(5))))
}

// reading is a request by the key of a pier, whose answers have little time to wait for memory.
func reading(t *testing.T) (*Services, *request) {
	p := newPier(t, silent)
	s := &Services{Keyring: p.keyring, Answers: limit.NewAnswers(time.Millisecond), Log: slog.New(slog.DiscardHandler)}
	return s, &request{Context: echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", http.NoBody), httptest.NewRecorder()), caller: caller{Key: p.key, bearer: true}}
}

func TestJobs_ChunksThatAreReadAtOnceCountAsALargeAnswer(t *testing.T) {
	t.Parallel()
	s, r := reading(t)
	const free, few = 64 << 10, 1 << 20
	room, leave := s.chunkRoom(r)
	took := func(bytes int) int {
		may, err := room(bytes)
		require.NoError(t, err)
		return may
	}

	// Beside it there is memory for 10 MB of text and no byte more.
	others, ok := s.Answers.Try("others", 12_000_000)
	require.True(t, ok)
	require.Equal(t, 10_000_000, took(10_000_000), "chunks and their text take twice as much")
	_, ok = s.Answers.Try("third", 1)
	require.False(t, ok)
	require.Equal(t, free, took(free))
	third, ok := s.Answers.Try("third", 20_000_000)
	require.True(t, ok, "what it had for the last piece is given back, and a short one has none")

	// There is none, so it gets few, for which it waits, and which is its own.
	require.Equal(t, few, took(free+1))
	rest, err := s.Answers.Piece(t.Context(), "others", 48_000_000-2*few)
	require.NoError(t, err)
	_, err = s.Answers.Piece(t.Context(), "third", 1)
	require.Equal(t, compute.Unavailable, compute.CodeOf(err), "all pieces are taken")
	leave()
	one, err := s.Answers.Piece(t.Context(), "third", 2*few)
	require.NoError(t, err, "what it had is given back")
	_, err = room(free + 1)
	require.ErrorIs(t, err, limit.ErrBusy)
	for _, leave := range []func(){others, third, rest, one} {
		leave()
	}
	require.Equal(t, free+1, took(free+1))
	leave()
	leave() // again, which is nothing
}

func TestJobs_NoChunksForAKeyThatIsNotGoodAnyMore(t *testing.T) {
	t.Parallel()
	s, r := reading(t)
	require.NoError(t, s.Keyring.Delete(t.Context(), r.caller.ID))
	r.Request().Header.Set("Authorization", "Bearer brt_nosuchkey1_secret")
	room, leave := s.chunkRoom(r)
	defer leave()
	_, err := room(1)
	require.Equal(t, compute.Unauthenticated, compute.CodeOf(err))
}

func TestPages_RoomIsFreeThenCountedThenOver(t *testing.T) {
	t.Parallel()
	s, r := reading(t)
	room, busy, leave := s.roomFor(r, mostPage)
	others, ok := s.Answers.Try("others", 20_000_000)
	require.True(t, ok)
	more, ok := s.Answers.Try("more", 12_000_000-4<<20)
	require.True(t, ok)

	require.True(t, room(1<<20), "it takes nothing")
	all, ok := s.Answers.Try("third", 4<<20)
	require.True(t, ok)
	all()
	require.True(t, room(3<<20), "it takes two pieces, each for the rows and their text")
	_, ok = s.Answers.Try("third", 1)
	require.False(t, ok)
	require.False(t, room(4<<20+1))
	require.False(t, busy(), "that is more than a page has")
	require.False(t, room(4<<20))
	require.True(t, busy(), "others have the rest")
	leave()
	all, ok = s.Answers.Try("third", 4<<20)
	require.True(t, ok, "what it had is given back")
	for _, leave := range []func(){others, more, all} {
		leave()
	}
}

func TestLongText_IsWholeIfThereIsRoomAndElseComesInPieces(t *testing.T) {
	t.Parallel()
	s := &Services{Answers: limit.NewAnswers(time.Millisecond)}
	require.Nil(t, s.long(&compute.Job{}, compute.JobOutput, 0), "there is none")
	j, leave, err := s.whole(t.Context(), "k", compute.Job{Output: []byte("1")})
	require.NoError(t, err)
	leave()
	require.Equal(t, "1", string(j.Output), "it is at hand")
	_, leave, err = s.whole(t.Context(), "k", compute.Job{})
	require.NoError(t, err, "there is no output")
	leave()

	full, err := s.Answers.Whole(t.Context(), "others", 32_000_000)
	require.NoError(t, err)
	defer full()
	_, _, err = s.whole(t.Context(), "k", compute.Job{OutputSize: 1})
	require.ErrorIs(t, err, limit.ErrBusy)
	changing := s.long(&compute.Job{Status: compute.JobInProgress}, compute.JobOutput, 300_000)
	require.ErrorIs(t, changing.open(t.Context(), "k"), limit.ErrBusy, "it may be replaced, so it is not read in pieces")
	pieces, err := s.Answers.Piece(t.Context(), "others", 48_000_000)
	require.NoError(t, err)
	defer pieces()
	lasting := s.long(&compute.Job{Status: compute.JobCompleted}, compute.JobOutput, 300_000)
	require.ErrorIs(t, lasting.open(t.Context(), "k"), limit.ErrBusy)
}

func TestWorker_BatchCountsWhatStaysInMemory(t *testing.T) {
	t.Parallel()
	s, r := reading(t)
	full, err := s.Answers.Whole(t.Context(), "others", 32_000_000)
	require.NoError(t, err)
	configured := func(bytes int) []jobs.Taken {
		return []jobs.Taken{{Job: compute.Job{S3Config: make([]byte, bytes)}}}
	}
	_, err = s.boundBatch(r, configured(compute.PieceSize/2))
	require.NoError(t, err, "as much as counts for nothing, with the copy")
	_, err = s.boundBatch(r, configured(compute.PieceSize/2+1))
	require.ErrorIs(t, err, limit.ErrBusy)
	both := configured(compute.PieceSize / 2)
	both[0].Input = []byte("1")
	_, err = s.boundBatch(r, both)
	require.NoError(t, err, "the input need not stay")

	const long = compute.PieceSize/2 + 1
	batch := func() []jobs.Taken { return []jobs.Taken{{Input: make([]byte, long)}, {}, {Input: make([]byte, long)}} }
	without := batch()
	leave, err := s.boundBatch(r, without)
	require.NoError(t, err)
	leave()
	for i, size := range []int{long, 0, long} {
		require.Nil(t, without[i].Input, "there is no room for it: it is read again when it is sent")
		require.Equal(t, size, without[i].InputSize)
	}

	full()
	_, err = s.boundBatch(r, configured(compute.PieceSize/2))
	require.NoError(t, err)
	all, err := s.Answers.Whole(t.Context(), "others", 32_000_000)
	require.NoError(t, err, "a short batch has nothing of it")
	all()
	with := batch()
	leave, err = s.boundBatch(r, with)
	require.NoError(t, err)
	require.Len(t, with[0].Input, long)
	one, ok := s.Answers.Try("one", 20_000_000)
	require.True(t, ok)
	other, ok := s.Answers.Try("other", 12_000_000-2*long)
	require.True(t, ok)
	_, ok = s.Answers.Try("third", 1)
	require.False(t, ok, "the batch counts")
	leave()
	third, ok := s.Answers.Try("third", 2*long)
	require.True(t, ok)
	for _, leave := range []func(){one, other, third} {
		leave()
	}
}
