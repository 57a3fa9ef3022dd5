// Package noderules tells whether pods say the same of the nodes that they may be on.
package noderules
