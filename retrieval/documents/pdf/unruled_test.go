package pdf

import (
	"fmt"
	"strings"
	"testing"
)

// Tables without lines are read by where their cells stand, in whatever order programs draw them.
func TestUnruledTables(t *testing.T) {
	var prose, newspaper []string
	for i, l := range []string{"The ferry to the island is out", "of service until Easter, since", "its engine has to be replaced", "in the yard at Stade. The mail", "boat takes up to six persons", "in the meantime, at no charge."} {
		prose = append(prose, fmt.Sprintf("72 %d 10 %s", 700-12*i, l), fmt.Sprintf("320 %d 10 %s", 700-12*i, strings.Replace(l, "the", "a", 1)))
		newspaper = append(newspaper, fmt.Sprintf("72 %d 10 %s", 700-12*i, l))
	}
	for i := range 6 {
		newspaper = append(newspaper, prose[2*i+1])
	}
	for name, c := range map[string]struct{ pieces, want string }{
		"cell after cell": {`72 700 10 **Tour
200 700 10 **Guide
300 700 10 **Meeting point
72 680 10 Bats of the
72 668 10 castle park
200 680 10 Onno Fries
300 680 10 at the lower gate, with
300 668 10 a torch
72 648 10 Herbs
200 648 10 Rike Thoms
200 636 10 and a helper
300 648 10 herb garden`, "h Tour | Guide | Meeting point\nr Bats of the castle park | Onno Fries | at the lower gate, with a torch\nr Herbs | Rike Thoms and a helper | herb garden"},
		"in the middle of the row": {`72 700 10 Tour
200 700 10 Guide
300 700 10 Price
72 680 10 Bats of the
72 668 10 castle park
200 674 10 Onno Fries
300 674 10 6.50
72 648 10 Herbs
200 654 10 Rike Thoms
200 642 10 and a helper
300 648 10 4.00`, "h Tour | Guide | Price\nr Bats of the castle park | Onno Fries | 6.50\nr Herbs | Rike Thoms and a helper | 4.00"},
		"at the foot of the row": {`72 690 10 Notice
200 714 10 The time that has to pass between
200 702 10 the notice and the payment of all
200 690 10 that is left.
72 640 10 Bonus
200 664 10 What is paid at the end of a year
200 652 10 on the instalments of this year, but
200 640 10 not before the third.`, "l Notice: The time that has to pass between the notice and the payment of all that is left.\nl Bonus: What is paid at the end of a year on the instalments of this year, but not before the third."},
		"line after line": {`72 720 10 Tour
200 720 10 Guide
300 720 10 Meeting point
72 700 10 Bats of the
200 700 10 Onno Fries
300 700 10 at the lower gate, with
72 688 10 castle park
300 688 10 a torch
72 668 10 Herbs
200 668 10 Rike Thoms
300 668 10 herb garden
200 656 10 and a helper
72 636 10 Old trees
200 636 10 Onno Fries
300 636 10 avenue`, "h Tour | Guide | Meeting point\nr Bats of the castle park | Onno Fries | at the lower gate, with a torch\nr Herbs | Rike Thoms and a helper | herb garden\nr Old trees | Onno Fries | avenue"},
		"line after line, as close": {`72 700 10 Bats
200 700 10 Onno Fries, who knows
72 688 10 Herbs
200 688 10 Rike Thoms and one of
200 676 10 Her pupils from Emden
72 664 10 Old trees
200 664 10 Onno`, "l Bats: Onno Fries, who knows\nl Herbs: Rike Thoms and one of Her pupils from Emden\nl Old trees: Onno"},
		"groups": {`72 700 10 Monday
200 700 10 9:00
300 700 10 yoga for beginners
200 688 10 10:30
300 688 10 pilates
72 676 10 Tuesday
200 676 10 9:00
300 676 10 gymnastics`, "r Monday | 9:00 | yoga for beginners\nr | 10:30 | pilates\nr Tuesday | 9:00 | gymnastics"},
		"first lines first": {`72 700 10 Central library
300 700 10 128400
72 688 10 at the wall
200 700 10 Henrike
200 688 10 Oltmanns
72 668 10 Vegesack
300 668 10 31250
200 668 10 Piet Janssen
72 656 10 Lesum
300 656 10 8400
200 656 10 Ada`, "r Central library at the wall | Henrike Oltmanns | 128400\nr Vegesack | Piet Janssen | 31250\nr Lesum | Ada | 8400"},
		"a wide cell and a narrow head": {`120 700 10 **Group
250 700 10 **Fee
72 685 10 Adults
250 685 10 160 euros
72 670 10 Supporting members and others
250 670 10 50 euros`, "h Group | Fee\nr Adults | 160 euros\nr Supporting members and others | 50 euros"},
		"sums": {`72 700 10 **Description
250 700 10 **Quantity
320 700 10 **Amount
72 685 10 Hedge trimming
250 685 10 6 h
320 685 10 288.00
72 670 10 Journey
250 670 10 2
320 670 10 30.00
250 650 10 VAT 19 %
320 650 10 60.42
250 635 10 Total
320 635 10 378.42`, "h Description | Quantity | Amount\nr Hedge trimming | 6 h | 288.00\nr Journey | 2 | 30.00\nr VAT 19 % | | 60.42\nr Total | | 378.42"},
		"below a heading with a number": {`72 700 11 7
110 700 11 ERROR CODES
72 670 11 E1
110 670 11 tank full
72 655 11 E2
110 655 11 filter blocked
72 625 11 8
110 625 11 SERVICE`, "l 7 ERROR CODES\nl E1: tank full\nl E2: filter blocked\np 8 SERVICE"},
		"columns of text":             {strings.Join(prose, "\n"), "p The ferry to the island is out of service until Easter, since its engine has to be replaced in the yard at Stade. The mail boat takes up to six persons in the meantime, at no charge.\np The ferry to a island is out of service until Easter, since its engine has to be replaced in a yard at Stade. The mail boat takes up to six persons in a meantime, at no charge."},
		"columns of text, one by one": {strings.Join(newspaper, "\n"), "p The ferry to the island is out of service until Easter, since its engine has to be replaced in the yard at Stade. The mail boat takes up to six persons in the meantime, at no charge.\np The ferry to a island is out of service until Easter, since its engine has to be replaced in a yard at Stade. The mail boat takes up to six persons in a meantime, at no charge."},
		"a list with tabs": {`72 700 10 1.
110 700 10 Keep the landing free, as the
110 688 10 floor is to be sanded.
72 676 10 2.
110 676 10 Remove the bicycles.
72 664 10 Painters
200 664 10 Montag
72 652 10 Caretaker
200 652 10 Mr Dobler`, "l 1. Keep the landing free, as the floor is to be sanded.\nl 2. Remove the bicycles.\nl Painters: Montag\nl Caretaker: Mr Dobler"},
		"an address beside a date": {`72 700 10 Agnieszka Nowicka
72 688 10 Uferstr. 61
72 676 10 93049 Regensburg
350 700 10 Regensburg, 12 March 2026
350 688 10 Our reference: P61/4
72 630 10 Dear Ms Nowicka,
72 606 10 the work begins on 13 April and will take about three weeks, in which there is no lift at all.`,
			"p Agnieszka Nowicka\np Uferstr. 61\np 93049 Regensburg\np Regensburg, 12 March 2026\nl Our reference: P61/4\np Dear Ms Nowicka,\np the work begins on 13 April and will take about three weeks, in which there is no lift at all."},
		"names and values without columns": {`72 700 10 Wednesday
142 700 10 13:00 - 19:00
72 688 10 Friday
118 688 10 9:40 - 15:00
72 676 10 Thursdays
142 676 10 closed`, "l Wednesday: 13:00 - 19:00\nl Friday: 9:40 - 15:00\nl Thursdays: closed"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(drawText(c.pieces)))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
}

// Cells may stand as close as words if the file has spaces between words and none between cells.
func TestCloseCells(t *testing.T) {
	page := drawText(`72 700 10 Order number of the customer
212 700 10 88-20417 B of May
72 685 10 Weight of all the parcels
212 685 10 412 kg
72 670 10 Name of the driver who came
212 670 10 Ada Hövelmann`)
	page = strings.ReplaceAll(page, "ö", "\\366")
	doc, err := Parse(t.Context(), layoutPDF(page))
	if got, want := show(doc), "l Order number of the customer: 88-20417 B of May\nl Weight of all the parcels: 412 kg\nl Name of the driver who came: Ada Hövelmann"; got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

// The names in forms stand above their values or before them.
func TestForms(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"above": {drawText(`72 700 6 Species
72 689 10 Rabbit
200 700 6 Born in
200 689 10 April 2024
72 670 6 Owner
72 659 10 Janne Petersen,
72 647 10 Eutin
200 670 6 Valid until
200 659 10 3 March 2027`), "l Species: Rabbit\nl Born in: April 2024\nl Owner: Janne Petersen, Eutin\nl Valid until: 3 March 2027"},
		"above, line after line": {drawText(`72 700 6 Species
200 700 6 Born in
72 689 10 Rabbit
200 689 10 April 2024
72 670 6 Owner
200 670 6 Valid until
72 659 10 Janne Petersen
200 659 10 3 March 2027`), "l Species: Rabbit\nl Born in: April 2024\nl Owner: Janne Petersen\nl Valid until: 3 March 2027"},
		"above in bold": {drawText(`72 700 10 **Flight
72 688 10 WF 517
200 700 10 **Gate
200 688 10 B 22
72 660 10 **Seat
72 648 10 11C
200 660 10 **Closes
200 648 10 14:25`), "l Flight: WF 517\nl Gate: B 22\nl Seat: 11C\nl Closes: 14:25"},
		"in boxes": {drawGrid([]float64{70, 190, 310}, []float64{712, 684, 656}) + drawText(`72 703 6 Species
72 690 10 Rabbit
192 703 6 Born in
192 690 10 April 2024
72 675 6 Owner
72 662 10 Janne
192 675 6 Valid until
192 662 10 3 March 2027`), "l Species: Rabbit\nl Born in: April 2024\nl Owner: Janne\nl Valid until: 3 March 2027"},
		"column after column": {drawText(`72 700 6 First name
72 689 10 Oumar
72 670 6 Family name
72 659 10 Diallo
200 700 6 Course
200 689 10 Beekeeping
72 600 10 Thank you for your registration.`), "l First name: Oumar\nl Family name: Diallo\nl Course: Beekeeping\np Thank you for your registration."},
		"before": {drawText(`72 700 10 Meter: 4410
200 700 10 Tariff: Fix 12
72 685 10 Used: 2,727 kWh
200 685 10 Due: 118.36 euros`), "l Meter: 4410\nl Tariff: Fix 12\nl Used: 2,727 kWh\nl Due: 118.36 euros"},
		"beside": {drawText(`72 700 10 Renter:
150 700 10 Elif
250 700 10 Vehicle:
320 700 10 Caddy
72 685 10 Return:
150 685 10 10 June
250 685 10 Deposit:
320 685 10 350 euros`), "l Renter: Elif\nl Vehicle: Caddy\nl Return: 10 June\nl Deposit: 350 euros"},
		"a menu is none": {drawText(`72 700 10 Beetroot soup
72 689 7 with rye croutons
300 700 10 6.80
72 665 10 Smoked eel
72 654 7 on scrambled egg
300 665 10 13.50`), "l Beetroot soup with rye croutons: 6.80\nl Smoked eel on scrambled egg: 13.50"},
	} {
		doc, err := Parse(t.Context(), layoutPDF(c.page))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", name, got, err, c.want)
		}
	}
}
