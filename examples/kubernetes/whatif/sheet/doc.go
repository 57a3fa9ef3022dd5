// Package sheet lays out what is told to people: lines, tables and trees, as plain text, as
// Markdown or as HTML. Tables of plain text keep to a width, if one is given, by folding their widest
// columns.
package sheet
