// Package tariff computes prices of evictions, and values and tolerance over time, from their definitions, for package check alone.
package tariff
