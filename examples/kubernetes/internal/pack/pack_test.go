package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
)

func Example() {
	type book struct {
		Title string
		Tags  map[string]string
	}
	type shelf struct{ Books []book }
	var file bytes.Buffer
	if err := Write(&file, "shelf 1\n", &shelf{[]book{{"Emma", map[string]string{"by": "Austen"}}}}); err != nil {
		log.Fatal(err)
	}
	got, err := Read[shelf](bytes.NewReader(file.Bytes()), "shelf 1\n")
	fmt.Println(got.Books[0].Title, got.Books[0].Tags["by"], err)
	_, err = Read[shelf](bytes.NewReader(file.Bytes()[:40]), "shelf 1\n")
	fmt.Println(err)
	// Output:
	// Emma Austen <nil>
	// it is cut off: 12 of 26 bytes are there
}

const magic = "test 1\n"

// fill fills v with anything.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	if v.Type() == timeType {
		if r.IntN(3) > 0 {
			v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<33)-1<<32, r.Int64N(1e9)).UTC()))
		}
		return
	}
	few := func() int { return r.IntN(4) }
	if depth == 1 && r.IntN(4) == 0 {
		few = func() int { return chunk - 2 + r.IntN(5) }
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case reflect.Uint8:
		v.SetUint(uint64(r.Uint32()) & 0xff)
	case reflect.String:
		v.SetString(strings.Repeat("ab\x00ü"[:1+r.IntN(5)], r.IntN(4)))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth+1)
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth+1)
		}
	case reflect.Slice:
		if r.IntN(3) > 0 {
			n := few()
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i), depth+9)
			}
		}
	case reflect.Map:
		if r.IntN(3) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range few() {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(r, key, depth+1)
				fill(r, value, depth+1)
				v.SetMapIndex(key, value)
			}
		}
	default:
		panic(v.Type().String())
	}
}

// Every field of every type of the library comes back as it was, nil and empty told apart, and equal
// values are written alike.
func TestWhatIsWrittenIsRead(t *testing.T) {
	for seed := range uint64(15) {
		want := new(cluster.Snapshot)
		fill(rand.New(rand.NewPCG(seed, 0)), reflect.ValueOf(want).Elem(), 0)
		var file bytes.Buffer
		require.NoError(t, Write(&file, magic, want))
		got, err := Read[cluster.Snapshot](bytes.NewReader(file.Bytes()), magic)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, reflect.DeepEqual(want, got), "seed %d", seed)
		var again bytes.Buffer
		require.NoError(t, Write(&again, magic, got))
		require.True(t, bytes.Equal(file.Bytes(), again.Bytes()), "seed %d", seed)
	}
}

// small has every kind of value.
type small struct {
	Name   string
	Number uint8
	Inner  struct {
		On   bool
		List []int32
	}
	Rows []row
}

type row struct {
	Name string
	At   time.Time
	Tags map[string]string
	More *row2
	Ons  []bool
}

type row2 struct {
	Name string
	N    int64
}

// smallFile is a file and what is in it.
func smallFile(t testing.TB) (*small, []byte) {
	tags := map[string]string{"a": "1", "b": "a"}
	s := &small{Name: "a", Number: 200, Rows: []row{
		{Name: "one", At: time.Unix(1e9, 5).UTC(), Tags: tags, More: &row2{"x", -1}, Ons: []bool{true, false}}, {Name: "two", Tags: tags},
	}}
	s.Inner.List = []int32{-7, 1 << 30}
	var file bytes.Buffer
	require.NoError(t, Write(&file, magic, s))
	return s, file.Bytes()
}

// A file that is cut anywhere, differs by a bit anywhere or goes on is refused.
func TestDamageIsSeen(t *testing.T) {
	want, file := smallFile(t)
	read := func(file []byte) error {
		_, err := Read[small](bytes.NewReader(file), magic)
		return err
	}
	require.NoError(t, read(file))
	for cut := range file {
		require.ErrorIs(t, read(file[:cut]), ErrCut, cut)
		for bit := range 8 {
			bad := bytes.Clone(file)
			bad[cut] ^= 1 << bit
			require.Error(t, read(bad), "byte %d, bit %d", cut, bit)
		}
	}
	require.ErrorIs(t, read(append(bytes.Clone(file), 0)), ErrDamaged)
	require.ErrorIs(t, read([]byte("{}")), ErrMagic)
	_, err := Read[row](bytes.NewReader(file), magic)
	require.ErrorIs(t, err, ErrTypes)
	_, err = Read[small](bytes.NewReader(file), "other\n")
	require.ErrorIs(t, err, ErrMagic)
	broken := errors.New("broken")
	_, err = Read[small](io.MultiReader(bytes.NewReader(file[:len(file)-1]), failing{broken}), magic)
	require.ErrorIs(t, err, broken)
	require.Equal(t, broken, Write(failing{broken}, magic, want))
}

// What is inside is looked at, too, where the checksum is right.
func TestNonsenseIsRefused(t *testing.T) {
	_, file := smallFile(t)
	body := file[len(magic)+20:]
	changed := 0
	for at := range body {
		for value := range 256 {
			bad := bytes.Clone(body)
			bad[at] = byte(value)
			got, err := Read[small](bytes.NewReader(sealed(file, bad)), magic)
			require.True(t, err == nil || errors.Is(err, ErrDamaged), err)
			if err != nil {
				continue
			}
			changed++
			var again bytes.Buffer
			require.NoError(t, Write(&again, magic, got))
		}
	}
	require.Greater(t, changed, len(body)) // letters, for instance
}

// sealed is a file like file with another body.
func sealed(file, body []byte) []byte {
	head := bytes.Clone(file[:len(magic)+8])
	head = binary.LittleEndian.AppendUint64(head, uint64(len(body)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(body, castagnoli))
	return append(head, body...)
}

func TestTimesThatCannotBeWritten(t *testing.T) {
	for _, at := range []time.Time{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("x", 60))} {
		require.ErrorContains(t, Write(io.Discard, magic, &row{At: at}), "is not in UTC")
	}
}

func TestTypesThatCannotBeWritten(t *testing.T) {
	type node struct{ Next *node }
	for want, v := range map[string]func(){
		"contains itself":          func() { _ = Write(io.Discard, magic, &node{}) },
		"cannot be written":        func() { _ = Write(io.Discard, magic, &struct{ F float64 }{}) },
		"is not exported":          func() { _ = Write(io.Discard, magic, &struct{ f int }{}) },
		"has no fields":            func() { _ = Write(io.Discard, magic, &struct{}{}) },
		"is no struct":             func() { _ = Write(io.Discard, magic, new(int)) },
		"keys that are no strings": func() { _ = Write(io.Discard, magic, &struct{ M map[int]int }{}) },
	} {
		func() {
			defer func() { require.Contains(t, fmt.Sprint(recover()), want) }()
			v()
		}()
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzRead reads anything behind a head that is right: it is read, and written and read again with
// the same outcome, or refused.
func FuzzRead(f *testing.F) {
	_, file := smallFile(f)
	f.Add(file[len(magic)+20:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := Read[small](bytes.NewReader(sealed(file, body)), magic)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		var again bytes.Buffer
		require.NoError(t, Write(&again, magic, got))
		same, err := Read[small](&again, magic)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(got, same))
	})
}
