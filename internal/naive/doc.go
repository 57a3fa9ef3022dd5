// Package naive answers a preemption question the slow and obvious way: maps,
// strings and linear scans in the words of the rules, with no index and no
// shortcut. It is the oracle that the library is compared with.
//
// It shares the plain structs with the library and no decision: selectors, budgets,
// priorities, checks and orders are written here a second time. Input is taken as
// valid; what the library refuses is not refused here.
//
// Source: kube-scheduler v1.36 default preemption; KEP-5710 for units.
package naive
