package documents

import (
	"strings"
	"testing"
)

// What programs write besides the usual reads as people see it.
func TestUnusual(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", "Sat 21\nWe rowed to the mill.\n\nSun 22:\nRain all day.\n\nMon 23 9:30\nThe wheel turns.\n", "title A\n# Sat 21\np We rowed to the mill.\n# Sun 22\np Rain all day.\n# Mon 23 9:30\np The wheel turns."},
		{"a.txt", "Sa 21.\nWir ruderten zur Mühle.\n\nSo, 22. 3. 2026\nRegen.\n\nDim. 23 mars\nSoleil.\n\nMo 24.3.\nWind.\n", "title A\n# Sa 21.\np Wir ruderten zur Mühle.\n# So, 22. 3. 2026\np Regen.\n# Dim. 23 mars\np Soleil.\n# Mo 24.3.\np Wind."},
		{"a.txt", "The boat leaves on\n\nSat 21\nwith Ada.\n\nSun 22\nRain.\n", "title The boat leaves on\np Sat 21 with Ada.\np Sun 22\np Rain."},
		{"a.rtf", `{\rtf1 The wheel turns again\par since it was oiled by Bo\par 3 boards are new\par and the fee is 8 euros.\par}`, "title A\np The wheel turns again\np since it was oiled by Bo\np 3 boards are new\np and the fee is 8 euros."},
		{"a.html", "<dl><dt>Fee</dt><dd><p>8 euros</p><p>In cash.</p></dd><dd>4 for children</dd><dt>Open<dt>Shop<dd>9 to 5<dt>Empty</dl>", "title A\nl Fee: 8 euros\np In cash.\nl Fee: 4 for children\nl Open, Shop: 9 to 5\nl Empty:"},
		{"a.html", "<h2>Help</h2><details><summary>What is <b>the fee</b>?</summary><p>8 euros.</p></details>\n<details open><summary>When is it open?</summary>At nine.</details>", "title A\n# Help\n# What is the fee?\np 8 euros.\n# When is it open?\np At nine."},
		{"a.html", "<details><summary>More</summary><p>8 euros.</p></details><p>It is old.", "title A\np More\np 8 euros.\np It is old."},
		{"a.html", "<p>Seen.<p style='color:red; DISPLAY : none'>Unseen.<span style=\"visibility:hidden\">x</span><div style=display:none>y</div><dialog>Cookies?</dialog><dialog open>Hello.</dialog><p style='display:nonesuch'>Shown.", "title A\np Seen.\np Hello.\np Shown."},
		{"a.html", "<button role=tab>Size</button><div role=tabpanel style='display:none'><p>It weighs 1.3 kg.</div><div role=tabpanel aria-hidden=true hidden>5 years.</div><div hidden=until-found>Folded.</div><div role=tabpanel><p hidden>Unseen.</div>", "title A\np It weighs 1.3 kg.\np 5 years.\np Folded."},
		{"a.html", "<ul><li><input type=checkbox><label><span>300</span> <span>g</span> lentils</label></li><li><div></div>2 leeks</li><li><svg></svg><p>Salt.</p></li></ul><p>Fill <input> in.", "title A\nl - 300 g lentils\nl - 2 leeks\nl - Salt.\np Fill in."},
		{"a.html", "<div><span>Oven</span><span>190 °C</span><span>Servings</span><b>6</b><a>Reply</a></div><p><span>O</span><span>nce</span> a <b>W</b><i>heel</i>, <i>re</i><b>do</b>, <span>x</span><code>2</code>, <i>Fe</i><sub>2</sub>.<p><span>Bo</span> <span>Moderator</span><cite>Ada wrote:</cite><time>3 May</time>", "title A\np Oven 190 °C Servings 6 Reply\np Once a Wheel, redo, x2, Fe2.\nl Bo Moderator Ada wrote: 3 May"},
		{"a.html", "<figure><img src=x><figcaption>The old mill in 1912.</figcaption></figure>", "title A\np The old mill in 1912."},
		{"a.html", "<table><tr><th rowspan=2>Day<th colspan=2>Visitors<tr><th>Adults<th>Children<tr><td rowspan=2>Sat<td>12<td>3<tr><td colspan=2>closed</table>", "title A\nh Day | Visitors Adults | Visitors Children\nr Sat | 12 | 3\nr Sat | closed |"},
		{"a.csv", "sep=;\r\nName;Fee, in euros;Day\r\nAda;8,50;Mon\r\nBo;7,00;Tue\r\n", "title A\nh Name | Fee, in euros | Day\nr Ada | 8,50 | Mon\nr Bo | 7,00 | Tue"},
		{"a.csv", "\"sep=;\"\nName;Fee;Day\nAda;8,50;Mon\n", "title A\nh Name | Fee | Day\nr Ada | 8,50 | Mon"},
		{"a.csv", "sep=\t\nName\tFee\tDay\nAda\t8\tMon\n", "title A\nh Name | Fee | Day\nr Ada | 8 | Mon"},
		{"a.csv", "sep=\r\nName,Fee,Day\nAda,8,Mon\n", "title A\nl sep=\nh Name | Fee | Day\nr Ada | 8 | Mon"},
	} {
		doc, err := Parse(t.Context(), c.name, []byte(c.text))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s %q:\n%s (%v)\nwant\n%s", c.name, c.text, got, err, c.want)
		}
	}
}

const invitation = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:1\nSUMMARY:Mill meeting\nDTSTART;TZID=Europe/Berlin:20261203T160000\nDTEND;TZID=Europe/Berlin:20261203T170000\nLOCATION:The mill\nEND:VEVENT\nEND:VCALENDAR\n"

func TestMailParts(t *testing.T) {
	const head = "From: Ada <ada@mill.example>\nSubject: Meeting\n"
	const lines = "title Meeting, from Ada\nl Subject: Meeting\nl From: Ada <ada@mill.example>\n"
	const events = "# Mill meeting\nl Date: Thursday, 3 December 2026, 16:00 to 17:00\nl Place: The mill"
	for _, c := range []struct{ name, data, want string }{
		{"an invitation", "Content-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\nPlease come.\n--b\nContent-Type: text/calendar; charset=utf-8; method=REQUEST\n\n" + invitation +
			"--b--\n--m\nContent-Type: application/ics; name=invite.ics\nContent-Disposition: attachment; filename=invite.ics\n\n" + invitation + "--m--\n", "l Attachment: invite.ics\np Please come.\n" + events},
		{"only a calendar", "Content-Type: text/calendar\nContent-Transfer-Encoding: quoted-printable\n\n" + strings.ReplaceAll(invitation, "=", "=3D"), events},
		{"a forwarded mail", "Content-Type: multipart/mixed; boundary=m\n\n--m\n\nSee below.\n--m\nContent-Type: message/rfc822\nContent-Disposition: attachment; filename=\"old.eml\"\n\nFrom: Bo <bo@mill.example>\nSubject: Key\nContent-Type: multipart/mixed; boundary=i\n\n--i\n\nIt is in the shed.\n--i\nContent-Type: text/calendar\n\n" + invitation + "--i--\n--m--\n",
			"p See below.\n# Key, from Bo\nl Subject: Key\nl From: Bo <bo@mill.example>\np It is in the shed.\n" + events},
		{"a digest", "Content-Type: multipart/digest; boundary=d\n\n--d\n\nFrom: Bo <bo@mill.example>\nSubject: Key\n\nIt is in the shed.\n--d\nContent-Type: message/rfc822\n\nFrom: Cy <cy@mill.example>\nSubject: Oil\n\nWe have none.\n--d--\n",
			"# Key, from Bo\nl Subject: Key\nl From: Bo <bo@mill.example>\np It is in the shed.\n# Oil, from Cy\nl Subject: Oil\nl From: Cy <cy@mill.example>\np We have none."},
		{"a DOS charset", "Content-Type: text/plain; charset=cp850\nContent-Transfer-Encoding: quoted-printable\n\nGr=81=E1e aus M=81nchen.\n", "p Grüße aus München."},
		{"a charset with another name", "Content-Type: text/plain; charset=\"Latin-1;\"\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe.\n", "p Grüße."},
		{"damaged quoted-printable", "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nx = 5 and y=zz, gr=C3=BC=\n=C3=9Fe.  \nThe end=", "p x = 5 and y=zz, grüße.\np The end"},
	} {
		for _, ends := range []string{"\n", "\r\n"} {
			doc, err := Parse(t.Context(), "a.eml", []byte(strings.ReplaceAll(head+c.data, "\n", ends)))
			if got, want := show(doc), lines+c.want; got != want || err != nil {
				t.Errorf("%s: %s (%v)\nwant\n%s", c.name, got, err, want)
			}
		}
	}
}
