package floors

import (
	"go/ast"
	"go/doc"
	"maps"
	"slices"
	"strings"
)

// documented checks that a package has a doc.go with the package doc and nothing
// else, a runnable example if users import it, and a sentence for every exported
// name.
func (c *checker) documented(p *Package) {
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		f := p.Files[name]
		if name != "doc.go" {
			if f.Doc != nil && p.Name != "main" {
				c.breach("package %s: %s has a package doc; it belongs into doc.go", p.Dir, name)
			}
			continue
		}
		if len(f.Decls) > 0 {
			c.breach("package %s: doc.go has more than the package doc", p.Dir)
		}
	}
	if !c.hasPackageDoc(p) {
		c.breach("package %s: has no doc.go with a package doc", p.Dir)
	}
	if c.rules.Examples && p.Name != "main" && !isInternal(p.Dir) && !hasRunnableExample(p) && len(p.Files) > 1 {
		c.breach("package %s: has no Example with an Output comment", p.Dir)
	}
	if p.Name == "main" {
		return
	}
	for _, f := range sorted(p.Files) {
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				c.documentedFunc(p, decl)
			case *ast.GenDecl:
				c.documentedGroup(p, decl)
			}
		}
	}
}

// hasPackageDoc reports whether doc.go has a package doc. A command of one file may
// have it there.
func (c *checker) hasPackageDoc(p *Package) bool {
	if f := p.Files["doc.go"]; f != nil {
		return f.Doc != nil
	}
	if p.Name == "main" && len(p.Files) == 1 {
		return sorted(p.Files)[0].Doc != nil
	}
	return len(p.Files) == 0 // tests alone need no doc
}

func hasRunnableExample(p *Package) bool {
	for _, e := range doc.Examples(slices.Concat(sorted(p.Tests), sorted(p.Externals))...) {
		if e.Output != "" || e.EmptyOutput {
			return true
		}
	}
	return false
}

func (c *checker) documentedFunc(p *Package, f *ast.FuncDecl) {
	if !f.Name.IsExported() || f.Recv != nil && !ast.IsExported(receiver(f.Recv.List[0].Type)) {
		return
	}
	name := f.Name.Name
	if f.Recv != nil {
		name = receiver(f.Recv.List[0].Type) + "." + name
	}
	c.checkSentence(p, name, f.Doc, f.Name.Name)
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// documentedGroup checks a declaration of types, constants or variables. Constants
// and variables of one group may share its comment.
func (c *checker) documentedGroup(p *Package, group *ast.GenDecl) {
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if !spec.Name.IsExported() {
				continue
			}
			comment := spec.Doc
			if comment == nil {
				comment = group.Doc
			}
			c.checkSentence(p, spec.Name.Name, comment, spec.Name.Name)
			if i, ok := spec.Type.(*ast.InterfaceType); ok {
				c.documentedMethods(p, spec.Name.Name, i)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() && text(spec.Doc) == "" && text(spec.Comment) == "" && text(group.Doc) == "" {
					c.breach("package %s: %s has no comment", p.Dir, name.Name)
				}
			}
		}
	}
}

func (c *checker) documentedMethods(p *Package, name string, i *ast.InterfaceType) {
	previous := false // a method without a comment may share that of the one above it
	for n, m := range i.Methods.List {
		commented := text(m.Doc) != "" || text(m.Comment) != ""
		for _, method := range m.Names {
			if method.IsExported() && !commented && !(n > 0 && previous) {
				c.breach("package %s: %s.%s has no comment", p.Dir, name, method.Name)
			}
		}
		previous = commented || previous && len(m.Names) > 0
	}
}

// checkSentence checks that a comment begins with the name it explains and ends as
// a sentence, or a list or an example, does.
func (c *checker) checkSentence(p *Package, name string, comment *ast.CommentGroup, begins string) {
	words := text(comment)
	if words == "" {
		c.breach("package %s: %s has no comment", p.Dir, name)
		return
	}
	first := words
	for _, article := range []string{"A ", "An ", "The "} {
		first = strings.TrimPrefix(first, article)
	}
	if rest, ok := strings.CutPrefix(first, begins); !ok || rest != "" && isWord(rest[0]) {
		if !strings.HasPrefix(words, "Deprecated:") && !startsWithPeers(words, begins) {
			c.breach("package %s: the comment of %s does not begin with its name", p.Dir, name)
		}
	}
}

// startsWithPeers allows "X and Y are ..." and "X, Y and Z ..." for a name further
// along the list.
func startsWithPeers(words, name string) bool {
	sentence, _, _ := strings.Cut(words, ".")
	for _, w := range strings.FieldsFunc(sentence, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' }) {
		if w == name {
			return true
		}
		if w != "and" && w != "or" && (w == "" || w[0] < 'A' || w[0] > 'Z') {
			return false
		}
	}
	return false
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func text(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	return strings.TrimSpace(c.Text())
}
