package ship

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/atomicfile"
)

// mostBytes is how large an object may be that is read: ours are smaller by far.
const mostBytes = 256 << 20

// Object is what a target has.
type Object struct {
	Name  string
	Bytes int64
}

// Target keeps objects by name, with slashes in them.
type Target interface {
	// Begin makes a place for the objects of a generation, whose names begin with its own and a slash. A Put of one of them fails with errGone if that
	// place is gone: something else has taken the place of the target, or nothing has.
	Begin(ctx context.Context, generation string) error
	// Put stores an object, in place of one of that name: whole, or not at all.
	Put(ctx context.Context, name string, body []byte) error
	// Get gives an object; an error that is fs.ErrNotExist if it is not there.
	Get(ctx context.Context, name string) ([]byte, error)
	// List gives the objects whose names begin with prefix, in the order of their names.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Delete removes an object; none of that name is no error.
	Delete(ctx context.Context, name string) error
	// String gives where it is, without secrets.
	String() string
}

// errGone ends a generation: without what was put before nobody can go back by what comes.
var errGone = errors.New("what was copied before is not there any more")

// IsBucket reports whether a place is one in S3.
func IsBucket(place string) bool { return strings.HasPrefix(place, "s3://") }

// CheckPlace refuses what is neither a folder nor a place in S3.
func CheckPlace(place string) error {
	if !IsBucket(place) {
		if strings.Contains(place, "://") {
			return errors.New("it must be a folder, or s3://BUCKET/PREFIX")
		}
		return nil
	}
	u, err := url.Parse(place)
	if err != nil {
		return errors.New("it is no URL")
	}
	if u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("it must be s3://BUCKET/PREFIX and nothing more; keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	prefix := strings.Trim(u.Path, "/")
	for part := range strings.SplitSeq(prefix, "/") { // servers and proxies clean such names, or refuse them
		if part == "." || part == ".." || part == "" && prefix != "" {
			return errors.New("its prefix, s3://BUCKET/PREFIX, must have no part that is ., .. or empty")
		}
	}
	return nil
}

// Open gives the target at a place: a folder, or s3://BUCKET/PREFIX at an endpoint, which is empty for what the environment says, or
// Amazon's. environment gives the usual AWS_ variables.
func Open(place, endpoint string, environment func(string) string) (Target, error) {
	if err := CheckPlace(place); err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	if IsBucket(place) {
		return openBucket(place, endpoint, environment)
	}
	path, err := filepath.Abs(place)
	return folder(path), err
}

// folder keeps objects as files for their owner alone.
type folder string

func (f folder) String() string { return string(f) }

func (f folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

// Begin makes the folder of a generation, with those above it that are missing.
func (f folder) Begin(_ context.Context, generation string) error {
	in, err := atomicfile.MakeDir(f.path(generation))
	if err != nil {
		return err
	}
	return atomicfile.SyncDir(in...)
}

// Put writes a file under another name, and gives it its own when it is on disk.
func (f folder) Put(_ context.Context, name string, body []byte) (err error) {
	path := f.path(name)
	generation, _, _ := strings.Cut(directoryOf(name), "/")
	dir, top := filepath.Dir(path), f.path(generation)
	var in []string
	if dir != top { // that is not made again: with it a folder that was mounted meanwhile would look as if nothing were missing
		in, err = atomicfile.MakeLastDir(dir)
	}
	if err == nil {
		err = atomicfile.Write(path, body, true)
	}
	if err == nil {
		err = atomicfile.SyncDir(append(in, dir)...)
	}
	if errors.Is(err, fs.ErrNotExist) { // or dir was empty, and removed meanwhile
		if _, gone := os.Stat(top); errors.Is(gone, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", errGone, err)
		}
	}
	return err
}

// Get reads a file.
func (f folder) Get(_ context.Context, name string) ([]byte, error) {
	path := f.path(name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > mostBytes {
		return nil, fmt.Errorf("%s has %d bytes: it is none of ours", path, info.Size())
	}
	return os.ReadFile(path)
}

// List walks the folder. What is not there is empty.
func (f folder) List(_ context.Context, prefix string) (all []Object, err error) {
	err = filepath.WalkDir(filepath.Join(string(f), filepath.FromSlash(directoryOf(prefix))), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		name, err := filepath.Rel(string(f), path)
		if name = filepath.ToSlash(name); err != nil || !d.Type().IsRegular() || !strings.HasPrefix(name, prefix) || strings.HasSuffix(name, ".new") {
			return err // one that ends so was never finished
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err == nil {
			all = append(all, Object{Name: name, Bytes: info.Size()})
		}
		return err
	})
	slices.SortFunc(all, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// directoryOf gives the part of a prefix up to its last slash.
func directoryOf(prefix string) string { return prefix[:strings.LastIndex(prefix, "/")+1] }

// Delete removes a file, and its directory with the last one.
func (f folder) Delete(_ context.Context, name string) error {
	path := f.path(name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(path); len(dir) > len(f) && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
	return nil
}
