package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bucketName is that of the bucket, and the key that of who may use it.
const bucketName, bucketKey, bucketPhrase = "berth", "crash-key", "crash-crash-crash"

// withBucket has a server of S3 run on an empty directory, which is removed, with a bucket in it: use is given its place. The programs
// that are started from then on find the server and its key in their environment.
func withBucket(program string, use func(place string) error) error {
	dir, err := os.MkdirTemp("", "berth-s3-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	objects, notes, listen := filepath.Join(dir, "objects"), filepath.Join(dir, "notes"), lastingAddress()
	for _, d := range []string{filepath.Join(objects, bucketName), notes} { // each folder is a bucket
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}

	said, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = said.Close() }()
	// Not every file system has the attributes in which it notes things otherwise.
	s := exec.Command(program, "--port", listen, "--access", bucketKey, "--secret", bucketPhrase, "--quiet", "posix", "--sidecar", notes, objects)
	s.Stdout, s.Stderr = said, said
	if err := s.Start(); err != nil {
		return fmt.Errorf("the server of S3: %w", err)
	}
	defer func() {
		_ = s.Process.Kill()
		_ = s.Wait()
	}()
	if err := answers("http://" + listen); err != nil {
		logged, _ := os.ReadFile(said.Name())
		return fmt.Errorf("the server of S3: %w; it said:\n%s", err, logged)
	}

	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": "http://" + listen, "AWS_ACCESS_KEY_ID": bucketKey, "AWS_SECRET_ACCESS_KEY": bucketPhrase, "AWS_REGION": "us-east-1",
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return use("s3://" + bucketName)
}

// answers waits until a server answers anything.
func answers(address string) error {
	ctx, stop := context.WithTimeout(context.Background(), ready)
	defer stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			return answer.Body.Close()
		}
		if ctx.Err() != nil {
			return err
		}
		pause(ctx, 50*time.Millisecond)
	}
}
