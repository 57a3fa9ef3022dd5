// Package ports says which host ports conflict.
package ports
