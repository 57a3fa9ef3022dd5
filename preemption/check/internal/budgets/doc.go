// Package budgets finds the disruption budgets that cover a pod.
package budgets
