package app

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/setting"
	"github.com/berthdev/berth/store/postgres"
)

// Here is what values of settings must be: each function refuses one that makes no sense, by itself.

// address refuses what is no address to listen on.
func address(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	var wrong *net.AddrError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: it must be HOST:PORT, such as 127.0.0.1:8765; port 0 picks one", wrong.Err)
	}
	return err
}

func longEnough(lease string) error {
	if d, err := time.ParseDuration(lease); err == nil && d < LeastLease {
		return fmt.Errorf("it must be at least %s", LeastLease)
	}
	return nil
}

func positive(text string) error {
	if d, err := time.ParseDuration(text); err == nil && d <= 0 {
		return errors.New("it must be longer than 0")
	}
	return nil
}

// notNegative refuses durations and numbers below 0.
func notNegative(text string) error {
	d, err := time.ParseDuration(text)
	n, notNumber := strconv.Atoi(text)
	if err == nil && d < 0 || notNumber == nil && n < 0 {
		return errors.New("it must not be less than 0")
	}
	return nil
}

func atLeastOne(text string) error {
	if n, err := strconv.Atoi(text); err == nil && n < 1 {
		return errors.New("it must be 1 at least")
	}
	return nil
}

// forever is how long something is kept that never goes.
const forever = "forever"

func durationOrForever(text string) error {
	if d, err := time.ParseDuration(text); text != forever && (err != nil || d <= 0) {
		return errors.New("it must be a duration longer than 0, such as 2160h, or " + forever)
	}
	return nil
}

// storeURL refuses what is no URL of a store. The error has nothing of it: there may be a password in it.
func storeURL(value string) error { return postgres.Check(value) }

// noPassword refuses a password on the command line, which everybody on the machine can read.
func noPassword(value string) error {
	if setting.HasPassword(value) {
		return errors.New("a password on the command line is seen by everybody on the machine: leave it out and set PGPASSWORD, PGPASSFILE or ~/.pgpass, or have the whole URL in BERTH_STORE or as store in the configuration file")
	}
	return nil
}

// baseURL refuses what is no URL that requests can be sent to.
func baseURL(text string) error {
	if base, err := url.Parse(text); err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" {
		return errors.New("it must be a URL that begins with http:// or https://, and has a host")
	}
	return nil
}

// replicaURL is baseURL, of a base whose IPv6 address needs no brackets.
func replicaURL(text string) error { return baseURL(bracketed(text)) }

// bracketed puts brackets around the IPv6 address of a base that has none, before its port: a Pod of Kubernetes is told its address, and not
// of which family it is.
func bracketed(base string) string {
	scheme, rest, _ := strings.Cut(base, "://")
	host, _, _ := strings.Cut(rest, "/")
	i := strings.LastIndexByte(host, ':')
	if i < 0 {
		return base
	}
	if ip, err := netip.ParseAddr(host[:i]); err != nil || !ip.Is6() {
		return base
	}
	return scheme + "://[" + host[:i] + "]" + rest[i:]
}

// ownURL refuses what is no URL at which the server can be reached.
func ownURL(text string) error {
	if base, err := url.Parse(text); baseURL(text) != nil || err != nil || strings.Trim(base.Path, "/") != "" || base.RawQuery != "" || base.User != nil {
		return errors.New("it must be like https://pods.example.com, without a path")
	}
	return nil
}

func hosts(text string) error {
	_, err := limit.NewHosts([]string{text})
	return err
}

func proxies(text string) error {
	_, err := limit.NewProxies([]string{text})
	return err
}
