// Package noderules reads what pods say of nodes: which pods say the same, and on which nodes a pod may run by it.
package noderules
