// Package site builds the documentation as pages: the Markdown of this repository becomes the compressed files of ../built, which package
// docs embeds. goldmark reads the Markdown: it is written in Go, needs nothing else, and gives what GitHub shows of the same files. A generator
// of sites in Node would bring hundreds of packages, and scripts that are several times as large as all the pages.
package site

// page is a page of the site: a Markdown file of the repository, and the last part of its address.
type page struct{ name, source string }

// group is a part of the list of pages.
type group struct {
	title string
	pages []page
}

// index is the first page, whose address is that of the site.
var index = page{"", "docs/index.md"}

// groups are all other pages in the order in which they are listed. Each file of docs/ is one of them: Build fails if it is not.
var groups = []group{
	{"Start", []page{
		{"install", "docs/install.md"}, {"start", "docs/start.md"}, {"start-client", "docs/start-client.md"}, {"start-pipeline", "docs/start-pipeline.md"},
		{"start-spec", "docs/start-spec.md"}, {"start-team", "docs/start-team.md"},
	}},
	{"Use", []page{
		{"sdks", "docs/sdks.md"}, {"command-line", "docs/command-line.md"}, {"testing", "docs/testing.md"}, {"moving", "docs/moving.md"},
		{"pytest", "deploy/pytest-berth/README.md"}, {"npm", "deploy/npm/README.md"}, {"examples", "examples/README.md"}, {"web-console", "console/README.md"},
		{"shells", "docs/shells.md"}, {"record", "docs/record.md"}, {"judging", "docs/judging.md"},
	}},
	{"Help", []page{{"troubleshooting", "docs/troubleshooting.md"}, {"faq", "docs/faq.md"}, {"differences", "docs/differences.md"}, {"limits", "docs/limits.md"}}},
	{"Operate", []page{
		{"operating", "docs/operating.md"}, {"deploy", "deploy/README.md"}, {"runtimes", "docs/runtimes.md"}, {"replicas", "docs/replicas.md"}, {"fronts", "docs/fronts.md"},
		{"security", "SECURITY.md"}, {"versions", "docs/versions.md"},
	}},
	{"Look up", []page{
		{"settings", "docs/settings.md"}, {"commands", "docs/commands.md"}, {"errors", "docs/errors.md"}, {"addresses", "docs/addresses.md"}, {"metrics", "impl/observe/METRICS.md"},
		{"contract", "docs/contract.md"}, {"rules", "RULES.md"}, {"documents", "spec/README.md"},
	}},
	{"Inside", []page{{"architecture", "docs/architecture.md"}, {"statuses", "impl/compute/STATUSES.md"}}},
}

// all gives every page.
func all() []page {
	pages := []page{index}
	for _, g := range groups {
		pages = append(pages, g.pages...)
	}
	return pages
}

// address gives the path of the page on a server.
func (p page) address() string {
	if p.name == "" {
		return root
	}
	return root + "/" + p.name
}
