package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// writeProxy makes a folder that GOPROXY can name, in which the modules of a checkout
// have one version.
func writeProxy(dir, root, version string, mods []mod) error {
	for _, m := range mods {
		at := filepath.Join(dir, filepath.FromSlash(m.path), "@v")
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		var archive bytes.Buffer
		if err := zip.CreateFromDir(&archive, module.Version{Path: m.path, Version: version}, filepath.Join(root, m.dir)); err != nil {
			return err
		}
		info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0).UTC()})
		if err != nil {
			return err
		}
		for name, text := range map[string][]byte{
			"list":            []byte(version + "\n"),
			version + ".info": info,
			version + ".mod":  modfile.Format(m.file.Syntax),
			version + ".zip":  archive.Bytes(),
		} {
			if err := os.WriteFile(filepath.Join(at, name), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyFiles copies the files of a checkout, in the order given.
func copyFiles(to, root string, files []string) error {
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
