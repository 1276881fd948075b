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
l Date: Thursday, 31 December 2026 (cancelled)
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
	for lines, want := range map[string]string{
		"ORGANIZER;CN=Ada:mailto:a@x.org\nATTENDEE;CN=Ada;PARTSTAT=ACCEPTED:mailto:a@x.org\nATTENDEE;CN=Bo;PARTSTAT=DECLINED:mailto:b@x.org\nATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:c@x.org": "\nl With: Ada, c@x.org\nl Declined: Bo",
		"RECURRENCE-ID:20261208T083000Z":                   "\nl Changed: on this day only, instead of Tuesday, 8 December 2026, 08:30 UTC",
		"RECURRENCE-ID:20261209T083000Z\nSTATUS:CANCELLED": " (cancelled)\nl Changed: on this day only\nl Status: cancelled",
		"LOCATION:Hut\nEND:VEVENT\nMETHOD:CANCEL\nBEGIN:VEVENT\nSUMMARY:Lunch\nLOCATION:Inn\nSTATUS:CONFIRMED": "\nl Place: Hut\n# Lunch\nl Place: Inn (cancelled)\nl Status: cancelled",
		"RECURRENCE-ID;RANGE=THISANDFUTURE:20261209T083000Z":                                                   "\nl Changed: from this day on",
	} {
		doc, err := Parse(t.Context(), "a.ics", []byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261209T083000Z\nSUMMARY:Call\n"+lines+"\nEND:VEVENT\n"))
		if want = "title A\n# Call\nl Date: Wednesday, 9 December 2026, 08:30 UTC" + want; show(doc) != want || err != nil {
			t.Errorf("%s: %s (%v)\nwant\n%s", lines, show(doc), err, want)
		}
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

func TestBirthday(t *testing.T) {
	for line, want := range map[string]string{
		"BDAY;X-APPLE-OMIT-YEAR=1604:1604-05-03":          "Birthday: 3 May",
		"BDAY;VALUE=date;X-APPLE-OMIT-YEAR=1604:16040503": "Birthday: 3 May",
		"BDAY;X-APPLE-OMIT-YEAR=1604:1984-05-03":          "Birthday: 3 May 1984",
		"ANNIVERSARY;X-APPLE-OMIT-YEAR=1604:1604-02-29":   "Anniversary: 29 February",
		"BDAY:1604-05-03": "Birthday: 3 May 1604",
	} {
		doc, err := Parse(t.Context(), "a.vcf", []byte("BEGIN:VCARD\nFN:Ada\n"+line+"\nEND:VCARD\n"))
		if want = "title A\n# Ada\nl " + want; show(doc) != want || err != nil {
			t.Errorf("%s: %s (%v)\nwant\n%s", line, show(doc), err, want)
		}
	}
}

// A line may be divided within a character, unless it is quoted-printable (RFC 5545 §3.1).
func TestSplitCharacter(t *testing.T) {
	const event = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Gr\xc3\r\n \xbcße für 3 \xe2\r\n \x82\r\n\t\xac,\r\n  Ada\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	const contact = "BEGIN:VCARD\nFN:Andr\xc3\n \xa9\nROLE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:caf=C3=\n=A9\nEND:VCARD\n"
	const mail = "Subject: Hello\nContent-Type: text/calendar; charset=utf-8\n\n" + event
	for _, c := range [][3]string{
		{"a.ics", event, "title A\n# Grüße für 3 €, Ada"},
		{"a.vcf", contact, "title A\n# André\nl Role: café"},
		{"a.eml", mail, "Grüße für 3 €, Ada"},
	} {
		if doc, err := Parse(t.Context(), c[0], []byte(c[1])); err != nil || !strings.Contains(show(doc), c[2]) {
			t.Errorf("%s: %s (%v)\nwant\n%s", c[0], show(doc), err, c[2])
		}
	}
}

const repeatedText = `BEGIN:VCALENDAR
BEGIN:VTIMEZONE
TZID:Europe/Berlin
END:VTIMEZONE
BEGIN:VEVENT
SUMMARY:Choir
DTSTART;TZID=Europe/Berlin:20260407T190000
DTEND;TZID=Europe/Berlin:20260407T210000
RRULE:FREQ=WEEKLY;UNTIL=20260512T170000Z
EXDATE;TZID=Europe/Berlin:20260421T190000,20260428T190000
END:VEVENT
BEGIN:VEVENT
SUMMARY:Stand-up
DTSTART;TZID=America/New_York:20260406T090000
DURATION:PT15M
RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR
END:VEVENT
BEGIN:VEVENT
SUMMARY:Board
DTSTART;TZID=Europe/Berlin:20260414T160000
RRULE:FREQ=MONTHLY;BYDAY=2TU
END:VEVENT
BEGIN:VEVENT
SUMMARY:Review
DTSTART;TZID=Europe/Berlin:20260424T100000
RRULE:FREQ=MONTHLY;INTERVAL=3;BYDAY=FR;BYSETPOS=-1
RDATE;TZID=Europe/Berlin:20260502T100000
END:VEVENT
BEGIN:VEVENT
SUMMARY:Wages
DTSTART;VALUE=DATE:20260430
RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1
END:VEVENT
BEGIN:VEVENT
SUMMARY:Rent
DTSTART;VALUE=DATE:20260401
RRULE:FREQ=MONTHLY;BYMONTHDAY=1,15;COUNT=12
END:VEVENT
BEGIN:VEVENT
SUMMARY:Ann's birthday
DTSTART;VALUE=DATE:19800512
RRULE:FREQ=YEARLY
END:VEVENT
BEGIN:VEVENT
SUMMARY:Harvest
DTSTART;VALUE=DATE:20260901
RRULE:FREQ=YEARLY;BYMONTH=9;BYDAY=1TU
END:VEVENT
END:VCALENDAR
`

const repeatedShown = `title A
# Choir
l Date: Tuesday, 7 April 2026, 19:00 to 21:00
l Repeats: every Tuesday until 12 May 2026
l Not on: Tuesday, 21 April 2026; Tuesday, 28 April 2026
# Stand-up
l Date: Monday, 6 April 2026, 09:00 to 09:15 New York time
l Repeats: every Monday to Friday
# Board
l Date: Tuesday, 14 April 2026, 16:00
l Repeats: every month on the second Tuesday
# Review
l Date: Friday, 24 April 2026, 10:00
l Repeats: every 3 months on the last Friday
l Also on: Saturday, 2 May 2026
# Wages
l Date: Thursday, 30 April 2026
l Repeats: every month on the last weekday
# Rent
l Date: Wednesday, 1 April 2026
l Repeats: every month on day 1 and day 15, 12 times
# Ann's birthday
l Date: Monday, 12 May 1980
l Repeats: every year on 12 May
# Harvest
l Date: Tuesday, 1 September 2026
l Repeats: every year in September on the first Tuesday`

func TestRepeatedEvents(t *testing.T) {
	doc, err := Parse(t.Context(), "a.ics", []byte(repeatedText))
	if got := show(doc); got != repeatedShown || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, repeatedShown)
	}
}

const phonesText = `BEGIN:VCARD
VERSION:3.0
FN:Bo Lund
TEL;TYPE=WORK,VOICE:555 11
TEL;TYPE=CELL,HOME:555 12
TEL;TYPE=HOME;TYPE=FAX:555 13
item1.TEL:555 15
item1.X-ABLabel:_$!<Main>!$_
item2.TEL:555 16
item2.X-ABLabel:Cabin
TEL;VALUE=uri;TYPE="voice,work":tel:+1-555-22;ext=3
ANNIVERSARY:20100612
END:VCARD
`

const phonesShown = `title A
# Bo Lund
l Phone (work): 555 11
l Phone (mobile, home): 555 12
l Phone (home, fax): 555 13
l Phone (main): 555 15
l Phone (Cabin): 555 16
l Phone (work): +1-555-22 ext. 3
l Anniversary: 12 June 2010`

// Each number has all that the book says of its kind.
func TestPhones(t *testing.T) {
	doc, err := Parse(t.Context(), "a.vcf", []byte(phonesText))
	if got := show(doc); got != phonesShown || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, phonesShown)
	}
}

// Persons to whom somebody is related, and days, are facts in each program's own words.
func TestRelated(t *testing.T) {
	for line, want := range map[string]string{
		"RELATED;TYPE=child;VALUE=text:Max Lund":                             "Child: Max Lund",
		"RELATED;TYPE=\"spouse,friend\";VALUE=text:Anna":                     "Spouse, friend: Anna",
		"RELATED;VALUE=text:Eva":                                             "Related: Eva",
		"RELATED;TYPE=contact:urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6": "",
		"item1.X-ABRELATEDNAMES:Anna\nitem1.X-ABLabel:_$!<Spouse>!$_":        "Spouse: Anna",
		"item1.X-ABRELATEDNAMES;type=pref:Eva\nitem1.X-ABLabel:godmother":    "Godmother: Eva",
		"item1.X-ABDATE:2010-06-12\nitem1.X-ABLabel:_$!<Anniversary>!$_":     "Anniversary: 12 June 2010",
		"item1.X-ABDATE;type=pref:20180301\nitem1.X-ABLabel:Moved in":        "Moved in: 1 March 2018",
		"X-ABDATE:20180301": "Date: 1 March 2018",
		"X-SPOUSE:Anna":     "Spouse: Anna",
		"X-EVOLUTION-SPOUSE:Anna\nX-EVOLUTION-MANAGER:Bo":                        "Spouse: Anna\nl Manager: Bo",
		"X-ANNIVERSARY:2010-06-12":                                               "Anniversary: 12 June 2010",
		"X-EVOLUTION-ANNIVERSARY:2010-06-12\nX-KADDRESSBOOK-X-Anniversary:x":     "Anniversary: 12 June 2010",
		"ANNIVERSARY:20100612\nX-ANNIVERSARY:2010-06-12":                         "Anniversary: 12 June 2010",
		"X-ANDROID-CUSTOM:vnd.android.cursor.item/relation;Anna;14;;;;;;;;;;;;;": "",
	} {
		doc, err := Parse(t.Context(), "a.vcf", []byte("BEGIN:VCARD\nFN:Ada\n"+line+"\nEND:VCARD\n"))
		if want = strings.TrimSuffix("title A\n# Ada\nl "+want, "\nl "); show(doc) != want || err != nil {
			t.Errorf("%s: %s (%v)\nwant\n%s", line, show(doc), err, want)
		}
	}
}

func FuzzCalendar(f *testing.F) {
	for _, s := range []string{calendarText, repeatedText, "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:\\\nDTSTART:2026\nDURATION:P9W9DT9H\nRRULE:FREQ=DAILY;COUNT=9\nEND:VEVENT", "BEGIN:VCALENDAR\nX-WR-TIMEZONE:../x\nEND:\nEND:\nA;B=\"c:d\":e"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.ics", data) })
}

func FuzzContacts(f *testing.F) {
	for _, s := range []string{contactsText, phonesText, "BEGIN:VCARD\nN:;\nORG:a;b\\;c\nEND:VCARD", "BEGIN:VCARD\nNOTE;QUOTED-PRINTABLE:=\n=\n=C3\nEND:VCARD"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.vcf", data) })
}
