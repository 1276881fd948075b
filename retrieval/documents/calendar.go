package documents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/retrieval/internal/english"
)

// parseCalendar reads the events and tasks of a calendar (.ics), in the order of the file. Each is a heading with lines
// below it. Times stay in their own time zone; those in UTC are in the calendar's, if it names one.
func parseCalendar(ctx context.Context, data []byte) (Document, error) {
	text, err := decodeText(joinSplit(data))
	if err != nil {
		return Document{}, err
	}
	c := calendar{zone: time.UTC}
	if err := properties(ctx, text, c.property); err != nil {
		return Document{}, err
	}
	if !c.begun {
		return Document{}, errors.New("not a calendar, despite its name (it has no BEGIN:VCALENDAR)")
	}
	if len(c.doc.Blocks) == 0 {
		return Document{}, errors.New("no events in it")
	}
	return c.doc, nil
}

// calendar makes a document of a calendar's lines.
type calendar struct {
	doc     Document
	zone    *time.Location
	home    string // the name of the zone whose times are written without it, if known
	begun   bool
	cancels bool     // it tells those invited that its events are off
	open    []string // the components that have not ended
	event   event
}

// event is an event or a task.
type event struct {
	summary, place, description, status string
	rule                                map[string]string // how it is repeated, by the names of the parts
	start, end, due                     moment
	instead                             moment   // when an instance of a repeated event, which differs from the others, would have been
	onwards                             bool     // the later ones differ, too
	except, also                        []string // days
	duration                            time.Duration
	people, declined                    []string
}

// maxPeople is how many of those who take part in an event, or do not, are named.
const maxPeople = 32

func (c *calendar) property(p property) {
	at := ""
	if n := len(c.open); n > 0 {
		at = c.open[n-1]
	}
	switch {
	case p.name == "BEGIN":
		name := strings.ToUpper(strings.TrimSpace(p.value))
		c.begun = c.begun || name == "VCALENDAR"
		if c.open = append(c.open, name); isEvent(name) {
			c.event = event{}
		}
	case p.name == "END":
		if isEvent(at) {
			if c.cancels {
				c.event.status = "cancelled"
			}
			c.add(c.event)
		}
		c.open = c.open[:max(0, len(c.open)-1)]
	case at == "VCALENDAR" && p.name == "METHOD":
		c.cancels = strings.EqualFold(strings.TrimSpace(p.value), "CANCEL")
	case at == "VCALENDAR" && p.name == "X-WR-CALNAME":
		c.doc.Title = p.text()
	case at == "VCALENDAR" && p.name == "X-WR-TIMEZONE":
		if zone, err := time.LoadLocation(strings.TrimSpace(p.value)); err == nil {
			c.zone, c.home = zone, zone.String()
		}
	case isEvent(at):
		c.eventProperty(p)
	}
}

func isEvent(component string) bool {
	return component == "VEVENT" || component == "VTODO" || component == "VJOURNAL"
}

func (c *calendar) eventProperty(p property) {
	e := &c.event
	switch p.name {
	case "SUMMARY":
		e.summary = p.text()
	case "LOCATION":
		e.place = p.text()
	case "DESCRIPTION":
		e.description = p.text()
	case "STATUS":
		e.status = strings.ToLower(strings.TrimSpace(p.value))
	case "DTSTART":
		e.start = c.moment(p)
	case "DTEND":
		e.end = c.moment(p)
	case "DUE":
		e.due = c.moment(p)
	case "RECURRENCE-ID":
		e.instead, e.onwards = c.moment(p), strings.EqualFold(p.params["RANGE"], "THISANDFUTURE")
	case "DURATION":
		e.duration = duration(strings.TrimSpace(p.value))
	case "RRULE":
		e.rule = parts(p.value)
	case "EXDATE":
		e.except = c.days(e.except, p)
	case "RDATE":
		e.also = c.days(e.also, p)
	case "ATTENDEE", "ORGANIZER":
		e.addPerson(p)
	}
}

// addPerson adds somebody who takes part in an event or has declined to.
func (e *event) addPerson(p property) {
	who := p.params["CN"]
	if address, ok := cutFold(p.value, "mailto:"); ok && who == "" {
		who = address
	}
	to := &e.people
	if strings.EqualFold(p.params["PARTSTAT"], "DECLINED") {
		to = &e.declined
	}
	if who != "" && len(*to) < maxPeople && !slices.Contains(*to, who) {
		*to = append(*to, who)
	}
}

// add appends an event to the document.
func (c *calendar) add(e event) {
	label := func(name, value string) {
		if value = english.Collapse(value); value != "" {
			c.doc.Add(Line, name+": "+value)
		}
	}
	summary := english.Collapse(e.summary)
	if english.CountWords(summary) <= MaxHeading {
		c.doc.AddHeading(2, summary)
	} else {
		c.doc.Add(Paragraph, summary)
	}
	planned := func(name, value string) {
		if value != "" && e.status == "cancelled" { // said where a reader takes the day or the place from
			value += " (cancelled)"
		}
		label(name, value)
	}
	planned("Date", e.when())
	label("Changed", e.change())
	label("Due", e.due.String())
	label("Repeats", c.repetition(e))
	label("Not on", strings.Join(e.except, "; "))
	label("Also on", strings.Join(e.also, "; "))
	planned("Place", e.place)
	label("With", strings.Join(e.people, ", "))
	label("Declined", strings.Join(e.declined, ", "))
	if e.status != "confirmed" {
		label("Status", strings.ReplaceAll(e.status, "-", " "))
	}
	for line := range strings.SplitSeq(e.description, "\n") {
		c.doc.Add(Paragraph, line)
	}
}

// moment is a day, or a time of a day.
type moment struct {
	time  time.Time
	timed bool
	zone  string // to be shown: UTC, if no other is known
}

// moment returns the time that a property says, or none if it says it in another form.
func (c *calendar) moment(p property) moment {
	value := strings.TrimSpace(p.value)
	if t, err := time.Parse("20060102", value); err == nil {
		return moment{time: t}
	}
	if t, err := time.Parse("20060102T150405", value); err == nil {
		return moment{time: t, timed: true, zone: c.abroad(p.params["TZID"])}
	}
	t, err := time.Parse("20060102T150405Z", value)
	if err != nil {
		return moment{}
	}
	m := moment{time: t.In(c.zone), timed: true}
	if c.zone == time.UTC {
		m.zone = " UTC"
	}
	return m
}

// abroad returns what is written behind a time in a zone that is not the calendar's: that of its first event, if it names none.
func (c *calendar) abroad(id string) string {
	if c.home == "" {
		c.home = id
	}
	if id == "" || id == c.home || len(id) > maxZone {
		return ""
	}
	place := strings.ReplaceAll(id[strings.LastIndexByte(id, '/')+1:], "_", " ")
	if place == "" || strings.HasSuffix(place, "Time") { // "Eastern Standard Time", as Outlook has it
		return " " + id
	}
	return " " + place + " time"
}

// maxZone bounds the name of a time zone, in bytes.
const maxZone = 64

// maxDays is how many days are named on which an event is left out or takes place as well.
const maxDays = 32

// days appends the days that a property lists.
func (c *calendar) days(to []string, p property) []string {
	for value := range strings.SplitSeq(p.value, ",") {
		if len(to) == maxDays {
			break
		}
		if m := c.moment(property{value: value, params: p.params}); !m.time.IsZero() {
			to = append(to, m.time.Format(longDay))
		}
	}
	return to
}

// Forms of days and times, for people.
const (
	longDay   = "Monday, 2 January 2006"
	clockTime = "15:04"
)

func (m moment) String() string {
	switch {
	case m.time.IsZero():
		return ""
	case m.timed:
		return m.time.Format(longDay+", "+clockTime) + m.zone
	}
	return m.time.Format(longDay)
}

// when says when an event is: "Thursday, 3 December 2026, 16:00 to 17:00".
func (e event) when() string {
	from, to := e.start, e.end
	if to.time.IsZero() && e.duration > 0 {
		to = moment{from.time.Add(e.duration), from.timed, from.zone}
	}
	if !to.timed && !to.time.IsZero() {
		to.time = to.time.AddDate(0, 0, -1) // an end without a time is the day after
	}
	switch {
	case from.time.IsZero(), !to.time.After(from.time):
		return from.String()
	case from.timed && to.timed && from.time.Format(longDay) == to.time.Format(longDay):
		return from.time.Format(longDay+", "+clockTime) + " to " + to.time.Format(clockTime) + to.zone
	}
	return from.String() + " to " + to.String()
}

// change says of which day of a repeated event one that differs is: "on this day only, instead of Thursday, 3 December 2026, 16:00".
// It is "" for other events.
func (e event) change() string {
	if e.instead.time.IsZero() {
		return ""
	}
	said := "on this day only"
	if e.onwards {
		said = "from this day on"
	}
	if instead := e.instead.String(); instead != e.start.String() {
		said += ", instead of " + instead
	}
	return said
}

// duration returns the duration that stands as "P1DT2H30M", 0 if it has another form or is no common one.
func duration(value string) (d time.Duration) {
	value, ok := strings.CutPrefix(value, "P")
	if !ok {
		return 0
	}
	days, clock, _ := strings.Cut(value, "T")
	for _, part := range []struct {
		text  string
		units map[byte]time.Duration
	}{{days, map[byte]time.Duration{'W': 7 * 24 * time.Hour, 'D': 24 * time.Hour}}, {clock, map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second}}} {
		for from, i := 0, 0; i < len(part.text); i++ {
			if c := part.text[i]; c < '0' || c > '9' {
				n, err := strconv.ParseUint(part.text[from:i], 10, 16)
				if err != nil {
					return 0
				}
				d += time.Duration(n) * part.units[c]
				from = i + 1
			}
		}
	}
	return d
}

// parts returns the parts of a rule, such as FREQ=WEEKLY, by name.
func parts(value string) map[string]string {
	rule := map[string]string{}
	for part := range strings.SplitSeq(strings.ToUpper(value), ";") {
		name, value, _ := strings.Cut(part, "=")
		rule[name] = strings.TrimSpace(value)
	}
	return rule
}

// repetition says how often an event is repeated: "every Tuesday until 22 December 2026", "every month on the second Friday".
func (c *calendar) repetition(e event) string {
	unit := map[string]string{"HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}[e.rule["FREQ"]]
	if unit == "" {
		return ""
	}
	said := "every " + unit
	n, err := strconv.ParseUint(e.rule["INTERVAL"], 10, 16)
	if n > 1 && err == nil {
		said = fmt.Sprintf("every %d %ss", n, unit)
	}
	if month, err := strconv.Atoi(e.rule["BYMONTH"]); err == nil && month >= 1 && month <= 12 && unit == "year" {
		said += " in " + time.Month(month).String()
	}
	switch days := e.repeatedDays(unit); {
	case days == "":
	case unit == "week" && n < 2:
		said = "every " + days
	default:
		said += " on " + days
	}
	if until := c.moment(property{value: e.rule["UNTIL"]}); !until.time.IsZero() {
		said += " until " + until.time.Format("2 January 2006")
	}
	if n, err := strconv.ParseUint(e.rule["COUNT"], 10, 16); err == nil {
		said += fmt.Sprintf(", %d times", n)
	}
	return said
}

// repeatedDays names the days of a week, a month or a year on which an event is repeated. If the rule leaves them out, they are
// those of its first day.
func (e event) repeatedDays(unit string) string {
	var days []string
	for day := range strings.SplitSeq(e.rule["BYDAY"], ",") {
		at := max(0, len(day)-2)
		name, ordinal := dayNames[day[at:]], ordinals[strings.TrimPrefix(day[:at], "+")]
		if name != "" && (at == 0 || ordinal != "") && len(days) < maxDays {
			days = append(days, ordinal+name)
		}
	}
	weekdays := strings.Join(days, " ") == "Monday Tuesday Wednesday Thursday Friday"
	if position := e.rule["BYSETPOS"]; position != "" { // counts the days of a month
		ordinal := ordinals[position]
		switch {
		case ordinal != "" && weekdays:
			return ordinal + "weekday"
		case ordinal != "" && len(days) == 1 && e.rule["BYMONTHDAY"] == "":
			return ordinal + days[0]
		}
		return ""
	}
	for day := range strings.SplitSeq(e.rule["BYMONTHDAY"], ",") {
		if n, err := strconv.Atoi(day); err == nil && n > 0 && n <= 31 && len(days) < maxDays {
			days = append(days, "day "+strconv.Itoa(n))
		} else if n == -1 {
			days = append(days, "the last day")
		}
	}
	start, last := e.start.time, len(days)-1
	switch {
	case weekdays:
		return "Monday to Friday"
	case last > 0:
		return strings.Join(days[:last], ", ") + " and " + days[last]
	case last == 0:
		return days[0]
	case start.IsZero() || e.rule["BYDAY"] != "":
	case unit == "week":
		return start.Weekday().String()
	case unit == "month":
		return "day " + strconv.Itoa(start.Day())
	case unit == "year" && e.rule["BYMONTH"] == "":
		return start.Format("2 January")
	}
	return ""
}

var (
	dayNames = map[string]string{"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday", "SU": "Sunday"}
	ordinals = map[string]string{"1": "the first ", "2": "the second ", "3": "the third ", "4": "the fourth ", "5": "the fifth ", "-1": "the last ", "-2": "the last but one "}
)
