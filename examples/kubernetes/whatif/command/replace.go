package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile writes a file beside name first and renames it once all of it is there, so that name
// is never half written. What is no file, such as a device or a pipe, is written to.
func replaceFile(name string, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return replaced(name, 0, write)
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return written(f, write)
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return err
	}
	return replaced(name, info.Mode().Perm(), write)
}

// replaced is replaceFile for a file; mode is that of the file before, 0 if there was none.
func replaced(name string, mode os.FileMode, write func(io.Writer) error) error {
	part := fmt.Sprintf("%s.%d.part", name, os.Getpid())
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return renamed(err, name)
	}
	if mode != 0 {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, written(f, write)); err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// renamed is err about the file that was asked for, not the one beside it.
func renamed(err error, name string) error {
	if e := new(fs.PathError); errors.As(err, &e) {
		e.Path = name
	}
	return err
}

// written writes f and closes it.
func written(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}
