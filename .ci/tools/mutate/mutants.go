package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A mutant is one small mistake: what it puts before and after a piece of source, so
// that the piece is as it was unless the mutant is the one of this run.
type mutant struct {
	id            int // from 1
	file          *source
	at            token.Position
	head          int    // the line of the switch that asks it, which a test reaches without the case; 0: it is in no case
	in            string // function that it is in; "" outside of one
	was, is       string // the piece without and with the mistake, for people
	nth           string // of those of the function that look alike: " (2)" and so on
	from, to      int    // the piece, as offsets in the file
	before, after string
	cut           span   // within the piece: an operator
	comma         string // what is there instead
}

// A span is a part of a file, as offsets.
type span struct{ from, to int }

// String is the mutant as it is printed.
func (m *mutant) String() string {
	return fmt.Sprintf("%s: %s", m.line(), m.what())
}

// key names a mutant wherever its line is.
func (m *mutant) key() string { return m.file.name + ": " + m.what() }

func (m *mutant) what() string { return fmt.Sprintf("%s: %s -> %s%s", m.in, m.was, m.is, m.nth) }

// line is the line of the mutant, as FILE:LINE.
func (m *mutant) line() string { return fmt.Sprintf("%s:%d", m.file.name, m.at.Line) }

// mutants lists the mutants of a package in the order of their sources. One that is within
// another has a larger number.
func (p *pkg) mutants() []*mutant {
	f := &finder{pkg: p}
	for _, f.file = range p.files {
		f.cases = nil
		for _, d := range f.file.tree.Decls {
			f.in = ""
			if d, ok := d.(*ast.FuncDecl); ok {
				f.in = d.Name.Name
			}
			ast.Walk(f, d)
		}
	}
	slices.SortStableFunc(f.found, func(a, b *mutant) int {
		return cmp.Or(strings.Compare(a.file.name, b.file.name), a.from-b.from)
	})
	alike := map[string]int{}
	for _, m := range f.found {
		key := m.key()
		if alike[key]++; alike[key] > 1 {
			m.nth = fmt.Sprintf(" (%d)", alike[key])
		}
	}
	return f.found
}

// A finder walks a file.
type finder struct {
	*pkg
	file  *source
	in    string
	found []*mutant
	cases []caseHead // of the file
}

// A caseHead is what a switch, on some line, asks in a case.
type caseHead struct {
	span
	line int
}

// wrap adds a mutant of a node; before and after have %d for its number.
func (f *finder) wrap(n ast.Node, was, is, before, after string) *mutant {
	id := len(f.found) + 1
	at := f.fset.Position(n.Pos())
	numbered := func(s string) string { return strings.ReplaceAll(s, "%d", fmt.Sprint(id)) }
	m := &mutant{
		id: id, file: f.file, at: at, in: f.in, was: oneLine(was), is: oneLine(is),
		from: at.Offset, to: f.fset.Position(n.End()).Offset, before: numbered(before), after: numbered(after),
	}
	for _, c := range f.cases {
		if m.from >= c.from && m.to <= c.to {
			m.head = c.line
		}
	}
	f.found = append(f.found, m)
	return m
}

// oneLine is source without its line breaks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// text is the source of a node.
func (f *finder) text(n ast.Node) string {
	return string(f.file.text[f.fset.Position(n.Pos()).Offset:f.fset.Position(n.End()).Offset])
}

// instead adds the mutant that has another expression of type bool in the place of one.
func (f *finder) instead(n ast.Expr, is string) {
	f.wrap(n, f.text(n), is, "(mutant__ != %d && (", ") || mutant__ == %d && ("+is+"))")
}

// Visit adds the mutants of a node and says what to visit beneath it.
func (f *finder) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.GenDecl:
		if n.Tok == token.VAR {
			return f
		}
		return nil
	case *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.FuncType:
		return nil
	case *ast.KeyValueExpr:
		ast.Walk(f, n.Value)
		return nil
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.SwitchStmt:
		for _, c := range n.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				head := span{f.fset.Position(e.Pos()).Offset, f.fset.Position(e.End()).Offset}
				f.cases = append(f.cases, caseHead{head, f.fset.Position(n.Pos()).Line})
			}
		}
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.condition(n.Cond)
	case *ast.ReturnStmt:
		for _, e := range n.Results {
			f.condition(e)
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.condition(n.X)
		}
	case *ast.CallExpr:
		return f.call(n)
	case ast.Expr:
		if f.info.Types[n].Value != nil {
			f.constant(n)
			return nil
		}
		if n, ok := n.(*ast.BinaryExpr); ok {
			f.binary(n)
		}
	}
	return f
}

// statements adds the mutants that leave statements of a list out, or swap what they add
// for what they subtract. Each of them is wrapped after what is beneath it is known.
func (f *finder) statements(all []ast.Stmt) {
	for _, s := range all {
		leave := func() {
			f.wrap(s, f.text(s), "nothing", "if mutant__ != %d { ", " }")
		}
		swap := func(was token.Token, is string) {
			mistaken := strings.Replace(f.text(s), was.String(), is, 1)
			f.wrap(s, f.text(s), mistaken, "if mutant__ == %d { "+mistaken+" } else { ", " }")
		}
		switch s := s.(type) {
		case *ast.ExprStmt:
			if c, ok := s.X.(*ast.CallExpr); ok && f.text(c.Fun) == "panic" {
				continue
			}
			leave()
		case *ast.IncDecStmt:
			leave()
			swap(s.Tok, map[token.Token]string{token.INC: "--", token.DEC: "++"}[s.Tok])
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || !f.assigns(s) {
				continue
			}
			leave()
			if other, ok := opposites[s.Tok]; ok && f.numeric(s.Lhs[0]) {
				swap(s.Tok, other.String())
			}
		case *ast.DeferStmt, *ast.SendStmt:
			leave()
		case *ast.BranchStmt:
			if s.Tok == token.BREAK || s.Tok == token.CONTINUE {
				leave()
			}
		case *ast.ReturnStmt:
			if len(s.Results) == 0 {
				leave()
			}
		}
	}
}

// assigns reports whether an assignment has a variable to assign to.
func (f *finder) assigns(s *ast.AssignStmt) bool {
	for _, e := range s.Lhs {
		if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
			return true
		}
	}
	return false
}

// opposites are the operators that are mistaken for each other, and what is written for them.
var opposites = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.AND_NOT: token.AND, token.XOR: token.AND,
	token.SHL: token.SHR, token.SHR: token.SHL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN,
	token.QUO_ASSIGN: token.MUL_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN,
	token.AND_NOT_ASSIGN: token.OR_ASSIGN, token.XOR_ASSIGN: token.OR_ASSIGN,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
}

// boundaries are comparisons that differ where both sides are equal.
var boundaries = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
}

// helpers are the functions that compute, or compute wrongly, in the place of operators.
var helpers = map[token.Token]string{
	token.ADD: "add__", token.SUB: "sub__", token.MUL: "mul__", token.QUO: "quo__", token.REM: "rem__",
	token.AND: "and__", token.OR: "or__", token.AND_NOT: "andNot__", token.XOR: "xor__", token.SHL: "shl__", token.SHR: "shr__",
}

// binary adds the mutants of an operator.
func (f *finder) binary(n *ast.BinaryExpr) {
	with := func(op token.Token) string {
		return f.text(n.X) + " " + op.String() + " " + f.text(n.Y)
	}
	switch op := n.Op; op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.instead(n, with(boundaries[op]))
		f.instead(n, with(opposites[op]))
	case token.EQL, token.NEQ:
		f.instead(n, with(opposites[op]))
	case token.LAND, token.LOR:
		f.instead(n, parens(f.text(n.X))+" "+opposites[op].String()+" "+parens(f.text(n.Y)))
		f.condition(n.X)
		f.condition(n.Y)
	default:
		if !f.numeric(n) {
			return
		}
		m := f.wrap(n, f.text(n), with(opposites[op]), helpers[op]+f.instance(n)+"(%d, ", ")")
		at := f.fset.Position(n.OpPos).Offset
		m.cut, m.comma = span{at, at + len(op.String())}, ","
	}
}

func parens(s string) string { return "(" + s + ")" }

// condition adds the mutant that negates an expression which is no comparison, !, && or ||:
// those have their own.
func (f *finder) condition(n ast.Expr) {
	if n == nil || f.info.Types[n].Value != nil {
		return
	}
	switch n := n.(type) {
	case *ast.BinaryExpr, *ast.ParenExpr:
		return
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			return
		}
	}
	if types.Identical(f.info.Types[n].Type, types.Typ[types.Bool]) {
		f.instead(n, "!("+f.text(n)+")")
	}
}

// constant adds the mutant of a literal.
func (f *finder) constant(n ast.Expr) {
	text := f.text(n)
	switch n := n.(type) {
	case *ast.BasicLit:
		if instance := f.instance(n); n.Kind == token.INT && instance != "" {
			f.wrap(n, text, text+" + 1", "more__"+instance+"(%d, ", ")")
		}
	case *ast.Ident:
		if f.info.Types[n].Type == types.Typ[types.UntypedBool] || types.Identical(f.info.Types[n].Type, types.Typ[types.Bool]) {
			if text == "true" || text == "false" {
				f.instead(n, "!"+text)
			}
		}
	}
}

// call adds the mutants of a call. How much room is made for what comes is no matter of
// answers, and types are not conditions.
func (f *finder) call(n *ast.CallExpr) ast.Visitor {
	if f.info.Types[n].Value != nil {
		return nil
	}
	switch name := f.text(n.Fun); name {
	case "make":
		if _, ok := f.info.Types[n.Args[0]].Type.Underlying().(*types.Slice); ok && len(n.Args) > 1 {
			ast.Walk(f, n.Args[1])
		}
		return nil
	case "slices.Grow", "panic":
		return nil
	case "min", "max":
		if len(n.Args) == 2 && f.numeric(n) {
			other := map[string]string{"min": "max", "max": "min"}[name]
			m := f.wrap(n, f.text(n), other+strings.TrimPrefix(f.text(n), name), name+"__"+f.instance(n)+"(%d, ", "")
			m.cut = span{m.from, f.fset.Position(n.Lparen).Offset + 1}
		}
		for _, a := range n.Args {
			ast.Walk(f, a)
		}
		return nil
	}
	return f
}

// numeric reports whether an expression is a number of a type that helpers take.
func (f *finder) numeric(n ast.Expr) bool {
	t := f.info.Types[n].Type
	if _, ok := t.(*types.TypeParam); ok {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0 && b.Info()&types.IsComplex == 0
}

// instance is the type of a number in brackets, where every file can name it.
func (f *finder) instance(n ast.Expr) string {
	switch t := f.info.Types[n].Type.(type) {
	case *types.Basic:
		if t.Info()&types.IsUntyped == 0 && t.Info()&types.IsInteger != 0 {
			return "[" + t.Name() + "]"
		}
	case *types.Named:
		if t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == f.path && t.Obj().Parent() == t.Obj().Pkg().Scope() && f.numeric(n) && t.TypeArgs().Len() == 0 {
			return "[" + t.Obj().Name() + "]"
		}
	}
	return ""
}
