package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// wide is a page that has all.
var wide = compute.Page{Limit: 1000}

// firstPage gives what is on a page that has all.
func firstPage[T any](all []T, next compute.Position, err error) ([]T, error) {
	if err == nil && next != (compute.Position{}) {
		err = compute.Errorf(compute.Internal, "there are more than %d", wide.Limit)
	}
	return all, err
}

// allOf gives a list for which there was room.
func allOf[T any](all []T, whole bool, err error) ([]T, error) {
	if err == nil && !whole {
		err = compute.Errorf(compute.Internal, "there is more")
	}
	return all, err
}

// pagedList is a list that is read in pages.
type pagedList struct {
	insert func(tx store.Tx, id string, at time.Time) error
	remove func(tx store.Tx, id string) error
	page   func(store.Tx, compute.Page) ([]string, compute.Position, error)
}

// idsOf gives what page gives, as ids.
func idsOf[T any](id func(T) string) func([]T, compute.Position, error) ([]string, compute.Position, error) {
	return func(all []T, next compute.Position, err error) ([]string, compute.Position, error) {
		var ids []string
		for _, one := range all {
			ids = append(ids, id(one))
		}
		return ids, next, err
	}
}

var pagedLists = map[string]pagedList{
	"pods": {
		insert: func(tx store.Tx, id string, at time.Time) error {
			p := pod(compute.PodID(id), "u", compute.PodRunning)
			p.CreatedAt = at
			return tx.InsertPod(p)
		},
		remove: func(tx store.Tx, id string) error {
			p, err := tx.Pod(compute.PodID(id))
			if err != nil {
				return err
			}
			p.Status = compute.PodTerminated
			_, err = tx.MovePod(p)
			return err
		},
		page: func(tx store.Tx, p compute.Page) ([]string, compute.Position, error) {
			return idsOf(func(p compute.Pod) string { return string(p.ID) })(tx.PagePods("u", p))
		},
	},
	"endpoints": {
		insert: func(tx store.Tx, id string, at time.Time) error {
			return tx.InsertEndpoint(compute.Endpoint{ID: compute.EndpointID(id), UserID: "u", CreatedAt: at})
		},
		remove: func(tx store.Tx, id string) error { return tx.DeleteEndpoint(compute.EndpointID(id)) },
		page: func(tx store.Tx, p compute.Page) ([]string, compute.Position, error) {
			return idsOf(func(e compute.Endpoint) string { return string(e.ID) })(tx.PageEndpoints("u", p))
		},
	},
	"templates": {
		insert: func(tx store.Tx, id string, at time.Time) error {
			return tx.InsertTemplate(compute.Template{ID: compute.TemplateID(id), UserID: "u", CreatedAt: at})
		},
		remove: func(tx store.Tx, id string) error { return tx.DeleteTemplate(compute.TemplateID(id)) },
		page: func(tx store.Tx, p compute.Page) ([]string, compute.Position, error) {
			return idsOf(func(t compute.Template) string { return string(t.ID) })(tx.PageTemplates("u", p))
		},
	},
	"volumes": {
		insert: func(tx store.Tx, id string, at time.Time) error {
			return tx.InsertVolume(compute.Volume{ID: compute.VolumeID(id), UserID: "u", CreatedAt: at})
		},
		remove: func(tx store.Tx, id string) error { return tx.DeleteVolume(compute.VolumeID(id)) },
		page: func(tx store.Tx, p compute.Page) ([]string, compute.Position, error) {
			return idsOf(func(v compute.Volume) string { return string(v.ID) })(tx.PageVolumes("u", p))
		},
	},
	"global volumes": {
		insert: func(tx store.Tx, id string, at time.Time) error {
			return tx.InsertGlobalVolume(compute.GlobalVolume{ID: compute.VolumeID(id), UserID: "u", CreatedAt: at})
		},
		remove: func(tx store.Tx, id string) error { return tx.DeleteGlobalVolume(compute.VolumeID(id)) },
		page: func(tx store.Tx, p compute.Page) ([]string, compute.Position, error) {
			return idsOf(func(v compute.GlobalVolume) string { return string(v.ID) })(tx.PageGlobalVolumes("u", p))
		},
	},
}

// pages walks each list from page to page while things come, go, and come with a time of day that was stepped back.
func pages(t *testing.T, open Open) {
	s, _ := begin(t, open)
	for name, l := range pagedLists {
		ids, insert := pageTaker(t, s, l), func(id string, second int) {
			write(t, s, func(tx store.Tx) error { return l.insert(tx, id, start.Add(time.Duration(second)*time.Second)) })
		}
		remove := func(id string) { write(t, s, func(tx store.Tx) error { return l.remove(tx, id) }) }

		require.Empty(t, ids(10), name)
		for i := range 10 { // two of each second
			insert(fmt.Sprint(i), i/2)
		}
		require.Equal(t, []string{"9", "8", "7"}, ids(3), name)

		insert("late", 100)
		remove("7") // where the page ended
		remove("6") // where the next one would begin
		require.Equal(t, []string{"5", "4"}, ids(2), name)
		insert("early", 2) // after those of its second by its row, which was passed
		insert("between", 1)
		require.Equal(t, []string{"between", "3"}, ids(2), name)
		require.Equal(t, []string{"2", "1", "0"}, ids(3), name)
		require.Nil(t, ids(3), "the last page is marked as the last: %s", name)
	}
}

// pageTaker gives a walk from page to page: nil after the last one.
func pageTaker(t *testing.T, s store.Store, l pagedList) func(limit int) []string {
	var p compute.Page
	over := false
	return func(limit int) (ids []string) {
		if over {
			return nil
		}
		p.Limit = limit
		require.NoError(t, s.Read(t.Context(), func(tx store.Tx) (err error) {
			ids, p.After, err = l.page(tx, p)
			return err
		}))
		over = p.After == compute.Position{} && ids != nil
		return ids
	}
}

// releasePages walks the releases of an endpoint, which are ordered by their versions.
func releasePages(t *testing.T, open Open) {
	s, _ := begin(t, open)
	release := func(of compute.EndpointID, version int64) {
		write(t, s, func(tx store.Tx) error {
			return tx.InsertRelease(compute.Release{ID: compute.ReleaseID(fmt.Sprint(of, version)), EndpointID: of, Version: version, CreatedAt: start})
		})
	}
	for version := range int64(5) {
		release("e", version+1)
		release("other", version+1)
	}

	var versions []int64
	for p := (compute.Page{Limit: 2}); ; {
		require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
			some, next, err := tx.PageReleases("e", p)
			for _, r := range some {
				versions = append(versions, r.Version)
			}
			p.After = next
			return err
		}))
		if p.After == (compute.Position{}) {
			break
		}
		release("e", 10+p.After.Seq)
	}

	require.Equal(t, []int64{5, 4, 3, 2, 1}, versions)
	all := read(t, s, func(tx store.Tx) ([]compute.Release, error) { return firstPage(tx.PageReleases("e", wide)) })
	require.Len(t, all, 7)
	require.Equal(t, all, read(t, s, func(tx store.Tx) ([]compute.Release, error) {
		return firstPage(tx.PageReleases("e", compute.Page{Limit: 7}))
	}))
	require.True(t, slices.IsSortedFunc(all, func(a, b compute.Release) int { return int(b.Version - a.Version) }))
}

// pagesInBytes walks lists whose pages have no room for as many rows as their limit allows.
func pagesInBytes(t *testing.T, open Open) {
	s, _ := begin(t, open)
	const size = 10_000
	long := strings.Repeat("x", size)
	for i := range 7 {
		write(t, s, func(tx store.Tx) error {
			id := fmt.Sprint(i)
			p := pod(compute.PodID(id), "u", compute.PodRunning)
			p.CreatedAt, p.Env = start, map[string]string{"A": long}
			err := tx.InsertTemplate(compute.Template{ID: compute.TemplateID(id), UserID: "u", Readme: long, CreatedAt: start})
			return errors.Join(err, tx.InsertPod(p),
				tx.InsertEndpoint(compute.Endpoint{ID: compute.EndpointID(id), UserID: "u", Image: long, CreatedAt: start}),
				tx.InsertRelease(compute.Release{
					ID: compute.ReleaseID(id), EndpointID: "e", Version: int64(i + 1), CreatedAt: start,
					Diff: []compute.FieldChange{{Field: "env", Old: json.RawMessage(`"` + long + `"`), New: json.RawMessage("1")}},
				}))
		})
	}

	releases := func(tx store.Tx, p compute.Page) ([]string, compute.Position, error) {
		return idsOf(func(r compute.Release) string { return string(r.ID) })(tx.PageReleases("e", p))
	}
	for name, page := range map[string]func(store.Tx, compute.Page) ([]string, compute.Position, error){
		"pods": pagedLists["pods"].page, "endpoints": pagedLists["endpoints"].page, "templates": pagedLists["templates"].page, "releases": releases,
	} {
		for rows, want := range map[int][][]string{
			0: {{"6"}, {"5"}, {"4"}, {"3"}, {"2"}, {"1"}, {"0"}}, // never none
			3: {{"6", "5", "4"}, {"3", "2", "1"}, {"0"}},
			7: {{"6", "5", "4", "3", "2", "1", "0"}},
		} {
			most := 0
			take := pageTaker(t, s, pagedList{page: func(tx store.Tx, p compute.Page) ([]string, compute.Position, error) {
				p.Room = func(bytes int) bool {
					most = max(most, bytes)
					return bytes < (rows+1)*size
				}
				return page(tx, p)
			}})
			for _, ids := range want {
				require.Equal(t, ids, take(1000), "%s, room for %d", name, rows)
			}
			require.Nil(t, take(1000), name)
			require.Greater(t, most, size)
		}
	}
}

// pagesInSteps walks a list that is read in several steps because its pages have room for so many bytes at most.
func pagesInSteps(t *testing.T, open Open) {
	s, _ := begin(t, open)
	const count = 330 // the first step is 64, the second one four times as many
	var want []string
	write(t, s, func(tx store.Tx) error {
		want = nil
		for i := range count {
			id := fmt.Sprint(i)
			want = append(want, id)
			if err := pagedLists["templates"].insert(tx, id, start.Add(time.Duration(i/3)*time.Second)); err != nil {
				return err
			}
		}
		return nil
	})
	slices.Reverse(want)

	for _, limit := range []int{1, 63, 64, 65, 319, 320, 321, count - 1, count, count + 1, 1000} {
		for _, rows := range []int{1, 63, 64, 65, 100, count} {
			var got []string
			take := pageTaker(t, s, pagedList{page: func(tx store.Tx, p compute.Page) ([]string, compute.Position, error) {
				asked := 0
				p.Room = func(int) bool {
					asked++
					return asked <= rows
				}
				return pagedLists["templates"].page(tx, p)
			}})
			for ids := take(limit); ids != nil; ids = take(limit) {
				require.Len(t, ids, min(limit, rows, count-len(got)), "limit %d, room for %d", limit, rows)
				got = append(got, ids...)
			}
			require.Equal(t, want, got, "limit %d, room for %d", limit, rows)
		}
	}
}

// walk goes through a list that has more than is in memory at a time.
func walk(t *testing.T, open Open) {
	s, _ := begin(t, open)
	var want []string
	long := strings.Repeat("x", 900_000)
	for i := range 20 {
		id := fmt.Sprint(i)
		want = append([]string{id}, want...)
		write(t, s, func(tx store.Tx) error {
			return tx.InsertTemplate(compute.Template{ID: compute.TemplateID(id), UserID: "u", Readme: long, CreatedAt: start})
		})
	}

	var got []string
	pages := 0
	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		got, pages = nil, 0
		page := func(user compute.UserID, p compute.Page) ([]compute.Template, compute.Position, error) {
			pages++
			some, next, err := tx.PageTemplates(user, p)
			require.Less(t, len(some), 10, "as much as is in memory")
			return some, next, err
		}
		return store.Walk("u", page, func(one compute.Template) { got = append(got, string(one.ID)) })
	}))
	require.Equal(t, want, got)
	require.Equal(t, 3, pages)
}
