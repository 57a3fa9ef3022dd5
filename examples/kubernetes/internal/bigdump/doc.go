// Package bigdump writes dumps of large clusters as kubectl prints them, for tests and
// measurements of the readers.
//
// The clusters are made up: nodes in zones, pods of deployments and a few gangs in a
// hundred namespaces, budgets, priority classes. Equal sizes give equal dumps.
package bigdump
