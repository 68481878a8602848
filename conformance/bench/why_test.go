package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestAccounts_OfThePageAreRead(t *testing.T) {
	text, err := os.ReadFile("why.md")
	if err != nil {
		t.Fatal(err)
	}
	before, all, err := readAccounts(string(text))
	if err != nil || before == "" {
		t.Fatal(before, err)
	}
	for i, a := range all {
		for _, of := range a.of {
			if got, here := accountOf(all, missed{part: of.part, row: of.row}); got != i || here != of.here {
				t.Errorf("%s: %s is the row of %s", of.part, of.row, all[got].title)
			}
		}
	}
}

func TestAccounts_TheOneThatNamesMostOfARowHasIt(t *testing.T) {
	_, all, err := readAccounts("\n## One\n\n- peers: /run\n\nText.\n\n## Two\n\n- peers: /runsync\n\nText.\n")
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]int{"/run, 64": 0, "/runsync, 64": 1, "other": -1} {
		if got, _ := accountOf(all, missed{part: "peers", row: row}); got != want {
			t.Error(row, got)
		}
	}
}

func TestAccounts_AreThoseOfTheRowsThatDoNotHold(t *testing.T) {
	page := filepath.Join(t.TempDir(), "why.md")
	text := "# Why\n\nOn a fast\nmachine.\n\n## One\n\n- start: first (here ≤ 3.2)\n- start: memory (here ≥ 9)\n- lists: REST\n\nIt takes\nlong.\n\n## Two\n\n- fsync: x\n\nText.\n"
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	var out bytes.Buffer
	b := &bench{out: &out}
	if err := b.accounts(page); err != nil || out.Len() > 0 {
		t.Fatal(err, out.String())
	}
	b.missed = []missed{{"start", "first answer", 3.125}, {"start", "memory", 8}, {"lists", "REST", 1}, {"lists", "GraphQL", 0.5}}
	if err := b.accounts(page); err != nil {
		t.Fatal(err)
	}
	const want = "\n# What does not hold, and why\n\nOn a fast\nmachine.\n\n## One\n\n- start: first answer: 3.125; here ≤ 3.2: yes\n- start: memory: 8; here ≥ 9: NO\n- lists: REST: 1\n\n" +
		"It takes\nlong.\n\n## Not looked into\n\n- lists: GraphQL: 0.5\n"
	if out.String() != want {
		t.Fatal(out.String())
	}
}

func TestAccounts_HaveRowsAndAText(t *testing.T) {
	for _, bad := range []string{
		"\n## One\n\n- nowhere: x\n\nText.\n", "\n## One\n\nText.\n", "\n## One\n\n- start: x\n",
		"\n## One\n\n- start: x (here about 5)\n\nText.\n", "\n## One\n\n- start: x (here ≤ few)\n\nText.\n",
	} {
		if _, _, err := readAccounts(bad); err == nil {
			t.Error(bad)
		}
	}
}
