package ship

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/berthdev/berth/impl/compute"
)

const (
	// requestTime is how long a request to S3 may take, and slowest how many bytes a second it must move besides.
	requestTime = 30 * time.Second
	slowest     = 256 << 10
	// mostPages is how many pages of a list are read: each has a thousand names.
	mostPages = 10_000
)

// bucket keeps objects in S3, or what speaks its interface, in path style.
type bucket struct {
	base        *url.URL // with the bucket
	name        string
	prefix      string // empty, or with a slash at its end
	region      string
	credentials aws.Credentials
	client      *http.Client
	signer      *v4.Signer
	clock       compute.Clock
}

func openBucket(place, endpoint string, environment func(string) string) (*bucket, error) {
	u, err := url.Parse(place)
	if err != nil {
		return nil, err
	}
	b := &bucket{
		name: u.Host, client: &http.Client{}, clock: compute.SystemClock{},
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }),
	}
	if b.prefix = strings.Trim(u.Path, "/"); b.prefix != "" {
		b.prefix += "/"
	}
	b.region = cmp.Or(environment("AWS_REGION"), environment("AWS_DEFAULT_REGION"), "us-east-1")
	b.credentials = aws.Credentials{
		AccessKeyID: environment("AWS_ACCESS_KEY_ID"), SecretAccessKey: environment("AWS_SECRET_ACCESS_KEY"), SessionToken: environment("AWS_SESSION_TOKEN"),
	}
	if b.credentials.AccessKeyID == "" || b.credentials.SecretAccessKey == "" {
		return nil, fmt.Errorf("%s needs a key: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", place)
	}

	at := cmp.Or(endpoint, environment("AWS_ENDPOINT_URL_S3"), environment("AWS_ENDPOINT_URL"), "https://s3."+b.region+".amazonaws.com")
	if b.base, err = url.Parse(at); err != nil || b.base.Host == "" || b.base.Scheme != "http" && b.base.Scheme != "https" {
		return nil, errors.New("the endpoint of S3 must be http(s)://HOST")
	}
	b.base = b.base.JoinPath(b.name)
	return b, nil
}

func (b *bucket) String() string { return "s3://" + b.name + "/" + b.prefix }

// errStatus is an answer that is none of success.
type errStatus struct {
	status  int
	code    string
	message string
}

func (e *errStatus) Error() string {
	return strings.TrimSpace(fmt.Sprintf("S3 answered %d %s %s", e.status, e.code, e.message))
}

// Is says that what is not found does not exist.
func (e *errStatus) Is(target error) bool {
	return target == fs.ErrNotExist && e.status == http.StatusNotFound && e.code != "NoSuchBucket"
}

// do sends a request and gives the body of its answer.
func (b *bucket) do(ctx context.Context, method, object string, query url.Values, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime+time.Duration(max(len(body), 16<<20)/slowest)*time.Second)
	defer cancel()
	u := *b.base
	if object != "" {
		u.Path += "/" + b.prefix + object // as a list has it: JoinPath would clean it, and take a % for an escape
	}
	u.RawPath = escaped(u.Path)
	u.RawQuery = query.Encode()

	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	of := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Content-Sha256", of) // S3 holds the body to it
	// S3 compares the date with its own, and refuses one that is a quarter of an hour away: only the time of day follows a step of the machine's.
	if err := b.signer.SignHTTP(ctx, b.credentials, r, of, "s3", b.region, b.clock.Wall()); err != nil {
		return nil, errors.New("the request could not be signed")
	}

	answer, err := b.client.Do(r)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // without the URL
		}
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was read, or is given up
	got, err := io.ReadAll(io.LimitReader(answer.Body, mostBytes))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		return nil, failed(answer.StatusCode, got)
	}
	return got, nil
}

// escaped escapes a path as S3 has it signed: everything but letters, digits, -, ., _, ~ and the slashes.
func escaped(path string) string {
	return strings.NewReplacer("%2F", "/", "+", "%20").Replace(url.QueryEscape(path))
}

// failed reads the document of an error.
func failed(status int, body []byte) error {
	var d struct{ Code, Message string }
	_ = xml.Unmarshal(body, &d) // another one says nothing
	return &errStatus{status, short(d.Code), short(d.Message)}
}

// short cuts what another server says.
func short(text string) string { return text[:min(len(text), 200)] }

// Begin has nothing to do: a bucket has no folders.
func (b *bucket) Begin(context.Context, string) error { return nil }

// Put stores an object: S3 has all of it, or nothing.
func (b *bucket) Put(ctx context.Context, name string, body []byte) error {
	_, err := b.do(ctx, http.MethodPut, name, nil, body)
	return err
}

// Get reads an object.
func (b *bucket) Get(ctx context.Context, name string) ([]byte, error) {
	return b.do(ctx, http.MethodGet, name, nil, nil)
}

// Delete removes an object.
func (b *bucket) Delete(ctx context.Context, name string) error {
	_, err := b.do(ctx, http.MethodDelete, name, nil, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List reads all pages of a list.
func (b *bucket) List(ctx context.Context, prefix string) (all []Object, err error) {
	query := url.Values{"list-type": {"2"}, "prefix": {b.prefix + prefix}}
	for range mostPages {
		body, err := b.do(ctx, http.MethodGet, "", query, nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			XMLName  xml.Name `xml:"ListBucketResult"` // some answer an error with 200
			Contents []struct {
				Key  string
				Size int64
			}
			IsTruncated           bool
			NextContinuationToken string
		}
		if err := xml.Unmarshal(body, &page); err != nil {
			return nil, fmt.Errorf("S3 answered no list: %w", err)
		}

		for _, one := range page.Contents { // in the order of their names
			all = append(all, Object{Name: strings.TrimPrefix(one.Key, b.prefix), Bytes: one.Size})
		}
		if !page.IsTruncated {
			return all, nil
		}
		if page.NextContinuationToken == "" { // what is missing would be taken for what is not there
			return nil, errors.New("S3 cut its list off, and does not say how it goes on")
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
	return nil, fmt.Errorf("more than %d thousand objects", mostPages)
}
