package extract

import (
	"strings"
	"testing"

	"tandem/aggregator"
	"tandem/retrieval/passages"
)

const (
	hulls   = "Boat | Length (m) | Fare (£) | Berths | Notes\nHeron 20 | 6.1 | 85 | 2 | leaks at the bow\nHeron 24 | 7.3 | 110 | 4 | new sails\nPlover | 5.2 | – | 2 | red hull"
	lamps   = "Lamp codes\n- 1: the tank is empty\n- 4: the pump is blocked\nD17: the cable is loose\nHours\n- 4: open late"
	fees    = "Offer | Adult (over 16) | Child/Pupil | Best month\nRow boat | 9 | 4 | May\nSail boat | 30 | | July"
	log     = "Date | Mileage km | Work\n12.4.2021 | 15 210 | oil, rope\n3.11.2022 | 22 480 | new sail, rope\n20.4.2023 | 43 900 | oil, new tiller\n2.5.2024 | 50 100 | oil as in 2023"
	error5  = "Error E4 – Fan stuck. Unplug it.\nError E5 – Door open. Shut it."
	stops   = "Run | Time | Mon | Tue\n1 | 6:10 | mill | pier\n2 | 7:25 | pier | farm"
	knobsOf = "Name | Kind | Default\nMax | int | 5\nMaxAge | int | 60\nNext | func | skips the pump"
	passes  = "Pass | Bottles a day | Price per month | Price per year\nSilver | 2 | 20 | 200\nGold | 5 | 30 | 300"
	legs    = "Day | From | To | Stay\n2 May | Kiel | Lund | Inn\n4 May | Lund | Oslo | Mill"
	tides   = "date | low water | leave slip | crew\nThu 26 June | 14:55 | 13:10 | all\nFri 27 June | 15:41 | 13:55 | Ada"
	trains  = "Leg | Train | Departs | Arrives | Price\nKiel – Lund | ICE 9554 | 6:51 | 15:05 | 31 €\nLund – Oslo | TGV 8716 | 9:33 | 13:14 | 40 €"
	hosts   = "host | role | ip | os | owner\nweb-eu-1 | web | 10.20.0.11 | Debian 12 | Lars\nweb-eu-2 | web | 10.20.0.12 | Debian 12 | Lars\nbuild-1 | build | 10.20.0.31 | Ubuntu 24.04 | Ines\nmon-1 | watch | 10.20.0.41 | Debian 11 | Bo"
	rooms   = "Route | Fare\nLund | 31\nOslo | 40\nRooms\nRoom | Beds\nElm | 12\nAlder | 30"
	samples = "sample_id | site | collector\nL-01 | Langvika | Ada\nK-32 | Kval | Bo"
	wages   = "name | role | hours_per_week | wage\nAda Lund | lead | 38 | 17.20\nBo Holm | waiter | 30 | 15.90"
	dishes  = "dish | gluten | milk | celery | notes\nPea soup | no | yes | yes | cream\nBread | yes | – | no | rye"
	ids     = "ID | Purpose\n1…999 | services\n65534 | nobody"
)

// A question that names a row and a column is answered by the cell where they meet, and one for a code by what stands
// after it. If it names two rows, another row's word or a word that is not there, the reader answers.
func TestTableCell(t *testing.T) {
	for _, c := range []struct{ title, text, question, want string }{
		{"Boats", hulls, "How much does the Heron 24 cost?", "110"},
		{"Boats", hulls, "fare plover", ""}, // a dash says nothing
		{"Boats", hulls, "What is the length of the Plover?", "5.2"},
		{"Boats", hulls, "How many berths does the Heron 20 have?", "2"},
		{"Boats", hulls, "Which boat has a red hull?", "Plover"},
		{"Boats", hulls, "Which boat has a green hull?", ""},
		{"Fees", "Date | For | Of\n2026-02-03 | Room 4 | rent\n2026-03-05 | Room 5 | oil", "Which room has oil?", ""},
		{"Boats", hulls, "What is the fare of the Heron?", ""},
		{"Boats", hulls, "What is the fare of the Heron 31?", ""},
		{"Boats", hulls, "What is the fare of the wooden blue Heron 24?", ""},
		{"Boats", hulls, "Is the fare of the Heron 24 high?", ""},
		{"Boats", hulls, "Who owns the Heron 24?", ""},
		{"Limiter", knobsOf, "What is the default of Max in the limiter of the pump?", "5"},
		{"Limiter", knobsOf, "What is the default of Max in the limiter?", "5"},
		{"Limiter", knobsOf, "What is the default of MaxAge in the cache?", ""},
		{"Users", ids, "What is ID 65534?", "nobody"},
		{"Users", ids, "What is house 65534?", ""},
		{"Trip", legs, "Where do we stay in Lund?", "Inn"},
		{"Trip", legs, "Which stay is from Lund?", ""},
		{"Gym", "Membership | Monthly | Joining fee\nFamily | £79 | £25", "How much is the family membership a month?", "£79"},
		{"Trip", "From | To | Train | Price\nKiel | Lund | IC 5 | 31\nLund | Oslo | IC 7 | 40", "How much does the train to Lund cost?", "31"},
		{"Trip", "From | To | Train | Price\nKiel | Lund | IC 5 | 31\nLund | Oslo | IC 7 | 40", "Which train is to Lund?", "IC 5"},
		{"Trip", trains, "How much is the train from Lund to Oslo?", "40 €"},
		{"Trip", trains, "What does the train to Lund cost?", "31 €"},
		{"Trip", trains, "How much is the train from Oslo to Lund?", ""}, // the way back
		{"Trip", trains, "When does the train arrive in Oslo?", "13:14"},
		{"Trip", trains, "When does the train leave Kiel?", "6:51"},
		{"Trip", trains, "Which train arrives at 15:05?", "ICE 9554"},
		{"Trip", "From | To | Price\nKiel | Lund | 31", "How much is it from Lund to Kiel?", ""},
		{"Shop", "Pump | Kind | Note\nA1 | small | blue", "How much is the small kind?", ""}, // no amount
		{"Servers", hosts, "Which server runs Ubuntu?", "build-1"},
		{"Servers", hosts, "Which server does Ines own?", "build-1"},
		{"Servers", hosts, "What is the IP of web-eu-3?", ""},
		{"Servers", hosts, "Who is Ines?", ""}, // not her server
		{"Inn", rooms, "Which room has 30 beds?", "Alder"},
		{"Samples", samples, "Who owns Langvika?", ""}, // not its sample
		{"Samples", samples, "Which sample is of Langvika?", "L-01"},
		{"Cups", "Team | Place | Captain\nU12 | Ulm | Ada\nU14 | Kiel | Bo", "Who is in Ulm?", "U12"},
		{"Thesis", "Chapter | Planned | Journal\nFish | January 2027 | ECSS\nCrabs | May 2027 | Reef", "Where is chapter Fish planned?", ""},
		{"Thesis", "Chapter | Planned | Journal\nFish | January 2027 | ECSS\nCrabs | May 2027 | Reef", "When is chapter Fish planned?", "January 2027"},
		{"Staff", wages, "hourly wage Ada Lund", "17.20"},
		{"Staff", wages, "What is the wage of Bo Holm per hour?", "15.90"},
		{"Staff", wages, "How many hours per week does Bo Holm work?", "30"},
		{"Staff", wages, "hourly wage Ada Holm", ""},
		{"Allergens", dishes, "celery pea soup", "yes"},
		{"Allergens", dishes, "How many celery are in the pea soup?", ""},
		{"Allergens", dishes, "What about milk in the bread?", ""},
		{"Inn", rooms, "What is the fare to Oslo?", "40"},
		{"Inn", rooms, "Which printer is in the lab?", ""},
		{"Printers", "name | place\nprn-lab | lab\nprn-hall | hall", "Which printer is in the lab?", "prn-lab"},
		{"Club", "Role | Holder\nTreasurer | Ada Lund\nKeeper | Bo Holm", "Who is Ada Lund?", "Treasurer"},
		{"Club", "Name | Role\nAda Lund | treasurer\nBo Holm | keeper", "Who is Ada Lund?", "treasurer"},
		{"Club", "Name | Role\nAda Lund | Treasurer\nBo Holm | Keeper", "Who is Treasurer?", "Ada Lund"},
		{"Bus", stops, "When does run 2 start?", "7:25"},
		{"Tides", tides, "low water friday 27 june what time", "15:41"},
		{"Tides", tides, "low water friday 13 june what time", ""}, // the 13 of 13:55 is no day
		{"Bus", stops, "Where does run 1 go on Tue?", "pier"},
		{"Pump", lamps, "What does D17 mean?", "the cable is loose"},
		{"Pump", lamps, "What does lamp code 1 of the pump mean?", "the tank is empty"},
		{"Pump", lamps, "What does gate 1 mean?", ""},
		{"Bus", "Run | Time\n1 | 6:10\nPrices\nFare | Price\nchild | 2 €", "What time is the child?", ""},
		{"Fees", fees, "What does a row boat cost for a pupil?", "4"},
		{"Fees", fees, "What is the price of a sail boat for adults?", "30"},
		{"Fees", fees, "What does a sail boat cost for a child?", ""},
		{"Passes", passes, "How many bottles may I bring on the silver pass?", "2"},
		{"Passes", passes, "What is the price per year of the gold pass?", "300"},
		{"Passes", passes, "What is the price of the gold pass?", ""},
		{"Log", log, "What was the mileage at the oil change in 2023?", ""}, // "change" and "oil" of another row
		{"Log", log, "mileage oil 2023", "43 900"},
		{"Log", log, "When did the work on the tiller happen?", ""},
		{"Log", log, "When was the tiller new?", "20.4.2023"},
		{"Log", log, "When was the rope new?", "3.11.2022"},
		{"Inn", " | May | June\nMonday | 9–12 | 9–17\nSunday | – | 10–12", "What is Monday in June?", "9–17"},
		{"Inn", "| May | June\nMonday | 9–12 | 9–17\nSunday | – | 10–12", "What is Monday in June?", "9–17"},
		{"Heater", error5, "What do I do when the heater shows E5?", "Door open. Shut it."},
		{"Heater", error5, "What does E4 mean?", "Fan stuck. Unplug it."},
		{"Heater", error5, "What do I do when the heater shows E6?", ""},
		{"Codes", "Code | Fault | Remedy\nK2 | no water | open the tap\nK3 | no power | plug it in", "What does K3 on the display mean?", "no power"},
		{"Codes", "Code | Fault | Do this\nK2 | no water | open the tap\nK3 | no power | plug it in", "What to do on K3?", "plug it in"},
		{"Diary", "The washer stopped with E18. That's the drain. Found a coin.", "What does E18 on the washer mean?", "the drain"},
		{"Diary", "The washer stopped with E18. That's odd.", "What do I do on E18?", ""},
		{"Diary", "It showed E18. That's the drain. Again E18. It's the coin.", "What does E18 mean?", ""},
		{"Diary", "It showed E18. That's the drain. Again E18. It's the third time.", "What does E18 mean?", "the drain"},
		{"Diary", "It showed E18. That's drain.", "What does E18 mean?", "drain"},
		{"Diary", "It showed E18. It's Sunday.", "What does E18 mean?", ""},
		{"Diary", "It showed E18. It's been so since May.", "What does E18 mean?", ""},
		{"Diary", "It showed E18. That's twenty minutes gone.", "What does E18 mean?", ""},
		{"Diary", "It showed E18. That means lime.", "What does E18 mean?", "lime"},
		{"Codes", "Code | Fault | Remedy\nK2 | no water | open the tap\nK3 | no power | plug it in", "What is wrong when it shows K3?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		from, to, ok := p.meaningOfCode(queryOf(c.question))
		if !ok {
			from, to, ok = p.tableCell(queryOf(c.question))
		}
		got := ""
		if ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// A question for several things, or for one that several rows have, is answered by the cells of all those rows.
func TestCellsOfRows(t *testing.T) {
	for _, c := range []struct{ title, text, question, want string }{
		{"Servers", hosts, "Which servers does Lars own?", "web-eu-1, web-eu-2"},
		{"Servers", hosts, "Which servers run Debian 12?", "web-eu-1, web-eu-2"},
		{"Servers", hosts, "Which servers run Debian 11?", "mon-1"}, // not that of 10.20.0.11
		{"Servers", hosts, "Which servers does Lars not own?", ""},
		{"Servers", hosts, "Which pumps does Lars own?", ""},
		{"Servers", hosts, "Which server does Lars own?", "web-eu-1, web-eu-2"},
		{"Servers", hosts, "Which server does Ines own?", ""}, // tableCell finds one
		{"Boats", hulls, "Which boats have 2 berths?", "Heron 20, Plover"},
		{"Boats", hulls + "\nGull | 6 | 90 | 2 | red hull", "Which red boats have 2 berths?", "Plover, Gull"},
		{"Sales", "date | lot\n3 May | red hat\n5 May | blue hat", "On what date was the hat sold?", ""},
		{"Calls", "Method | Does\nGET | returns a lamp\nPUT | sets a lamp", "Which call drops a lamp?", ""},
		{"Trip", legs, "Which stay is from Lund?", ""},
		{"Inn", rooms + "\nAsh | 30", "Which rooms have 30 beds?", "Alder, Ash"},
		{"Staff", "Name | Office\nAda Lund | mill\nBo Holm | mill", "Who works in the mill?", "Ada Lund, Bo Holm"},
		{"Mills", "Mill | Owner\nWest mill | Ada Lund\nEast mill | Ada Lund", "Who is Ada Lund?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		var got []string
		for _, cell := range p.cellsOfRows(queryOf(c.question)) {
			got = append(got, p.slice(cell))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// The cells of all rows are the answer, unless another passage has more of them.
func TestCellsAnswer(t *testing.T) {
	head, rest := hosts[:strings.Index(hosts, "\nweb-eu-2")], "host | role | ip | os | owner"+hosts[strings.Index(hosts, "\nweb-eu-2"):]
	for want, texts := range map[string][]string{"web-eu-1, web-eu-2": {hosts}, Unknown: {head, rest}} {
		var ps []passages.Passage
		for _, text := range texts {
			ps = append(ps, passages.Passage{Source: "servers.csv", Title: "Servers", Text: text})
		}
		if got := answer(t, aggregator.Rule{Greedy: true}, open(t, config(0), "Which servers does Lars own?", ps)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A question for yes or no about one cell is answered by it and the name of its row, not by the whole row.
func TestCellSaysYesOrNo(t *testing.T) {
	for question, want := range map[string]string{
		"Is there celery in the pea soup?":                "dish: Pea soup; celery: yes",
		"Does the pea soup contain gluten?":               "dish: Pea soup; gluten: no",
		"Is there cream in the pea soup?":                 "", // no column
		"Is the pea soup with celery good for Ada?":       "", // more than the cell says
		"Is there celery and milk in the pea soup?":       "", // two columns
		"Is there celery in the soup of the day of Lund?": "",
	} {
		p := config(0).passage(passages.Passage{Title: "Allergens", Text: dishes})
		at := strings.Index(p.text, "Pea soup")
		row := p.text[at:p.lineEnd(at)]
		texts := p.withCell(queryOf(question), []answerText{{text: row, quote: p.quote(at, at+len(row)), at: at}})
		if got := texts[0].text; got != want && !(want == "" && got == row) {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}

// What was looked up is the answer even where the reader prefers another cell.
func TestCellAnswers(t *testing.T) {
	d := open(t, config(0), "How much does the Heron 24 cost?", []passages.Passage{{Title: "Boats", Text: hulls}, {Title: "Inn", Text: "The Heron inn has 24 rooms, and a room costs 60 €."}})
	if got := answer(t, aggregator.Rule{Greedy: true}, d); got != "110" {
		t.Errorf("%q, want 110", got)
	}
}

// An empty cell leaves open what is asked for.
func TestLeavesOpen(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Fees", Text: fees})
	for question, want := range map[string]bool{
		"What does a sail boat cost for a child?": true, "What does a row boat cost for a child?": false, "What does a blue sail boat cost for a child?": false,
	} {
		if f := p.find(queryOf(question)); f.leavesOpen != want || f.leavesOpen && len(f.ranges) > 0 {
			t.Errorf("%s: %v, %v", question, f.leavesOpen, f.ranges)
		}
	}
	// A follow-up with the question before it asks for more than one cell.
	const joined = "What does a sail boat cost for a child? How much is it?"
	choices, err := config(0).Choices(t.Context(), joined, []passages.Passage{{Title: "Fees", Text: fees}})
	if err != nil {
		t.Fatal(err)
	}
	if f := p.find(queryOf(joined)); !f.leavesOpen || choices[0].None >= leftOpen {
		t.Errorf("%s: P(no answer) %v; %v, %v", joined, choices[0].None, f.leavesOpen, f.ranges)
	}
}

// A row without names of columns ends with what its thing costs.
func TestSumOnReceipt(t *testing.T) {
	const bill = "Pos 3 | Labour, 9.5 h | 294.50\nPos 4 | Firebricks, 24 pcs | 141.60\nPos 5 | Old firebricks, taken away | 10.00\nPos 6 | Seal | by post"
	for _, c := range []struct{ text, question, want string }{
		{bill, "What did the labour cost altogether?", "294.50"},
		{bill, "What did the labour for the seal cost?", ""},
		{bill, "What did the firebricks cost?", ""}, // two rows
		{bill, "What did the seal cost?", ""},
		{bill, "Who did the labour?", ""},
		{"Work | Hours | Paid\nLabour | 9 | 294.50\nSeal | 1 | 9.50", "What did the labour cost?", ""}, // it names its columns
	} {
		p := config(0).passage(passages.Passage{Title: "Invoice", Text: c.text})
		got := ""
		if from, to, ok := p.sumOnReceipt(queryOf(c.question)); ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}
