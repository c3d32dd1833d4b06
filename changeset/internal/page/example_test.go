package page_test

import (
	"fmt"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
)

func ExampleParse() {
	raw := []byte("---\nid: backup\ndepends_on: [storage]\n---\n# Backups\n\nSee [[restore|how to restore]].\n\n## Every night\n")
	p := page.Parse("guides/backup.md", raw)
	fmt.Println(p.ID, p.Kind, p.Title, p.DependsOn, p.Links)
	for _, s := range p.Sections {
		fmt.Printf("%q %d bytes\n", s.Name, s.End-s.Start)
	}
	// Output:
	// backup page Backups [storage] [restore]
	// "" 41 bytes
	// "backups" 44 bytes
	// "every-night" 15 bytes
}

func ExampleEdit() {
	raw := []byte("---\nid: backup  # do not change\nowner: ann\n---\n# Backups\n")
	status := "reviewed"
	raw, err := page.Edit("guides/backup.md", raw, page.Fields{Status: &status})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", raw)
	// Output:
	// ---
	// id: backup  # do not change
	// owner: ann
	// status: reviewed
	// ---
	// # Backups
}

func ExampleNew() {
	title, tags, body := "Backups", []string{"ops"}, []byte("Every night.\n")
	raw, err := page.New("guides/backup.md", page.Fields{Title: &title, Tags: &tags, Body: &body})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", raw)
	// Output:
	// ---
	// title: Backups
	// tags: [ops]
	// ---
	// Every night.
}
