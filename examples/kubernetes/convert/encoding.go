package convert

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// mark is the byte order mark, with which editors of Windows begin a text.
const mark = "\ufeff"

// Unzip takes off gzip, if there is any, and a byte order mark; UTF-16 with such a
// mark, as shells of Windows write it, becomes UTF-8.
//
// Of gzip most bytes are unpacked at most; 0: [MostUnpacked], and beyond 64 MiB no more than 128 times the packed size. What has
// more fails with [ErrUnpacked].
func Unzip(r io.Reader, most int64) (*bufio.Reader, error) {
	packed := &counted{r: r}
	in := buffered(packed)
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, cutOff(err)
		}
		in = buffered(&zipped{in: z, packed: packed, most: most})
	}
	if start, err := in.Peek(2); err == nil {
		switch [2]byte(start) {
		case [2]byte{0xff, 0xfe}:
			in = buffered(&wide{in: in, order: binary.LittleEndian})
		case [2]byte{0xfe, 0xff}:
			in = buffered(&wide{in: in, order: binary.BigEndian})
		}
	}
	if start, err := in.Peek(len(mark)); err == nil && string(start) == mark {
		_, _ = in.Discard(len(mark))
	}
	return in, nil
}

// buffered reads r through a buffer, which may be looked into: an error that is met
// then comes again when the text before it was read.
func buffered(r io.Reader) *bufio.Reader { return bufio.NewReader(&sticky{r: r}) }

// sticky goes on to fail once it failed.
type sticky struct {
	r   io.Reader
	err error
}

// Read reads from the reader underneath.
func (s *sticky) Read(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.r.Read(p)
	}
	return n, s.err
}

// MostUnpacked is how many bytes gzip may unpack to where nobody says.
const MostUnpacked = 1 << 30

// ErrUnpacked is the error of an input that unpacks to more than may be.
var ErrUnpacked = errors.New("gzip: it unpacks to more than may be")

// zipped reads gzip; a text that ends too soon is said to be cut off.
type zipped struct {
	in     io.Reader
	packed *counted
	most   int64 // bytes that may be read; 0: see Unzip
	read   int64
}

// counted counts what was read.
type counted struct {
	r    io.Reader
	read int64
}

// Read reads from the reader underneath.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += int64(n)
	return n, err
}

// fewUnpacked is what gzip may unpack to whatever its size, mostTimes how many times that size beyond it: a dump of 5,000
// nodes unpacks to 50 to 70 times its packed size, what is made to be large to a thousand times.
const fewUnpacked, mostTimes = 64 << 20, 128

// Read reads what is unzipped.
func (z *zipped) Read(p []byte) (int, error) {
	n, err := z.in.Read(p)
	most := cmp.Or(z.most, min(MostUnpacked, max(fewUnpacked, mostTimes*z.packed.read)))
	if z.read += int64(n); z.read > most {
		return 0, fmt.Errorf("%w: %d bytes", ErrUnpacked, most)
	}
	if errors.Is(err, io.EOF) {
		return n, err
	}
	return n, cutOff(err)
}

var errCutOff = errors.New("gzip: the input is cut off")

func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCutOff
	}
	return err
}

// wide reads UTF-16 as UTF-8.
type wide struct {
	in    io.Reader
	order binary.ByteOrder
	out   []byte // of the last character, not read yet
}

var errUTF16 = errors.New("not UTF-16, which its byte order mark says it is: half a character")

// Read writes whole characters, or the rest of one that does not fit into p.
func (w *wide) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(w.out) == 0 {
			if err := w.next(); err != nil {
				return n, err
			}
		}
		moved := copy(p[n:], w.out)
		w.out, n = w.out[moved:], n+moved
	}
	return n, nil
}

// next reads one character.
func (w *wide) next() error {
	first, err := w.unit()
	if err != nil || !utf16.IsSurrogate(first) {
		w.out = utf8.AppendRune(w.out[:0], first)
		if err != nil {
			w.out = nil
		}
		return err
	}
	second, err := w.unit()
	if errors.Is(err, io.EOF) {
		return errUTF16
	}
	if err != nil {
		return err
	}
	r := utf16.DecodeRune(first, second)
	if r == utf8.RuneError {
		return errUTF16
	}
	w.out = utf8.AppendRune(w.out[:0], r)
	return nil
}

func (w *wide) unit() (rune, error) {
	var b [2]byte
	_, err := io.ReadFull(w.in, b[:])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, errUTF16
	}
	return rune(w.order.Uint16(b[:])), err
}
