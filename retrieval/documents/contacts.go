package documents

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"tandem/retrieval/internal/english"
)

// parseContacts reads the persons of an address book (.vcf), in the order of the file. Each is a heading with lines below
// it.
func parseContacts(ctx context.Context, data []byte) (Document, error) {
	text, err := decodeText(joinSplit(data))
	if err != nil {
		return Document{}, err
	}
	var doc Document
	var card []property
	begun := false
	err = properties(ctx, text, func(p property) {
		switch {
		case p.name == "BEGIN":
			begun, card = begun || strings.EqualFold(strings.TrimSpace(p.value), "VCARD"), nil
		case p.name == "END":
			addContact(&doc, card)
			card = nil
		default:
			card = append(card, p)
		}
	})
	if err != nil {
		return Document{}, err
	}
	if !begun {
		return Document{}, errors.New("not an address book, despite its name (it has no BEGIN:VCARD)")
	}
	if len(doc.Blocks) == 0 {
		return Document{}, errors.New("no names in it")
	}
	return doc, nil
}

// contactLabels are the lines of a contact that say what they are by their property alone.
var contactLabels = map[string]string{"NICKNAME": "Nickname", "TITLE": "Job", "ROLE": "Role", "URL": "Web", "X-SPOUSE": "Spouse", "X-EVOLUTION-SPOUSE": "Spouse",
	"X-MANAGER": "Manager", "X-EVOLUTION-MANAGER": "Manager", "X-ASSISTANT": "Assistant", "X-EVOLUTION-ASSISTANT": "Assistant"}

// addContact appends a person to the document.
func addContact(doc *Document, card []property) {
	first := len(doc.Blocks)
	doc.AddHeading(2, english.Shorten(contactName(card), MaxHeading))
	own := ownLabels(card)
	said := map[string]bool{} // some programs write a day twice
	for _, p := range card {
		if p.name == "NOTE" {
			for line := range strings.SplitSeq(p.text(), "\n") {
				doc.Add(Paragraph, line)
			}
			continue
		}
		label, value := contactFact(p, own)
		if line := label + ": " + value; label != "" && value != "" && len(value) <= maxValue && !said[line] {
			doc.Add(Line, line)
			said[line] = true
		}
	}
	if len(doc.Blocks) > first {
		doc.Blocks[first].Apart = first > 0
	}
}

// contactFact returns what a property says of a person, without a label if it says nothing.
func contactFact(p property, own map[string]string) (label, value string) {
	value = english.Collapse(p.text())
	switch p.name {
	case "ORG":
		return "Organisation", joinFilled(p.fields())
	case "TEL":
		if number, ok := cutFold(value, "tel:"); ok {
			value = strings.Replace(number, ";ext=", " ext. ", 1)
		}
		return "Phone" + kindOf(p, own), value
	case "EMAIL":
		return "E-mail" + kindOf(p, own), value
	case "ADR":
		return "Address" + kindOf(p, own), joinFilled(p.fields())
	case "BDAY":
		return "Birthday", birthday(p, value)
	case "ANNIVERSARY", "X-ANNIVERSARY", "X-EVOLUTION-ANNIVERSARY":
		return "Anniversary", birthday(p, value)
	case "X-ABDATE":
		return english.Capitalise(cmp.Or(own[p.group], "date")), birthday(p, value)
	case "RELATED", "X-ABRELATEDNAMES":
		if _, ok := cutFold(value, "urn:"); ok { // another card, perhaps of another file
			return "", ""
		}
		return english.Capitalise(cmp.Or(own[p.group], relation(p), "related")), value
	}
	return contactLabels[p.name], value
}

// relation returns how somebody is related, by the property alone: "child, friend".
func relation(p property) string {
	kinds := strings.Split(strings.ToLower(p.params["TYPE"]), ",")
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return slices.Contains([]string{"pref", "home", "work", "other"}, kind) })
	return strings.Join(kinds, ", ")
}

// maxValue bounds a value of a contact, in bytes. A longer one is data.
const maxValue = 1 << 10

// contactName returns a person's name, or what stands for it.
func contactName(card []property) string {
	for _, name := range []string{"FN", "N", "ORG", "EMAIL"} {
		for _, p := range card {
			if p.name != name {
				continue
			}
			value := english.Collapse(p.text())
			if fields := p.fields(); name == "N" && len(fields) > 1 {
				value = fields[1] + " " + fields[0] // the family name comes first
			} else if name != "FN" {
				value = joinFilled(fields)
			}
			if value = english.Collapse(value); value != "" && len(value) <= maxValue {
				return value
			}
		}
	}
	return ""
}

// ownLabels returns the labels that a person gave to numbers and addresses, by group.
func ownLabels(card []property) map[string]string {
	labels := map[string]string{}
	for _, p := range card {
		if text := english.Collapse(p.text()); p.name == "X-ABLABEL" && p.group != "" && len(text) <= maxLabel {
			if plain, ok := strings.CutPrefix(text, "_$!<"); ok { // one of Apple's own
				text = strings.ToLower(strings.TrimSuffix(plain, ">!$_"))
			}
			labels[p.group] = text
		}
	}
	return labels
}

// maxLabel bounds a label that a person wrote, in bytes.
const maxLabel = 64

// kindOf returns what kind of number or address a property is, in parentheses: " (mobile, home)".
func kindOf(p property, own map[string]string) string {
	var kinds []string
	if label := own[p.group]; label != "" && p.group != "" {
		kinds = append(kinds, label)
	}
	for kind := range strings.SplitSeq(strings.ToLower(p.params["TYPE"]), ",") {
		if kind == "cell" {
			kind = "mobile"
		}
		if slices.Contains([]string{"mobile", "home", "work", "fax", "pager"}, kind) && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	return " (" + strings.Join(kinds, ", ") + ")"
}

// birthday returns a date as people write it, if it has one of the forms of address books; those without a year too.
// Apple names a year that stands for none.
func birthday(p property, value string) string {
	value, _, _ = strings.Cut(value, "T")
	if none := p.params["X-APPLE-OMIT-YEAR"]; none != "" {
		if day, ok := strings.CutPrefix(value, none); ok {
			value = "--" + strings.TrimPrefix(day, "-")
		}
	}
	for _, form := range [][2]string{{"2006-01-02", "2 January 2006"}, {"20060102", "2 January 2006"}, {"--0102", "2 January"}, {"--01-02", "2 January"}} {
		if t, err := time.Parse(form[0], value); err == nil {
			return t.Format(form[1])
		}
	}
	return value
}

// joinFilled joins the fields that have text.
func joinFilled(fields []string) string { return strings.Join(filledCells(fields), ", ") }
