package record

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// streams reports whether the request reads the output of a job chunk by chunk. Each chunk is given once, and which of them come together is chance.
func (x *Exchange) streams() bool { return x.Operation == "stream" || x.Operation == "streamPost" }

// chunks gives those of the answer to a read of a stream, which is a list of them or has one. It reports whether there is one.
func (m *Message) chunks() (list []any, ok bool) {
	v, err := journal.Decode([]byte(m.Body))
	if object, isObject := v.(map[string]any); isObject {
		v = object["stream"]
	}
	list, ok = v.([]any)
	return list, ok && err == nil && !m.Truncated
}

// give puts chunks into the place of those that the answer has.
func (m *Message) give(chunks []any) {
	v, _ := journal.Decode([]byte(m.Body)) // who gives it some has read it
	chunks = append([]any{}, chunks...)    // none is a list, too
	if object, ok := v.(map[string]any); ok {
		object["stream"] = chunks
	} else {
		v = chunks
	}
	if text, err := json.Marshal(v); err == nil {
		m.Body = string(text)
	}
}

// lastReads gives for each read of a stream the last one of the same stream that is compared, with which it is; -1: there is none, or it is no read of one.
func lastReads(all []Exchange, why []string) []int {
	last, ends := make([]int, len(all)), map[string]int{}
	for i := len(all) - 1; i >= 0; i-- {
		last[i] = -1
		x := &all[i]
		if !x.streams() || x.Status != http.StatusOK {
			continue
		}
		if end, ok := ends[x.Path]; ok {
			last[i] = end
		} else if why[i] == "" {
			ends[x.Path], last[i] = i, i
		}
	}
	return last
}

// joinStreams puts all chunks of each stream into the answers of its last read, and says why the others are not compared.
func joinStreams(all []Exchange, left, right []*answer, why []string) {
	last, most := lastReads(all, why), wanted(all)
	join(left, last)
	join(right, last)
	for i := range all {
		if last[i] < 0 || why[i] != "" {
			continue
		}
		a, ok := left[i].Response.chunks()
		b, too := right[i].Response.chunks()
		switch {
		case !ok || !too: // no part of the stream
		case i != last[i]:
			why[i] = "its chunks are compared with the rest of the stream, in exchange " + strconv.FormatInt(all[last[i]].Number, 10)
		case !all[i].ends(): // how many more there were when the client had enough is chance
			left[i].Response.give(a[:min(len(a), most[i])])
			right[i].Response.give(b[:min(len(b), most[i])])
		}
	}
}

// join puts all chunks of each stream into the answer of its last read.
func join(answers []*answer, last []int) {
	all, cut := map[int][]any{}, map[int]bool{}
	for i, a := range answers {
		end := last[i]
		if a == nil || end < 0 {
			continue
		}
		list, ok := a.Response.chunks()
		all[end], cut[end] = append(all[end], list...), cut[end] || a.Response.Truncated
		if i == end {
			if ok {
				a.Response.give(all[end])
			}
			a.Response.Truncated = cut[end] // some of the chunks are not known
		}
	}
}

// job gives the status of the job whose stream was read; empty: the answer has none.
func (x *Exchange) job() compute.JobStatus {
	v, _ := x.Response.read().(map[string]any)
	status, _ := v["status"].(string)
	return compute.JobStatus(status)
}

// ends reports whether a read of a stream was the last one that could bring chunks: the job is over or, where nothing says so, it brought none.
func (x *Exchange) ends() bool {
	if status := x.job(); status != "" {
		return status.Ended()
	}
	list, ok := x.Response.chunks()
	return ok && len(list) == 0
}

// wanted gives for each read of a stream how many chunks of it had been given when it was over.
func wanted(all []Exchange) []int {
	want, given := make([]int, len(all)), map[string]int{}
	for i := range all {
		if x := &all[i]; x.streams() && x.Status == http.StatusOK {
			list, _ := x.Response.chunks()
			given[x.Path] += len(list)
			want[i] = given[x.Path]
		}
	}
	return want
}

// gathered gives the answer to a read of a stream with the chunks that came before, when it was sent the first times. An answer without any is not
// taken in the place of one with some: a stream that was read to its end is gone at some time.
func (s *session) gathered(x *Exchange, before, a *answer) *answer {
	list, ok := a.Response.chunks()
	if !ok {
		if before != nil && a.err == nil && before.Status == x.Status {
			return before
		}
		return a
	}
	s.mu.Lock()
	s.given[x.Path] += len(list)
	s.mu.Unlock()
	if before == nil {
		return a
	}
	earlier, _ := before.Response.chunks()
	a.Response.give(append(earlier, list...))
	return a
}

// came reports whether the answer has the status that was recorded and, of a stream, that many chunks have come, or no more will: the job is over, and
// the answer brings none beside those that came before. Some services give the last ones after the job is.
func (s *session) came(x *Exchange, before, a *answer, chunks int) bool {
	s.mu.Lock()
	given := s.given[x.Path]
	s.mu.Unlock()

	if status := a.job(); x.streams() && status != "" && status.Ended() {
		earlier := 0
		if before != nil {
			list, _ := before.Response.chunks()
			earlier = len(list)
		}
		list, _ := a.Response.chunks()
		return given >= chunks || len(list) == earlier
	}
	return given >= chunks && slices.Equal(statuses(a.Response.read()), statuses(x.Response.read()))
}
