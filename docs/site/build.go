package site

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	_ "embed"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// root is where a server has the site: that of package docs, whose test compares them.
const root = "/docs"

var (
	//go:embed page.html
	frame string
	//go:embed site.css
	style []byte
	//go:embed site.js
	script []byte
)

// document is a page that was read.
type document struct {
	page
	title    string
	source   []byte
	tree     ast.Node
	anchors  map[string]bool
	sections []section // of its second level
}

// section is a heading of a page.
type section struct{ anchor, title string }

// Build makes the files of the site, by name, from the repository. Every link that leads nowhere is an error, and so is a file of docs/ that
// is no page.
func Build(repository fs.FS) (map[string][]byte, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Linkify))
	read := map[string]*document{}
	for _, p := range all() {
		d, err := load(repository, markdown, p)
		if err != nil {
			return nil, err
		}
		read[p.source] = d
	}

	wrong := strangers(repository, read)
	files := map[string][]byte{"site.css": style, "site.js": script}
	for i, p := range all() {
		body, errs := read[p.source].body(repository, markdown, read, files)
		wrong = append(wrong, errs...)
		files[fileName(p)] = []byte(framed(read, i, body))
	}
	return files, errors.Join(wrong...)
}

// fileName gives the name of the file of a page.
func fileName(p page) string {
	if p.name == "" {
		return "index.html"
	}
	return p.name + ".html"
}

// load reads a page.
func load(repository fs.FS, markdown goldmark.Markdown, p page) (*document, error) {
	source, err := fs.ReadFile(repository, p.source)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", p.name, err)
	}
	d := &document{page: p, source: plainPictures(source), anchors: map[string]bool{}}
	d.tree = markdown.Parser().Parse(text.NewReader(d.source), parser.WithContext(parser.NewContext()))

	slugs := slugger{}
	_ = ast.Walk(d.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		heading, is := n.(*ast.Heading)
		if !is || !entering {
			return ast.WalkContinue, nil
		}
		title := textOf(heading, d.source)
		anchor := slugs.next(title)
		heading.SetAttributeString("id", []byte(anchor))
		d.anchors[anchor] = true
		if heading.Level == 1 && d.title == "" {
			d.title = title
		}
		if heading.Level == 2 {
			d.sections = append(d.sections, section{anchor, title})
		}
		return ast.WalkSkipChildren, nil
	})
	if d.title == "" {
		return nil, fmt.Errorf("%s has no heading", p.source)
	}
	return d, nil
}

// strangers finds files of docs/ that are no page.
func strangers(repository fs.FS, read map[string]*document) (wrong []error) {
	files, err := fs.Glob(repository, "docs/*.md")
	if err != nil {
		return []error{err}
	}
	for _, file := range files {
		if read[file] == nil {
			wrong = append(wrong, fmt.Errorf("%s is no page of the site: add it to docs/site/pages.go", file))
		}
	}
	return wrong
}

// body gives the page as HTML. Pictures that it shows become files.
func (d *document) body(repository fs.FS, markdown goldmark.Markdown, read map[string]*document, files map[string][]byte) (string, []error) {
	var wrong []error
	var gone []*ast.Link // links to files that the site does not have
	_ = ast.Walk(d.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Link:
			var to string
			if to, err = d.target(repository, read, string(n.Destination)); to == "" {
				gone = append(gone, n)
			}
			n.Destination = []byte(to)
		case *ast.Image:
			var picture []byte
			if picture, err = fs.ReadFile(repository, path.Join(path.Dir(d.page.source), string(n.Destination))); err == nil {
				files[path.Base(string(n.Destination))] = picture
				n.Destination = []byte(root + "/" + path.Base(string(n.Destination)))
			}
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", d.page.source, err))
		}
		return ast.WalkContinue, nil
	})
	for _, link := range gone {
		unlink(link)
	}

	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, d.source, d.tree); err != nil {
		return "", append(wrong, err)
	}
	return refined(out.String()), wrong
}

// unlink leaves the words of a link, without the link.
func unlink(link *ast.Link) {
	parent := link.Parent()
	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child)
	}
	parent.RemoveChild(parent, link)
}

var scheme = regexp.MustCompile(`^[a-z]+:`)

// target gives the address that a link has on the site: none if it leads to a file that the site does not have.
func (d *document) target(repository fs.FS, read map[string]*document, to string) (string, error) {
	if scheme.MatchString(to) {
		return to, nil
	}
	file, anchor, _ := strings.Cut(to, "#")
	source := d.page.source
	if file != "" {
		source = path.Join(path.Dir(source), file)
	}

	other := read[source]
	if other == nil {
		_, err := fs.Stat(repository, source)
		return "", err
	}
	if anchor == "" {
		return other.address(), nil
	}
	if !other.anchors[anchor] {
		return "", fmt.Errorf("%s has no heading #%s", source, anchor)
	}
	return other.address() + "#" + anchor, nil
}

var (
	rows   = regexp.MustCompile(`<tr>\n<td><code>([^<]+)</code></td>`)
	tables = regexp.MustCompile(`(?s)<table>.*?</table>`)
)

// refined gives tables that scroll by themselves where they are too wide, also by the keyboard, and rows that begin with a name an anchor.
func refined(body string) string {
	used := map[string]bool{}
	body = rows.ReplaceAllStringFunc(body, func(row string) string {
		name := slug(html.UnescapeString(rows.FindStringSubmatch(row)[1]))
		if name == "" || used[name] || strings.Contains(body, fmt.Sprintf(`id="%s"`, name)) {
			return row
		}
		used[name] = true
		return fmt.Sprintf(`<tr id="%s">`, name) + strings.TrimPrefix(row, "<tr>")
	})
	return tables.ReplaceAllStringFunc(body, func(table string) string {
		return `<div class="wide" tabindex="0" role="region" aria-label="Table">` + table + "</div>"
	})
}

// framed puts the body of the page at i into what all pages have: the list of pages, that of its sections, and what comes before and after it.
func framed(read map[string]*document, i int, body string) string {
	pages := all()
	d := read[pages[i].source]
	var list strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&list, "<h2>%s</h2>\n<ul>\n", g.title)
		for _, p := range g.pages {
			current := ""
			if p == d.page {
				current = ` aria-current="page"`
			}
			fmt.Fprintf(&list, "<li><a href=\"%s\"%s>%s</a></li>\n", p.address(), current, html.EscapeString(read[p.source].short()))
		}
		list.WriteString("</ul>\n")
	}

	var contents strings.Builder
	if len(d.sections) > 2 {
		contents.WriteString("<nav class=\"contents\" aria-labelledby=\"contents\">\n<h2 id=\"contents\">On this page</h2>\n<ul>\n")
		for _, s := range d.sections {
			fmt.Fprintf(&contents, "<li><a href=\"#%s\">%s</a></li>\n", s.anchor, html.EscapeString(s.title))
		}
		contents.WriteString("</ul>\n</nav>\n")
	}

	var around strings.Builder
	if i > 0 {
		before := read[pages[i-1].source]
		fmt.Fprintf(&around, "<a rel=\"prev\" href=\"%s\">← %s</a>\n", before.address(), html.EscapeString(before.short()))
	}
	if i < len(pages)-1 {
		after := read[pages[i+1].source]
		fmt.Fprintf(&around, "<a rel=\"next\" href=\"%s\">%s →</a>\n", after.address(), html.EscapeString(after.short()))
	}
	body = strings.Replace(body, "</h1>\n", "</h1>\n"+contents.String(), 1)
	return strings.NewReplacer("TITLE", html.EscapeString(d.title), "PAGES\n", list.String(), "BODY\n", body, "AROUND\n", around.String()).Replace(frame)
}

// short gives the title as lists have it: what stands before a colon.
func (d *document) short() string {
	before, _, _ := strings.Cut(d.title, ":")
	return before
}

// textOf gives the words below a node.
func textOf(n ast.Node, source []byte) string {
	var words strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, is := n.(*ast.Text); is && entering {
			words.Write(t.Value(source))
			if t.SoftLineBreak() {
				words.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return words.String()
}

// slugger gives the anchors of the headings of a page, as GitHub does.
type slugger map[string]int

func (s slugger) next(title string) string {
	name := slug(title)
	n := s[name]
	s[name]++
	if n > 0 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}

var notInSlugs = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

func slug(title string) string {
	return strings.ReplaceAll(notInSlugs.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}

// Sources lists the Markdown files that are pages.
func Sources() []string {
	var sources []string
	for _, p := range all() {
		sources = append(sources, p.source)
	}
	return slices.Sorted(slices.Values(sources))
}
