package sample

import "testing"

func TestGrade(t *testing.T) {
	for a, want := range map[int]int{-3: 0, 2: 0, 3: 1, 11: 9, 12: 10, 13: 10, 100: 0} {
		if got := Grade(a, false); got != want {
			t.Errorf("%d: %d, want %d", a, got, want)
		}
	}
	if Grade(3, true) != 2 {
		t.Error("no bonus")
	}
}

func TestSum(t *testing.T) {
	if got := Sum(2, 4, -1, 8); got != 6 {
		t.Error(got)
	}
}

func TestSign(t *testing.T) {
	if Sign(3) != 1 {
		t.Error("below")
	}
}
