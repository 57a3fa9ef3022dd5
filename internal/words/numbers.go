package words

import (
	"fmt"
	"time"
)

// Seconds writes a number of seconds as time.Duration does: 4m10s.
func Seconds(n int64) string {
	if d := time.Duration(n) * time.Second; d/time.Second == time.Duration(n) {
		return d.String()
	}
	return fmt.Sprintf("%ds", n)
}

// Count is n things in words: 1 pod, 2 pods.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
