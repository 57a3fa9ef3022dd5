// Package gang is the search for a gang by trials: in every domain the potential victims are
// taken out, the members are placed in several ways, and beside each placement the victims
// are given back as far as the members stay. It returns a plan of ids and numbers.
//
// The search is plain and knows every rule. Where members can be counted instead of placed
// it lets package counting do that; see the table of roads in package ask.
package gang
