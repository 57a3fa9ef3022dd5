// Package sample has something for each kind of mutant.
package sample

const limit = 2 // constants stay as they are

type count int

var first = count(len([]int{})) + 1

// Grade is 0 below the limit, else how far a is above, at most 10.
func Grade(a int, bonus bool) (grade int) {
	if a < limit || !valid(a) {
		return
	}
	grade = min(a-limit, 10)
	if bonus && grade < 10 {
		grade++
	}
	return grade
}

func valid(a int) bool { return a != 100 }

// Sum adds numbers until one is below zero.
func Sum(numbers ...int) (sum int) {
	room := make([]int, 0, 4)
	defer func() { sum += len(room) }()
	for _, n := range numbers {
		if n < 0 {
			break
		}
		sum += n << first / 2
		_ = n
	}
	return sum
}

func Unreached() bool { return true }

// Sign is asked in a case that no test enters.
func Sign(a int) int {
	switch {
	case a < 0:
		return -1
	}
	return 1
}
