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
