package documents

import (
	"strings"
	"testing"
)

const calendarText = `BEGIN:VCALENDAR
X-WR-CALNAME:Family
X-WR-TIMEZONE:Europe/Berlin
BEGIN:VTIMEZONE
BEGIN:STANDARD
DTSTART:19701025T030000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
DTSTART;TZID=Europe/Berlin:20261203T160000
DTEND;TZID=Europe/Berlin:20261203T170000
SUMMARY:Violin lesson
LOCATION:Music school\, Lindenweg 4
DESCRIPTION:Bring the blue book\nand the ros
 in
RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TH;UNTIL=20261222T000000Z
ATTENDEE;CN="Lund, Ada":mailto:ada@inn.example
ATTENDEE:MAILTO:bo@inn.example
STATUS:CONFIRMED
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
BEGIN:VEVENT
DTSTART;VALUE=DATE:20261224
DTEND;VALUE=DATE:20261227
SUMMARY:Grandparents
END:VEVENT
BEGIN:VEVENT
DTSTART;VALUE=DATE:20261231
DTEND;VALUE=DATE:20270101
SUMMARY:Party
STATUS:CANCELLED
END:VEVENT
BEGIN:VEVENT
DTSTART:20261209T083000Z
DURATION:PT1H15M
SUMMARY:Car inspection
END:VEVENT
BEGIN:VTODO
SUMMARY:Pay the dentist
DUE;VALUE=DATE:20261212
STATUS:NEEDS-ACTION
END:VTODO
END:VCALENDAR
`

const calendarShown = `title Family
# Violin lesson
l Date: Thursday, 3 December 2026, 16:00 to 17:00
l Repeats: every 2 weeks on Thursday until 22 December 2026
l Place: Music school, Lindenweg 4
l With: Lund, Ada, bo@inn.example
p Bring the blue book
p and the rosin
# Grandparents
l Date: Thursday, 24 December 2026 to Saturday, 26 December 2026
# Party
l Date: Thursday, 31 December 2026
l Status: cancelled
# Car inspection
l Date: Wednesday, 9 December 2026, 09:30 to 10:45
# Pay the dentist
l Due: Saturday, 12 December 2026
l Status: needs action`

func TestCalendar(t *testing.T) {
	for _, ends := range []string{"\n", "\r\n"} {
		doc, err := Parse(t.Context(), "a.ics", []byte(strings.ReplaceAll(calendarText, "\n", ends)))
		if got := show(doc); got != calendarShown || err != nil {
			t.Errorf("%s (%v)\nwant\n%s", got, err, calendarShown)
		}
	}
	doc, err := Parse(t.Context(), "a.ics", []byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Call\nDTSTART:20261209T083000Z\nDTEND:20261209T090000Z\nEND:VEVENT\n"))
	if got, want := show(doc), "title A\n# Call\nl Date: Wednesday, 9 December 2026, 08:30 to 09:00 UTC"; got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
	for text, want := range map[string]string{"hello": "not a calendar", "BEGIN:VCALENDAR\nEND:VCALENDAR\n": "no events"} {
		if _, err := Parse(t.Context(), "a.ics", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

const contactsText = `BEGIN:VCARD
VERSION:3.0
N:Osei;Derek;;;
FN:Derek Osei
ORG:Osei Plumbing;
item1.TEL;TYPE=CELL:07700 900412
EMAIL;TYPE=INTERNET,WORK:derek@osei.example
ADR;TYPE=WORK:;;14 Mill Lane;Penwick;;PE3 9QQ;UK
NOTE:Comes on Saturdays\, too
PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRg
END:VCARD
BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Lef=C3=A8vre;Andr=
=C3=A9
TEL;HOME;VOICE:0461 77 30 00
BDAY:--0412
TITLE:Piano tuner
END:VCARD
`

const contactsShown = `title A
# Derek Osei
l Organisation: Osei Plumbing
l Phone (mobile): 07700 900412
l E-mail (work): derek@osei.example
l Address (work): 14 Mill Lane, Penwick, PE3 9QQ, UK
p Comes on Saturdays, too
# André Lefèvre
l Phone (home): 0461 77 30 00
l Birthday: 12 April
l Job: Piano tuner`

func TestContacts(t *testing.T) {
	doc, err := Parse(t.Context(), "a.vcf", []byte(contactsText))
	if got := show(doc); got != contactsShown || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, contactsShown)
	}
	if _, err := Parse(t.Context(), "a.vcf", []byte("hello")); err == nil || !strings.Contains(err.Error(), "not an address book") {
		t.Error(err)
	}
}

func FuzzCalendar(f *testing.F) {
	for _, s := range []string{calendarText, "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:\\\nDTSTART:2026\nDURATION:P9W9DT9H\nRRULE:FREQ=DAILY;COUNT=9\nEND:VEVENT", "BEGIN:VCALENDAR\nX-WR-TIMEZONE:../x\nEND:\nEND:\nA;B=\"c:d\":e"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.ics", data) })
}

func FuzzContacts(f *testing.F) {
	for _, s := range []string{contactsText, "BEGIN:VCARD\nN:;\nORG:a;b\\;c\nEND:VCARD", "BEGIN:VCARD\nNOTE;QUOTED-PRINTABLE:=\n=\n=C3\nEND:VCARD"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.vcf", data) })
}
