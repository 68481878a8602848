package httpapi

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// BenchmarkListOfTenThousandRunningPods measures the parts of GET /v2/pods: the rows, the view and the text.
func BenchmarkListOfTenThousandRunningPods(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(b, err)
	defer func() { require.NoError(b, db.Close()) }()

	now := time.UnixMilli(1_700_000_000_000)
	require.NoError(b, db.Write(b.Context(), func(tx store.Tx) error {
		for i := range 10_000 {
			err := tx.InsertPod(compute.Pod{
				ID: compute.PodID(fmt.Sprintf("%014d", i)), UserID: "u", Name: "a", Image: "i", Ports: []string{"8888/http", "22/tcp"},
				Env: map[string]string{"A": "1"}, Devices: []string{"1"}, GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1},
				Status: compute.PodRunning, StartedAt: now, CreatedAt: now, MovedAt: now,
			})
			if err != nil {
				return err
			}
		}

		return nil
	}))

	half := 0.5
	live := compute.PodRuntime{
		Ports:      []compute.PublishedPort{{Private: 8888, Public: 1, Type: "http", IP: "192.0.2.1"}, {Private: 22, Public: 2, Type: "tcp", IP: "192.0.2.1"}},
		CPUPercent: &half, MemoryPercent: &half, GPUs: []compute.GPUUse{{}},
	}

	var pods []compute.Pod
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, db.Read(b.Context(), func(tx store.Tx) (err error) {
				pods, _, err = tx.PagePods("u", compute.Page{Limit: pageLimit})
				return err
			}))
		}
	})

	b.Run("page", func(b *testing.B) {
		b.ReportAllocs()
		s := Services{Answers: limit.NewAnswers(time.Minute)}
		c := &request{}
		for b.Loop() {
			p, leave, err := s.page(c, listed{}, nil, nil)
			require.NoError(b, err)
			require.NoError(b, db.Read(b.Context(), func(tx store.Tx) error {
				pods, _, err := tx.PagePods("u", p)
				require.Len(b, pods, pageLimit, "what is usual fits")
				return err
			}))
			leave()
		}
	})

	var list rest.PodList
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			list = rest.PodList{Pods: views(pods, func(p compute.Pod) rest.Pod { return podView(p, live, now) })}
		}
	})

	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, writeJSON(io.Discard, list))
		}
	})
}
