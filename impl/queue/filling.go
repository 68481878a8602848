package queue

import "github.com/berthdev/berth/impl/compute"

// Jobs go from who reads their rows to who fills the fifos so many at once, and that many such parts may be on the way.
const (
	partLength = 1024
	partsAhead = 4
)

// filling puts jobs that wait into their fifos while more of them are read, on a goroutine of its own. With very many jobs a start
// takes nothing else, and the one takes about as long as the other.
type filling struct {
	part  []stored      // being read
	full  chan []stored // nil once it has ended
	empty chan []stored // to be used again
	ended chan error
	err   error
}

// stored is what memory takes from the row of a job that waits.
type stored struct {
	id       compute.JobID
	endpoint compute.EndpointID
	wait
}

// fill begins to fill the fifos of the dispatchers, which nobody else uses before its end. fresh is that of load.
func (m *memory) fill(fresh bool) *filling {
	f := &filling{full: make(chan []stored, partsAhead), empty: make(chan []stored, partsAhead), ended: make(chan error, 1)}
	go func() {
		var err error
		for part := range f.full {
			for _, j := range part {
				if err == nil {
					err = m.queue(j, fresh)
				}
			}
			select {
			case f.empty <- part[:0]:
			default:
			}
		}
		f.ended <- err
	}()
	return f
}

// add has a job queued after those that were added before.
func (f *filling) add(j compute.Job) {
	f.part = append(f.part, stored{
		id: j.ID, endpoint: j.EndpointID, wait: wait{since: j.QueuedAt.UnixMilli(), plain: j.Retries == 0, low: j.LowPriority},
	})
	if len(f.part) < partLength {
		return
	}

	f.full <- f.part
	select {
	case f.part = <-f.empty:
	default:
		f.part = make([]stored, 0, partLength)
	}
}

// end waits until all are queued. Its error is Internal, for an id that berth does not give.
func (f *filling) end() error {
	if f.full != nil {
		f.full <- f.part
		close(f.full)
		f.part, f.full, f.err = nil, nil, <-f.ended
	}
	return f.err
}

// queue puts a job at the end of its endpoint's fifo, if the endpoint is there.
func (m *memory) queue(j stored, fresh bool) error {
	key, err := keyOf(j.id)
	if err != nil {
		return err
	}
	if d := m.dispatchers[j.endpoint]; d != nil {
		j.plain = j.plain && fresh
		d.line(j.low).push(waiting{key, j.wait})
	}
	return nil
}

// keyOf gives the key of a stored job. Internal for an id that berth does not give.
func keyOf(id compute.JobID) (compute.JobKey, error) {
	key, ok := id.Key()
	if !ok {
		return key, compute.Errorf(compute.Internal, "the store has a job %q, which is no id that berth gives", id)
	}
	return key, nil
}
