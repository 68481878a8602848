package berth

import (
	"context"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// What jobs are, and why something does not go on, as spec/controls.yaml describes it.
type (
	// JobFilter says which jobs are meant, and which page of them. What is nil matches all.
	JobFilter = controls.ListJobsParams
	// JobPage is a page of jobs, without input and output.
	JobPage = controls.JobList
	// Job is all that is known of a job, with the beginning of its input and of its output.
	Job = controls.JobDetail
	// Why is the one reason why something does not go on, with what would help.
	Why = controls.Why
)

// Jobs gives a page of the jobs that the filter matches, the one that was submitted last first, on any runtime. The error is that of a filter
// that makes no sense, of an endpoint that there is not, or of ctx.
func (s *Server) Jobs(ctx context.Context, f JobFilter) (page JobPage, err error) {
	err = s.askWith(s.key, &page, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ListJobs(ctx, &f) })
	return page, err
}

// Job gives a job, on any runtime. The error is that there is none of that id, or that of ctx.
func (s *Server) Job(ctx context.Context, id string) (job Job, err error) {
	err = s.askWith(s.key, &job, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.GetJob(ctx, id) })
	return job, err
}

// WhyJob says why a job does not go on, on any runtime. The error is that there is none of that id, or that of ctx.
func (s *Server) WhyJob(ctx context.Context, id string) (Why, error) {
	return s.why(func(c *controlsclient.Client) (*nethttp.Response, error) { return c.WhyJob(ctx, id) })
}

// WhyEndpoint says why the workers of an endpoint do not take up its jobs, on any runtime. The error is that there is none of that id, or that
// of ctx.
func (s *Server) WhyEndpoint(ctx context.Context, id string) (Why, error) {
	return s.why(func(c *controlsclient.Client) (*nethttp.Response, error) { return c.WhyEndpoint(ctx, id) })
}

// WhyPod says why a pod does not run, on any runtime. The error is that there is none of that id, or that of ctx.
func (s *Server) WhyPod(ctx context.Context, id string) (Why, error) {
	return s.why(func(c *controlsclient.Client) (*nethttp.Response, error) { return c.WhyPod(ctx, id) })
}

func (s *Server) why(request func(*controlsclient.Client) (*nethttp.Response, error)) (why Why, err error) {
	err = s.askWith(s.key, &why, request)
	return why, err
}
