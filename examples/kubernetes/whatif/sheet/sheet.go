package sheet

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Sheet is what is told. The zero Sheet is empty plain text of any width.
type Sheet struct {
	Width int  // of tables in plain text, in characters; 0: whatever they need
	Form  Form // of all lines so far and from now on

	out    bytes.Buffer
	begun  strings.Builder // a line that is not ended yet
	listed bool            // the last line is an item of a list
}

// Form is how a [Sheet] is written.
type Form string

// The forms.
const (
	Plain    Form = ""
	Markdown Form = "Markdown"
	HTML     Form = "HTML" // the inside of an element, well-formed as XML is
)

// item is how an item of a list begins.
const item = "  - "

// Printf appends text. A line that begins with two spaces and a dash is an item of a list.
func (s *Sheet) Printf(format string, args ...any) {
	if s.Form == Plain {
		fmt.Fprintf(&s.out, format, args...)
		return
	}
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		s.begun.WriteString(line)
		if strings.HasSuffix(line, "\n") {
			s.paragraph(strings.TrimSuffix(s.begun.String(), "\n"))
			s.begun.Reset()
		}
	}
}

// paragraph appends a line of Markdown or HTML.
func (s *Sheet) paragraph(line string) {
	text, isItem := strings.CutPrefix(line, item)
	switch {
	case isItem && s.Form == HTML:
		if !s.listed {
			s.out.WriteString("<ul>\n")
		}
		s.out.WriteString("<li>" + html.EscapeString(text) + "</li>\n")
	case isItem:
		s.out.WriteString("- " + escape(text) + "\n")
	case strings.TrimSpace(line) == "":
	case s.Form == HTML:
		s.endList()
		s.out.WriteString("<p>" + html.EscapeString(strings.TrimSpace(line)) + "</p>\n")
	default:
		s.endList()
		s.out.WriteString(escape(strings.TrimSpace(line)) + "\n\n")
	}
	s.listed = s.listed && line == "" || isItem
}

func (s *Sheet) endList() {
	switch {
	case s.listed && s.Form == HTML:
		s.out.WriteString("</ul>\n")
	case s.listed:
		s.out.WriteByte('\n')
	}
	s.listed = false
}

// escape takes from text what means something in Markdown.
var escape = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "|", `\|`).Replace

// Table appends a table; the cells of a row are separated by tabs.
func (s *Sheet) Table(header string, rows []string) {
	all := [][]string{strings.Split(header, "\t")}
	for _, row := range rows {
		all = append(all, strings.Split(row, "\t"))
	}
	if s.Form == HTML {
		s.tableHTML(all)
		return
	}
	t := table.NewWriter()
	for i, cells := range all {
		row := make(table.Row, len(cells))
		for k, cell := range cells {
			if s.Form == Markdown {
				cell = indented(cell)
			}
			row[k] = cell
		}
		if i == 0 {
			t.AppendHeader(row)
		} else {
			t.AppendRow(row)
		}
	}
	if s.Form == Markdown {
		s.endList()
		s.out.WriteString(t.RenderMarkdown() + "\n\n")
		return
	}
	t.SetStyle(table.Style{Box: table.BoxStyle{PaddingRight: gap}})
	t.SetColumnConfigs(s.folds(all))
	t.SuppressTrailingSpaces()
	s.out.WriteString(t.Render() + "\n")
}

// gap is what separates columns.
const gap = "  "

// indented keeps what begins a cell from being lost in Markdown.
func indented(cell string) string {
	trimmed := strings.TrimLeft(cell, " ")
	return strings.Repeat("&nbsp;", len(cell)-len(trimmed)) + escapeCell(trimmed)
}

// escapeCell leaves the bar to the writer of tables.
var escapeCell = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`).Replace

// folds says how wide columns may be so that all of them keep to the width of s: as wide as they
// are, but for the widest, which share what the others leave. Words are broken only where the width
// cannot hold them.
func (s *Sheet) folds(rows [][]string) []table.ColumnConfig {
	if s.Width == 0 {
		return nil
	}
	n := len(rows[0])
	widths, words, none := make([]int, n), make([]int, n), make([]int, n)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			for word := range strings.FieldsSeq(cell) {
				words[i] = max(words[i], utf8.RuneCountInString(word))
			}
		}
	}
	room := s.Width - len(gap)*(n-1)
	least := 0
	if sum(widths, words, 0) > room {
		words, least = none, narrowest
	}
	most := 0
	for sum(widths, words, most+1) <= room && most < room {
		most++
	}
	most = max(most, least)
	var list []table.ColumnConfig
	for i, width := range widths {
		if keep := max(most, words[i]); width > keep {
			list = append(list, table.ColumnConfig{Number: i + 1, WidthMax: keep, WidthMaxEnforcer: text.WrapSoft})
		}
	}
	return list
}

// narrowest is how wide a column is at least whose words are broken, however narrow the terminal.
const narrowest = 8

// sum is how wide columns are together if none is wider than most or its longest word.
func sum(widths, words []int, most int) (n int) {
	for i, w := range widths {
		n += max(words[i], min(w, most))
	}
	return n
}

// tableHTML appends a table. A header in capitals is for terminals: the page has its own.
func (s *Sheet) tableHTML(rows [][]string) {
	s.endList()
	s.out.WriteString("<div class=\"wide\"><table>\n")
	for i, cells := range rows {
		s.out.WriteString("<tr>")
		for _, cell := range cells {
			trimmed := strings.TrimLeft(cell, " ")
			switch {
			case i == 0:
				s.out.WriteString("<th scope=\"col\">" + html.EscapeString(sentence(cell)) + "</th>")
			case trimmed != cell:
				s.out.WriteString("<td class=\"part\">" + html.EscapeString(trimmed) + "</td>")
			default:
				s.out.WriteString("<td>" + html.EscapeString(cell) + "</td>")
			}
		}
		s.out.WriteString("</tr>\n")
	}
	s.out.WriteString("</table></div>\n")
}

// sentence is a header in capitals as words.
func sentence(header string) string {
	if header == "" {
		return ""
	}
	return header[:1] + strings.ToLower(header[1:])
}

// treeHTML appends a root that opens to its leaves.
func (s *Sheet) treeHTML(root string, leaves []string) {
	s.endList()
	s.out.WriteString("<details><summary>" + html.EscapeString(root) + "</summary><ol>\n")
	for _, leaf := range leaves {
		s.out.WriteString("<li>" + html.EscapeString(leaf) + "</li>\n")
	}
	s.out.WriteString("</ol></details>\n")
}

// Tree appends a root with its leaves; more, if not empty, tells what was left out of them.
func (s *Sheet) Tree(root string, leaves []string, more string) {
	if more != "" {
		leaves = append(leaves[:len(leaves):len(leaves)], more)
	}
	switch s.Form {
	case HTML:
		s.treeHTML(root, leaves)
		return
	case Markdown:
		s.out.WriteString("- " + escape(root) + "\n")
		for _, leaf := range leaves {
			s.out.WriteString("  - " + escape(leaf) + "\n")
		}
		s.listed = true
		return
	}
	fmt.Fprintln(&s.out, root)
	for i, leaf := range leaves {
		branch := "├─ "
		if i == len(leaves)-1 {
			branch = "└─ "
		}
		fmt.Fprintln(&s.out, branch+leaf)
	}
}

// Bytes is all of it.
func (s *Sheet) Bytes() []byte {
	if s.Form == HTML {
		s.endList()
	}
	if s.Form == Markdown {
		return append(bytes.TrimSpace(s.out.Bytes()), '\n')
	}
	return s.out.Bytes()
}
