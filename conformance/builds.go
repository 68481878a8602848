package conformance

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// archive gives a tar archive with a Dockerfile of those lines.
func (c *Check) archive(lines ...string) string {
	var text bytes.Buffer
	files := tar.NewWriter(&text)
	file := strings.Join(lines, "\n") + "\n"
	require.NoError(c, files.WriteHeader(&tar.Header{Name: "./Dockerfile", Mode: 0o600, Size: int64(len(file))}))
	_, err := io.WriteString(files, file)
	require.NoError(c, err)
	require.NoError(c, files.Close())
	return text.String()
}

// sendBuild sends an archive to be built for the endpoint at the path.
func (c *Check) sendBuild(at, archive string, header map[string]string) Answer {
	return c.ownBuild(Request{Method: "POST", URL: c.buildsOf(at), Body: archive, Header: header})
}

// ownBuild sends a request to an address of builds that is in no document.
func (c *Check) ownBuild(r Request) Answer {
	if r.Key == "" {
		r.Key = "Bearer " + c.Key
	}
	if r.Header == nil {
		r.Header = map[string]string{"Content-Type": "application/x-tar"}
	}
	_, a := c.exchange(r)
	require.NoError(c, json.Unmarshal(a.Body, &a.JSON), "%s", a.Body)
	return a
}

func (c *Check) buildsOf(at string) string {
	return c.URL + "/_berth/endpoints/" + strings.TrimPrefix(at, serverless+"/") + "/builds"
}

// newBuild has an image built of a Dockerfile of those lines, and gives the path of the build.
func (c *Check) newBuild(at string, lines ...string) string {
	a := c.sendBuild(at, c.archive(lines...), nil)
	require.Equal(c, 201, a.Status, "%s", a.Body)
	return at + "/builds/" + a.JSON["id"].(string)
}

// awaitBuild waits until the build at the path has the status, and gives it.
func (c *Check) awaitBuild(at, status string) (build map[string]any) {
	c.Eventually(func() bool {
		build = c.read(at)
		return build["status"] == status
	}, "the build is "+status)
	return build
}

var _ = area(func() {
	list, get, logs := []string{"listEndpointBuilds"}, []string{"getEndpointBuild"}, []string{"getBuildLogs"}
	all := []string{"listEndpointBuilds", "getEndpointBuild", "getBuildLogs"}

	add("builds.none", list, func(c *Check) {
		require.Equal(c, c.parsed(`{"builds":[],"pagination":{"nextCursor":null,"hasNextPage":false}}`), any(c.read(c.newEndpoint(cpuEndpoint)+"/builds")))
	})

	add("builds.completed", get, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(cpuEndpoint)
		made := c.awaitBuild(c.newBuild(at, "FROM scratch", "COPY . /"), "COMPLETED")
		require.NotEmpty(c, made["imageName"])
		begin, end := c.time(made["startedAt"]), c.time(made["completedAt"])
		require.False(c, end.Before(begin))
		require.Nil(c, made["error"])
		for _, name := range []string{"commitHash", "commitMessage", "branch", "commitDate"} {
			require.Contains(c, made, name)
			require.Nil(c, made[name])
		}
	})
	add("builds.release", []string{"getEndpoint", "listEndpointReleases", "getEndpointBuild"}, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(cpuEndpoint)
		made := c.awaitBuild(c.newBuild(at, "FROM scratch"), "COMPLETED")
		require.Equal(c, made["imageName"], c.read(at)["image"])
		releases := c.read(at + "/releases")["releases"].([]any)
		require.Len(c, releases, 2)
		last := releases[0].(map[string]any)
		require.Equal(c, made["id"], last["buildId"])
		require.Equal(c, "image", last["diff"].([]any)[0].(map[string]any)["field"])
		require.Nil(c, releases[1].(map[string]any)["buildId"])
	})

	add("builds.failed", []string{"getEndpoint", "getEndpointBuild"}, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(cpuEndpoint)
		made := c.awaitBuild(c.newBuild(at, "FROM scratch", "RUN exit 3"), "FAILED")
		require.Contains(c, made["error"], "non-zero code: 3")
		require.Nil(c, made["imageName"])
		c.time(made["completedAt"])
		require.Equal(c, "i", c.read(at)["image"])
		require.Len(c, c.read(at + "/releases")["releases"], 1)
	})
	add("builds.archive", get, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(cpuEndpoint)
		var packed bytes.Buffer
		gz := gzip.NewWriter(&packed)
		_, err := io.WriteString(gz, c.archive("FROM scratch"))
		require.NoError(c, err)
		require.NoError(c, gz.Close())
		a := c.sendBuild(at, packed.String(), map[string]string{"Content-Type": "application/gzip"})
		require.Equal(c, 201, a.Status, "%s", a.Body)
		c.awaitBuild(at+"/builds/"+a.JSON["id"].(string), "COMPLETED")

		for _, text := range []string{"this is no archive, and as long as it takes", "\x1f\x8bnor is this", ""} {
			a := c.sendBuild(at, text, map[string]string{"Content-Type": "application/octet-stream"})
			require.Equal(c, 201, a.Status, "%s", a.Body)
			require.Contains(c, c.awaitBuild(at+"/builds/"+a.JSON["id"].(string), "FAILED")["error"], "archive")
		}
		for _, kind := range []string{"application/json", "text/plain", ""} {
			require.Equal(c, 415, c.sendBuild(at, c.archive("FROM scratch"), map[string]string{"Content-Type": kind}).Status, kind)
		}
	})

	add("builds.cancelled", get, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(cpuEndpoint)
		build := c.newBuild(at, "FROM scratch", "RUN sleep 876000h")
		remove := Request{Method: "DELETE", URL: c.buildsOf(at) + build[strings.LastIndex(build, "/"):]}
		a := c.ownBuild(remove)
		require.Equal(c, 200, a.Status, "%s", a.Body)
		require.Equal(c, "CANCELLED", a.JSON["status"])
		ended := c.read(build)
		require.Equal(c, any(ended), any(a.JSON))
		require.Nil(c, ended["error"])
		c.time(ended["completedAt"])
		require.Equal(c, 409, c.ownBuild(remove).Status)
		require.Equal(c, "i", c.read(at)["image"])
	})

	add("builds.list", list, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(cpuEndpoint)
		var ids []any
		for range 3 {
			build := c.newBuild(at, "FROM scratch")
			ids = append([]any{c.awaitBuild(build, "COMPLETED")["id"]}, ids...)
		}
		first := c.read(at + "/builds?limit=2")
		require.Equal(c, []any{true}, []any{first["pagination"].(map[string]any)["hasNextPage"]})
		next := c.read(at + "/builds?cursor=" + first["pagination"].(map[string]any)["nextCursor"].(string))
		require.Equal(c, false, next["pagination"].(map[string]any)["hasNextPage"])
		var got []any
		for _, one := range append(first["builds"].([]any), next["builds"].([]any)...) {
			require.Equal(c, c.read(at+"/builds/"+one.(map[string]any)["id"].(string)), one)
			got = append(got, one.(map[string]any)["id"])
		}
		require.Equal(c, ids, got)
		for _, query := range []string{"limit=0", "limit=101", "cursor=x"} {
			require.Len(c, c.Refused(c.REST("GET", at+"/builds?"+query, ""), 422), 1)
		}
	})

	add("builds.unknown", all, func(c *Check) {
		c.needsSim()
		at, other := c.newEndpoint(cpuEndpoint), c.newEndpoint(cpuEndpoint)
		build := c.newBuild(at, "FROM scratch")
		id := build[strings.LastIndex(build, "/"):]
		for _, path := range []string{serverless + "/nosuchendpoint/builds", serverless + "/nosuchendpoint/builds" + id, other + "/builds" + id, at + "/builds/nosuchbuild"} {
			c.Refused(c.REST("GET", path, ""), 404)
			if path != serverless+"/nosuchendpoint/builds" {
				c.Refused(c.REST("GET", path+"/logs", ""), 404)
			}
		}
		require.Equal(c, 404, c.sendBuild(serverless+"/nosuchendpoint", c.archive("FROM scratch"), nil).Status)
		require.Equal(c, 404, c.ownBuild(Request{Method: "DELETE", URL: c.buildsOf(other) + id}).Status)
	})
	add("builds.ownership", all, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(cpuEndpoint)
		build := c.newBuild(at, "FROM scratch")
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		_, reader := c.newKey("", "rest:read")
		for _, path := range []string{at + "/builds", build, build + "/logs"} {
			c.Refused(c.Send(Request{Method: "GET", URL: c.URL + path, Key: "Bearer " + stranger}), 404)
		}
		for key, status := range map[string]int{stranger: 404, reader: 403, "brt_nobody": 401} {
			a := c.ownBuild(Request{Method: "POST", URL: c.buildsOf(at), Body: c.archive("FROM scratch"), Key: "Bearer " + key})
			require.Equal(c, status, a.Status, "%s", a.Body)
		}
	})
	add("builds.declared", []string{"getEndpoint"}, func(c *Check) {
		a := c.sendBuild(c.declared(), c.archive("FROM scratch"), nil)
		require.Equal(c, 409, a.Status, "%s", a.Body)
		require.Contains(c, a.JSON["detail"], "declared")
	})

	add("builds.logs", logs, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(cpuEndpoint)
		build := c.newBuild(at, "FROM scratch", "RUN exit 7")
		c.awaitBuild(build, "FAILED")
		s := c.follow(build+"/logs", "", "")
		defer s.hangUp()
		lines := s.until("FAILED")
		var texts, sources []string
		for _, l := range lines {
			texts, sources = append(texts, l.line), append(sources, l.source)
		}
		require.Equal(c, []string{
			"build is PENDING", "build is BUILDING", "Step 1/2 : FROM scratch", "Step 2/2 : RUN exit 7",
			"build is FAILED: the command '/bin/sh -c exit 7' returned a non-zero code: 7",
		}, texts)
		require.Equal(c, []string{"system", "system", "container", "container", "system"}, sources)
		select {
		case err := <-s.ended:
			require.NoError(c, err)
		case <-time.After(patience):
			require.Fail(c, "the log of a build that has ended goes on")
		}

		for query, want := range map[string]string{"?tail=1&source=container": texts[3], "?tail=2": texts[3], "?since=" + lines[4].ts: texts[4]} {
			s := c.follow(build+"/logs", query, "")
			require.Equal(c, want, s.next().line, query)
			s.hangUp()
		}
		after := c.follow(build+"/logs", "", lines[1].id)
		defer after.hangUp()
		require.Equal(c, texts[2], after.next().line)
	})
	add("builds.logs.live", logs, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(cpuEndpoint)
		build := c.newBuild(at, "FROM scratch", "RUN sleep 876000h")
		s := c.follow(build+"/logs", "", "")
		defer s.hangUp()
		s.until("RUN sleep")
		require.Equal(c, 200, c.ownBuild(Request{Method: "DELETE", URL: c.buildsOf(at) + build[strings.LastIndex(build, "/"):]}).Status)
		require.Equal(c, "build is CANCELLED", s.next().line)
	})
})
