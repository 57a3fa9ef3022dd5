package clustertest

import (
	"reflect"
	"time"
)

// copied is a copy of plain data that shares nothing with it.
func copied[T any](v *T) *T {
	out := new(T)
	copyInto(reflect.ValueOf(out).Elem(), reflect.ValueOf(v).Elem())
	return out
}

func copyInto(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			copyInto(to.Elem(), from.Elem())
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				copyInto(to.Index(i), from.Index(i))
			}
		}
	case reflect.Map:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
		for key, value := range from.Seq2() {
			own := reflect.New(value.Type()).Elem()
			copyInto(own, value)
			to.SetMapIndex(key, own)
		}
	case reflect.Struct:
		if _, ok := from.Interface().(time.Time); ok {
			to.Set(from)
			return
		}
		for i := range from.NumField() {
			copyInto(to.Field(i), from.Field(i))
		}
	default:
		to.Set(from)
	}
}
