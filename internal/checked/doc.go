// Package checked is arithmetic on amounts, prices and numbers of seconds that stays at
// the end of int64 instead of going round. What else a sum means where it does not fit, an
// error or what is unlimited, is the caller's to say.
package checked
