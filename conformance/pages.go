package conformance

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// pagedList is a list that is read in pages, with the body that makes a member of it.
type pagedList struct{ path, name, body, list, create string }

var pagedLists = []pagedList{
	{"/v2/pods", "pods", gpuPod, "listPods", "createPod"},
	{serverless, "endpoints", cpuEndpoint, "listEndpoints", "createEndpoint"},
	{templates, "templates", plainTemplate, "listTemplates", "createTemplate"},
	{volumePath, "networkVolumes", volume, "listNetworkVolumes", "createNetworkVolume"},
	{globalVolumes, "globalVolumes", globalVolume, "listGlobalVolumes", "createGlobalVolume"},
}

// pages gives all pages of a list of the account. How much one has depends on how large its members are, which other rules make, too.
func (c *Check) pages(path string) (all []Answer) {
	with := "?"
	if strings.Contains(path, "?") {
		with = "&"
	}
	for next := ""; ; {
		a := c.REST("GET", path+next, "")
		require.Equal(c, 200, a.Status, "%s", a.Body)
		all = append(all, a)
		p, _ := a.JSON["pagination"].(map[string]any)
		if p["hasNextPage"] != true {
			return all
		}
		cursor, _ := p["nextCursor"].(string)
		cursor = with + "cursor=" + url.QueryEscape(cursor)
		require.NotEqual(c, next, cursor, "a page is followed by another one")
		next = cursor
	}
}

// everyOne gives the members of all pages of a list, which are under that name.
func (c *Check) everyOne(path, name string) (all []any) {
	for _, page := range c.pages(path) {
		all = append(all, page.JSON[name].([]any)...)
	}
	return all
}

// textOf gives the text of all pages of a list.
func (c *Check) textOf(path string) string {
	var all []byte
	for _, page := range c.pages(path) {
		all = append(all, page.Body...)
	}
	return string(all)
}

// pagedOperations gives those that list, and those that make what is listed.
func pagedOperations() (all []string) {
	for _, l := range pagedLists {
		all = append(all, l.list, l.create)
	}
	return all
}

// lister asks with a key of its own, so that nobody else changes the lists.
type lister struct {
	*Check
	key string
}

func (c *Check) newLister() lister {
	_, key := c.newKey(`,"user":"reader"`, "all")
	return lister{c, "Bearer " + key}
}

func (l lister) send(method, path, body string) Answer {
	return l.Send(Request{Method: method, URL: l.URL + path, Body: body, Key: l.key})
}

// add makes one and gives its id.
func (l lister) add(path, body string) string {
	a := l.send("POST", path, body)
	require.Equal(l, 201, a.Status, "%s", a.Body)
	return a.JSON["id"].(string)
}

// page gives what a page lists, and the query of the next one; empty: there is none.
func (l lister) page(path, name, query string) (ids []string, next string) {
	a := l.send("GET", path+"?"+query, "")
	require.Equal(l, 200, a.Status, "%s", a.Body)
	for _, one := range a.JSON[name].([]any) {
		ids = append(ids, one.(map[string]any)["id"].(string))
	}
	p := a.JSON["pagination"].(map[string]any)
	require.ElementsMatch(l, []string{"nextCursor", "hasNextPage"}, keys(p))
	cursor, has := p["nextCursor"].(string)
	require.Equal(l, p["hasNextPage"], has)
	if has {
		require.NotEmpty(l, cursor)
		next = "cursor=" + url.QueryEscape(cursor)
	}
	return ids, next
}

// foreign asserts that the query is refused for its cursor.
func (l lister) foreign(path, query string) {
	errors := l.Refused(l.send("GET", path+"?"+query, ""), 422)
	require.Len(l, errors, 1)
	require.True(l, strings.HasPrefix(errors[0], "query.cursor:"), errors[0])
}

var _ = area(func() {
	add("pages.pagination", pagedOperations(), func(c *Check) {
		l := c.newLister()
		for _, of := range pagedLists {
			ids, next := l.page(of.path, of.name, "")
			require.Empty(c, ids)
			require.Empty(c, next)
			l.add(of.path, of.body)
			_, next = l.page(of.path, of.name, "limit=1")
			require.Empty(c, next, "what fills a page is no reason for another one")
		}
	})

	add("pages.limit", pagedOperations(), func(c *Check) {
		l := c.newLister()
		for _, of := range pagedLists {
			for range 3 {
				l.add(of.path, of.body)
			}
			for limit, want := range map[int]int{1: 1, 2: 2, 3: 3, 1000: 3} {
				ids, next := l.page(of.path, of.name, fmt.Sprintf("limit=%d", limit))
				require.Len(c, ids, want)
				require.Equal(c, limit < 3, next != "")
			}
			for _, limit := range []string{"0", "-1", "1001", "x", ""} {
				errors := c.Refused(l.send("GET", of.path+"?limit="+limit, ""), 422)
				require.True(c, strings.HasPrefix(errors[0], "query.limit:"), errors[0])
			}
		}
	})

	add("pages.none.bytes", []string{"listRegistries", "listDelegations", "listClusters", "listSecrets"}, func(c *Check) {
		l := c.newLister()
		long := strings.Repeat("x", 900_000)
		for list, body := range map[string]string{
			delegations:    repository[:len(repository)-1] + `,"name":"` + long + `"}`,
			"/v2/clusters": strings.Replace(cluster, `"name":"`, `"name":"`+long, 1),
		} {
			var ids []string
			for range 10 {
				ids = append(ids, l.add(list, body))
			}
			c.Refused(l.send("GET", list, ""), 400)
			require.Equal(c, 204, l.send("DELETE", list+"/"+ids[0], "").Status)
			require.Equal(c, 200, l.send("GET", list, "").Status)
		}

		password := strings.Repeat("😀", 16_384)
		for i := range 130 {
			l.add(secrets, fmt.Sprintf(`{"name":"s%d","value":"v","description":"%s"}`, i, long[:65_535]))
			l.add(registries, fmt.Sprintf(`{"name":"r%d","username":"u","password":"%s"}`, i, password))
		}
		c.Refused(l.send("GET", registries, ""), 400)
		c.Refused(l.send("GET", secrets, ""), 400)
		require.Equal(c, 200, l.send("GET", secrets+"?name=s1", "").Status)
	})

	add("pages.walk", append(pagedOperations(), "deletePod", "deleteEndpoint", "deleteTemplate", "deleteNetworkVolume"), func(c *Check) {
		l := c.newLister()
		for _, of := range pagedLists {
			var made []string // oldest first
			for range 5 {
				made = append(made, l.add(of.path, of.body))
			}
			ids, next := l.page(of.path, of.name, "limit=2")
			require.Equal(c, []string{made[4], made[3]}, ids)

			for _, gone := range []int{3, 2} { // where the page ended, and where the next one would begin
				require.Equal(c, 204, l.send("DELETE", of.path+"/"+made[gone], "").Status)
			}
			l.add(of.path, of.body)
			ids, next = l.page(of.path, of.name, "limit=1&"+next)
			require.Equal(c, []string{made[1]}, ids, "limit may change on the way")
			ids, next = l.page(of.path, of.name, next)
			require.Equal(c, []string{made[0]}, ids)
			require.Empty(c, next)
		}
	})

	add("pages.cursor.malformed", pagedOperations(), func(c *Check) {
		l := c.newLister()
		for _, of := range pagedLists {
			l.add(of.path, of.body)
			l.add(of.path, of.body)
			_, next := l.page(of.path, of.name, "limit=1")
			for _, cursor := range []string{"", "x", "1", "%00", "AQID", "ä", next[len("cursor="):] + "A", next[len("cursor=") : len(next)-1], strings.Repeat("A", 1000)} {
				l.foreign(of.path, "cursor="+cursor)
			}
		}
	})

	add("pages.cursor.foreign", append(pagedOperations(), "listEndpointReleases"), func(c *Check) {
		l := c.newLister()
		cursors := map[string]string{}
		for _, of := range pagedLists {
			l.add(of.path, of.body)
			l.add(of.path, of.body)
			_, cursors[of.path] = l.page(of.path, of.name, "limit=1")
		}
		for _, of := range pagedLists {
			for from, cursor := range cursors {
				if from != of.path {
					l.foreign(of.path, cursor)
				}
			}
			_, key := c.newKey(`,"user":"stranger"`, "all")
			lister{c, "Bearer " + key}.foreign(of.path, cursors[of.path])
		}

		l.foreign("/v2/pods", "includeClusterPods=true&"+cursors["/v2/pods"])
		one, other := serverless+"/"+l.add(serverless, cpuEndpoint), serverless+"/"+l.add(serverless, cpuEndpoint)
		require.Equal(c, 200, l.send("PATCH", one, `{"image":"j"}`).Status)
		_, next := l.page(one+"/releases", "releases", "limit=1")
		l.foreign(other+"/releases", next)
	})

	add("pages.bytes", []string{"listEndpoints", "createEndpoint", "listTemplates", "createTemplate", "listEndpointReleases", "updateEndpoint"}, func(c *Check) {
		l := c.newLister()
		env := func(text string) string { return `"env":{"A":"` + strings.Repeat(text, 900_000) + `"}` }
		const count = 7
		whole := func(path, name string, want []string) {
			slices.Reverse(want) // the newest first
			all, pages := []string{}, 0
			for next := "limit=1000"; next != ""; pages++ {
				a := l.send("GET", path+"?"+next, "")
				require.Less(c, len(a.Body), 6_000_000, "of a page of %s", name)
				var ids []string
				ids, next = l.page(path, name, next)
				require.NotEmpty(c, ids)
				all = append(all, ids...)
			}
			require.Equal(c, want, all, "each once")
			require.Greater(c, pages, 1)
		}

		for _, of := range pagedLists[1:3] {
			var made []string
			for range count {
				made = append(made, l.add(of.path, of.body[:len(of.body)-1]+","+env("x")+"}"))
			}
			whole(of.path, of.name, made)
			for _, id := range made {
				require.Equal(c, 204, l.send("DELETE", of.path+"/"+id, "").Status)
			}
		}

		at := serverless + "/" + l.add(serverless, cpuEndpoint)
		for i := range count {
			require.Equal(c, 200, l.send("PATCH", at, "{"+env(string(rune('a'+i)))+"}").Status)
		}
		all, _ := l.page(at+"/releases", "releases", "")
		require.Less(c, len(all), count+1, "a release has what was before and after")
		require.NotEmpty(c, all)
	})

	add("pages.releases", []string{"listEndpointReleases", "createEndpoint", "updateEndpoint"}, func(c *Check) {
		l := c.newLister()
		at := serverless + "/" + l.add(serverless, cpuEndpoint)
		change := func(image string) {
			require.Equal(c, 200, l.send("PATCH", at, `{"image":"`+image+`"}`).Status)
		}
		change("b")
		change("c")
		all, next := l.page(at+"/releases", "releases", "")
		require.Len(c, all, 3)
		require.Empty(c, next)

		first, next := l.page(at+"/releases", "releases", "limit=1")
		require.Equal(c, all[:1], first)
		change("d")
		second, next := l.page(at+"/releases", "releases", "limit=1&"+next)
		require.Equal(c, all[1:2], second)
		last := l.send("GET", at+"/releases?"+next, "")
		require.EqualValues(c, 4, last.JSON["endpointVersion"])
		require.Equal(c, l.send("GET", at+"/releases", "").JSON["rollout"], last.JSON["rollout"])
		require.Len(c, last.JSON["releases"], 1)
	})

	add("pages.clusters", []string{"listPods", "createCluster"}, func(c *Check) {
		l := c.newLister()
		alone := l.add("/v2/pods", gpuPod)
		l.add(clusters, cluster)

		ids, next := l.page("/v2/pods", "pods", "limit=2")
		require.Empty(c, ids, "the page had pods of the cluster alone")
		require.NotEmpty(c, next)
		ids, next = l.page("/v2/pods", "pods", "limit=2&"+next)
		require.Equal(c, []string{alone}, ids)
		require.Empty(c, next)

		all := []string{}
		for next = "limit=2"; next != ""; {
			ids, next = l.page("/v2/pods", "pods", "includeClusterPods=true&"+next)
			all = append(all, ids...)
		}
		require.Len(c, all, 4)
	})
})
