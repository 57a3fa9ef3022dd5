package cluster_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// fill sets every field of v, and of what it points to, to something.
func fill(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(7)
	default:
		panic("no value for " + v.Type().String())
	}
}

// memory adds to in the addresses of all that v can be changed through, with the way there.
func memory(in map[uintptr]string, v reflect.Value, path string) map[uintptr]string {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return in
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			memory(in, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if !v.IsNil() {
			in[v.Pointer()] = path
		}
		switch {
		case v.IsNil():
		case v.Kind() == reflect.Pointer:
			memory(in, v.Elem(), path)
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				memory(in, v.Index(i), path+"[]")
			}
		}
	}
	return in
}

func TestClonesShareNothing(t *testing.T) {
	var p cluster.Preemptor
	fill(reflect.ValueOf(&p).Elem())
	c := p.Clone()
	require.Empty(t, cmp.Diff(p, c))
	mine := memory(map[uintptr]string{}, reflect.ValueOf(p), "Preemptor")
	require.Greater(t, len(mine), 60)
	for at, path := range memory(map[uintptr]string{}, reflect.ValueOf(c), "Preemptor") {
		if mine[at] != "" {
			t.Errorf("%s is shared", path)
		}
	}
	var none cluster.Preemptor
	require.Equal(t, none, none.Clone())
}
