package sheet

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func written(s *Sheet) string {
	s.Printf("%s: a|b_c <d>", "It is")
	s.Printf(".\nAnd more.\n\nNote:\n  - one\n  - two\n\n")
	s.Table("WHO\tNODE\tWHY", []string{"ml/train-0\tnode-a\tbecause | of `that`", "  ml/train-1\t\t"})
	s.Tree("node-a", []string{"potential x", "chosen"}, "and 3 more")
	s.Tree("node-b", nil, "")
	return string(s.Bytes())
}

func Example() {
	s := Sheet{Width: 30}
	s.Printf("pod x fits.\n\n")
	s.Table("VICTIM\tWHY IT CANNOT STAY", []string{"reports/report-adhoc\tcpu is short by 1500m"})
	s.Tree("node-b", []string{"potential reports/report-adhoc", "chosen"}, "")
	fmt.Printf("%s", s.Bytes())
	// Output:
	// pod x fits.
	//
	// VICTIM                WHY IT
	//                       CANNOT
	//                       STAY
	// reports/report-adhoc  cpu is
	//                       short by
	//                       1500m
	// node-b
	// ├─ potential reports/report-adhoc
	// └─ chosen
}

func TestPlain(t *testing.T) {
	require.Equal(t, `It is: a|b_c <d>.
And more.

Note:
  - one
  - two

WHO           NODE    WHY
ml/train-0    node-a  because | of `+"`that`"+`
  ml/train-1
node-a
├─ potential x
├─ chosen
└─ and 3 more
node-b
`, written(&Sheet{}))
}

func TestMarkdown(t *testing.T) {
	require.Equal(t, `It is: a\|b\_c &lt;d>.

And more.

Note:

- one
- two

| WHO | NODE | WHY |
| --- | --- | --- |
| ml/train-0 | node-a | because \| of `+"\\`that\\`"+` |
| &nbsp;&nbsp;ml/train-1 |  |  |

- node-a
  - potential x
  - chosen
  - and 3 more
- node-b
`, written(&Sheet{Form: Markdown}))
}

func TestHTML(t *testing.T) {
	require.Equal(t, `<p>It is: a|b_c &lt;d&gt;.</p>
<p>And more.</p>
<p>Note:</p>
<ul>
<li>one</li>
<li>two</li>
</ul>
<div class="wide"><table>
<tr><th scope="col">Who</th><th scope="col">Node</th><th scope="col">Why</th></tr>
<tr><td>ml/train-0</td><td>node-a</td><td>because | of `+"`that`"+`</td></tr>
<tr><td class="part">ml/train-1</td><td></td><td></td></tr>
</table></div>
<details><summary>node-a</summary><ol>
<li>potential x</li>
<li>chosen</li>
<li>and 3 more</li>
</ol></details>
<details><summary>node-b</summary><ol>
</ol></details>
`, written(&Sheet{Form: HTML}))

	var list Sheet
	list.Form = HTML
	list.Printf("  - one\n")
	require.Equal(t, "<ul>\n<li>one</li>\n</ul>\n", string(list.Bytes()))
}

// Whatever the width, no line of a table is wider, unless that would make a column narrower than eight
// characters, and no letter is lost.
func TestWidth(t *testing.T) {
	rows := []string{"reports/report-adhoc\tnode-b\t10\tcpu is short by 1500m", "x\ty\tz\t" + strings.Repeat("long ", 40)}
	letters := func(text string) int { return len(strings.Join(strings.Fields(text), "")) }
	plain := Sheet{}
	plain.Table("VICTIM\tNODE\tPRIORITY\tWHY IT CANNOT STAY", rows)
	for width := 1; width < 260; width++ {
		s := Sheet{Width: width}
		s.Table("VICTIM\tNODE\tPRIORITY\tWHY IT CANNOT STAY", rows)
		require.Equal(t, letters(string(plain.Bytes())), letters(string(s.Bytes())))
		for line := range strings.Lines(string(s.Bytes())) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), max(width, 4*narrowest+3*len(gap)))
		}
	}
}
