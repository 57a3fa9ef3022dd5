// Package names checks the names that Kubernetes objects and labels may have.
//
// The checks look at bytes: no letter outside ASCII is allowed anywhere.
//
// Source: Kubernetes API conventions, "Names and IDs" and "Labels and selectors".
package names
