// Package tariff computes prices of evictions and values over time from their definitions, for package check alone.
package tariff
