package documents

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/blocks/blockstest"
)

const mailHead = `Received: by x
From: =?utf-8?q?Zeynep_Ayd=C4=B1n?= <zeynep@posta.example>
To: "Nora Hallam" <nora@hallam.example>,
 =?iso-8859-1?Q?J=FCrgen?= <j@hallam.example>
Date: Sun, 14 Apr 2024 21:07:33 +0300
Subject: =?utf-8?b?RmVyaWVuIMO8YmVy?=
 =?utf-8?q?all?=
MIME-Version: 1.0
`

const mailLines = `title Ferien überall, from Zeynep Aydın
l Subject: Ferien überall
l From: Zeynep Aydın <zeynep@posta.example>
l To: "Nora Hallam" <nora@hallam.example>, Jürgen <j@hallam.example>
l Date: Sun, 14 Apr 2024 21:07:33 +0300
`

func TestMail(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"plain", "\nHello Nora,\n\nthe wifi is \"Balkon35\".\n\n-- \nZeynep\nTel. 0561 555\n", "p Hello Nora,\np the wifi is \"Balkon35\".\nl Zeynep\nl Tel. 0561 555"},
		{"quoted-printable", "Content-Type: text/plain; charset=iso-8859-9\nContent-Transfer-Encoding: quoted-printable\n\nAyd=FDn pays 5 =80 =\nnow. x=3Dy\n", "p Aydın pays 5 € now. x=y"},
		{"base64", "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte("Grüße aus İzmir.")) + "\n", "p Grüße aus İzmir."},
		{"no charset", "Content-Type: text/plain\n\nGr\xfc\xdfe.\n", "p Grüße."},
		{"html", "Content-Type: text/html; charset=utf-8\n\n<p>See <b>Müller</b>.</p><script>x</script>\n", "p See Müller."},
		{"greeting without a comma", "\nMorning Aroha\n\nThe bus leaves at 6.15.\n\nTrailer\n\nThe big one is free.\n", "p Morning Aroha\np The bus leaves at 6.15.\n# Trailer\np The big one is free."},
		{"greeting of all", "\nMorning all\n\nThe bus leaves at 6.15.\n", "p Morning all\np The bus leaves at 6.15."},
		{"heading like a greeting", "\nEvening programme\n\nDinner is at 6.15.\n", "# Evening programme\np Dinner is at 6.15."},
		{"heading with a hyphen", "\nHi-fi for sale\n\nIt is as good as new.\n", "# Hi-fi for sale\np It is as good as new."},
		{"flowed", "Content-Type: text/plain; format=flowed\n\nThis goes \non here.\n> quoted \n> too\n", "p This goes on here.\np > quoted too"},
		{"quotes", "\nYes.\nAda\n\nOn 13 Apr 2024 at 10:00, Nora Hallam\n<nora@x> wrote:\n> May I?\n>> Am 26.04.2024 schrieb Ada:\n>> Invoice 31.\n>> Paid.\n", "p Yes.\np Ada\n# On 13 Apr 2024 at 10:00, Nora Hallam <nora@x> wrote\np May I?\n# Am 26.04.2024 schrieb Ada\np Invoice 31.\np Paid."},
		{"between quotes", "\nOn 13 Apr Nora wrote:\n> When?\nAt nine.\n> Where?\nAt home.\n", "p On 13 Apr Nora wrote:\np > When?\np At nine.\np > Where?\np At home."},
		{"answer below", "\nSure.\n\n-----Original Message-----\nFrom: Ben\nSent: Monday\n\nCan you come?\n", "p Sure.\n# Original Message\nl From: Ben\nl Sent: Monday\np Can you come?"},
		{"signature before quotes", "\nYes.\n\n--\nAda\n\nAm 11.03.2026 schrieb Ben:\n> When?\n\n-----Original Message-----\nFrom: Ada\nSent: Monday\n\nMay I come?\n", "p Yes.\nl Ada\n# Am 11.03.2026 schrieb Ben\np When?\n# Original Message\nl From: Ada\nl Sent: Monday\np May I come?"},
		{"html quotes", "Content-Type: text/html\n\n<p>Yes.</p><div>On 2 Feb 2026 Rosa wrote:<blockquote><p>May I come?</p></blockquote></div>\n", "p Yes.\n# On 2 Feb 2026 Rosa wrote\np May I come?"},
		{"html between quotes", "Content-Type: text/html\n\n<div>On 2 Feb 2026 Rosa wrote:<blockquote><p>May I come?</p></blockquote></div><p>Yes.</p>\n", "p On 2 Feb 2026 Rosa wrote:\np > May I come?\np Yes."},
		{"html answers", "Content-Type: text/html\n\n<blockquote type=cite><div>On 2 Feb 2026 Rosa wrote:</div><div>When?<table><tr><th>Day<th>Room<tr><td>Monday<td>4</table></div></blockquote>At nine.<br><BlockQuote>Where?<blockquote>Here.</blockquote></BLOCKQUOTE><div>At home.</div>\n", "p > On 2 Feb 2026 Rosa wrote:\np > When?\nh > Day | Room\nr > Monday | 4\np At nine.\np > Where?\np > Here.\np At home."},
		{"html answered within", "Content-Type: text/html\n\n<p>Fine.</p><div>On 13 Apr Nora wrote:<blockquote>On 12 Apr Ada wrote:<blockquote>May I?</blockquote>At nine.</blockquote></div>\n", "p Fine.\n# On 13 Apr Nora wrote\n# On 12 Apr Ada wrote\np May I?\n# On 13 Apr Nora wrote\np At nine."},
		{"html set in", "Content-Type: text/html\n\n<p>Yes.</p><blockquote style=\"margin:0 0 0 40px; border: none\">At nine.</blockquote><blockquote style=\"border:none;border-left:solid 1pt\">When?</blockquote>Bye.\n", "p Yes.\np At nine.\np > When?\np Bye."},
		{"answered within", "\nFine.\n\nOn 13 Apr Nora wrote:\n> On 12 Apr Ada wrote:\n>> May I?\n> At nine.\n", "p Fine.\n# On 13 Apr Nora wrote\n# On 12 Apr Ada wrote\np May I?\n# On 13 Apr Nora wrote\np At nine."},
		{"deeper without a heading", "\nFine.\n\nOn 13 Apr Nora wrote:\n> Yes.\n>> May I?\n", "p Fine.\n# On 13 Apr Nora wrote\np Yes.\np > May I?"},
		{"signature below a quotation", "\nYes.\n\nOn 13 Apr Nora wrote:\n> When?\n\n-- \nAda\nTel. 0561 555\n", "p Yes.\nl Ada\nl Tel. 0561 555\n# On 13 Apr Nora wrote\np When?"},
		{"html signature below a quotation", "Content-Type: text/html\n\n<p>Yes.</p>On 13 Apr Nora wrote:<blockquote>When?</blockquote><div>-- <br>Ada</div>\n", "p Yes.\np Ada\n# On 13 Apr Nora wrote\np When?"},
		{"signature of a whole mail", "\nYes.\n\n-----Original Message-----\nFrom: Ben\nSent: Monday\n\nWhen?\n-- \nBen\n", "p Yes.\n# Original Message\nl From: Ben\nl Sent: Monday\np When?\nl Ben"},
		{"quoted signature", "\n> When?\n> -- \n> Nora\n> Tel. 0555 1\nAt nine.\n", "p > When?\nl > Nora\nl > Tel. 0555 1\np At nine."},
		{"signed", "\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nHi there.\n-----BEGIN PGP SIGNATURE-----\niQEz\n-----END PGP SIGNATURE-----\n", "p Hash: SHA256\np Hi there."},
		{"alternative", "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>rich\n--b\nContent-Type: text/plain\n\nplain\n--b--\n", "p plain"},
		{"plain before rich", "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\nplain\n--b\nContent-Type: text/html\n\n<p>rich\n--b--\n", "p plain"},
		{"placeholder", "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\nSee the HTML part.\n--b\nContent-Type: multipart/related; boundary=r\n\n--r\nContent-Type: text/html\n\n<p>Your parcel waits in the locker at the harbour until Friday, 15 May. The code that opens it is 40912.\n--r--\n--b\nContent-Type: text/x-amp-html\n\n<html amp4email><body>" + strings.Repeat("a b ", 99) + "\n--b--\n", "p Your parcel waits in the locker at the harbour until Friday, 15 May. The code that opens it is 40912."},
		{"empty alternative", "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n \n--b\nContent-Type: text/html\n\n<p>rich\n--b--\n", "p rich"},
		{"attachments", "Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\nContent-Type: text/plain\n\nSee the bill.\n--b\nContent-Type: application/pdf; name=\"bill.pdf\"\nContent-Disposition: attachment; filename*=utf-8''Rechnung%20f%C3%BCr%20Nora.pdf\nContent-Transfer-Encoding: base64\n\nJVBERi0=\n--b\nContent-Type: image/png; name=logo.png\nContent-Id: <x>\n\nPNG\n--b\nContent-Type: message/rfc822\n\nSubject: Inner\nFrom: Ben <b@x>\n\nOld text.\n--b--\n",
			"l Attachment: Rechnung für Nora.pdf\np See the bill.\n# Inner, from Ben\nl Subject: Inner\nl From: Ben <b@x>\np Old text."},
		{"read attachments", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nSee the plan.\n" +
			"--b\nContent-Type: text/plain; name=plan.txt\nContent-Disposition: attachment\n\nThe walk begins at 9.\n" +
			"--b\nContent-Type: application/octet-stream; name=again.txt\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte("The walk begins at 9.")) + "\n" +
			"--b\nContent-Type: text/csv; name=fees.csv\n\nwho,fee\nguests,7 €\n" +
			"--b\nContent-Type: text/markdown; name=a.md\nContent-Disposition: attachment\n\n# Rules\n\nNo dogs.\n\n## Keys\n\nAt the gate.\n" +
			"--b\nContent-Type: application/zip; name=broken.docx\n\nPK\n" +
			"--b\nContent-Type: text/plain; name=old.txt\nContent-Disposition: attachment\n\nFrom a@x Mon Jan  1 00:00:00 2024\nSubject: x\n\nOld.\n--b--\n",
			"l Attachment: plan.txt\nl Attachment: again.txt\nl Attachment: fees.csv\nl Attachment: a.md\nl Attachment: broken.docx\nl Attachment: old.txt\np See the plan.\n" +
				"# plan.txt\np The walk begins at 9.\n# fees.csv\nh who | fee\nr guests | 7 €\n# a.md\n# Rules\np No dogs.\n# Keys\np At the gate."},
		{"cut off", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nStill here", "p Still here"},
	} {
		data := strings.ReplaceAll(mailHead+c.data, "\n", "\r\n")
		doc, err := Parse(t.Context(), "a.eml", []byte(data))
		want := mailLines + c.want
		if got := show(doc); got != want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", c.name, got, err, want)
		}
	}
}

func TestMailErrors(t *testing.T) {
	blockstest.Large(t)
	deep := "Content-Type: multipart/mixed; boundary=b0\n\n"
	for i := range mailDepth + 2 {
		deep += fmt.Sprintf("--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n", i, i+1)
	}
	for _, c := range []struct{ data, want string }{
		{"", "not a mail"},
		{"Just a text.\nTwo lines.\n", "not a mail"},
		{mailHead + "Content-Type: application/pkcs7-mime; name=smime.p7m\n\nMIIB\n", "encrypted mail"},
		{mailHead + deep, "within each other"},
		{mailHead + "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", mailParts+1), "parts"},
		{mailHead + "\n" + strings.Repeat("text and more. ", blocks.MaxText/15+1), "16 MB of text"},
	} {
		if doc, err := Parse(t.Context(), "a.eml", []byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) || len(doc.Blocks) > 0 {
			t.Errorf("%.40q: %v, want %q", c.data, err, c.want)
		}
	}
	if _, err := Parse(t.Context(), "a.mbox", []byte("Subject: x\n")); err == nil || !strings.Contains(err.Error(), "not a mailbox") {
		t.Error(err)
	}
}

func TestMailbox(t *testing.T) {
	data := "From ada@x Mon May  6 10:00:00 2024\nSubject: One\nFrom: Ada\nbroken header line\nDate: Monday\n\nFirst.\nFrom here on it rains.\nNote: all day\n\n>From the mill.\n\nFrom ben@x Tue May  7 10:00:00 2024\nFrom: Ben\n\nSecond.\n"
	want := "title Inbox\n# One, from Ada\nl Subject: One\nl From: Ada\nl Date: Monday\np First.\np From here on it rains.\np Note: all day\np From the mill.\n# Mail from Ben\nl From: Ben\np Second."
	for _, name := range []string{"inbox.mbox", "Inbox"} {
		doc, err := Parse(t.Context(), name, []byte(data))
		if got := show(doc); got != want || err != nil {
			t.Errorf("%s: %s (%v)\nwant\n%s", name, got, err, want)
		}
	}
	one, _, _ := strings.Cut(data, "\nFrom ben")
	if doc, err := Parse(t.Context(), "a.mbox", []byte(one)); doc.Title != "One, from Ada" || err != nil {
		t.Errorf("title %q of a single message (%v)", doc.Title, err)
	}
}

// What a message quotes of another of its thread is left out, with the line that introduces it. Other quotations stay,
// and say that they are some.
func TestQuotationsInMailbox(t *testing.T) {
	const first = "From a@x Mon May  6 10:00:00 2024\nMessage-ID: <1@x>\nSubject: Dentist\nFrom: Lars\n\nEmil sees the dentist\non Thursday 16 April at 15:20. Can you take him?\n\nLars\n\n"
	const head = "From b@x Tue May  7 10:00:00 2024\nSubject: Re: Dentist\nFrom: Mina\n\n"
	const want = "title Box\n# Dentist, from Lars\nl Subject: Dentist\nl From: Lars\np Emil sees the dentist on Thursday 16 April at 15:20. Can you take him?\np Lars\n# Re: Dentist, from Mina\nl Subject: Re: Dentist\nl From: Mina\n"
	for _, c := range []struct{ name, text, want string }{
		{"above", "It is on Tuesday now.\n\n> Emil sees the dentist on Thursday 16\n> April at 15:20.\n\nMina\n", "p It is on Tuesday now.\np Mina"},
		{"introduced", "Moved.\n\nOn 6 May 2024 Lars wrote:\n> Emil sees the dentist on Thursday 16 April at 15:20.\n\nMina\n", "p Moved.\np Mina"},
		{"at the end", "Moved.\n\nOn 6 May 2024 Lars\n<a@x> wrote:\n> Emil sees the dentist on Thursday 16 April at 15:20. Can you take him?\n>\n> Lars\n", "p Moved."},
		{"whole", "Moved.\n\n-----Original Message-----\nFrom: Lars\nSent: Monday\n\nEmil sees the dentist on Thursday 16 April at 15:20. Can you take him?\n", "p Moved."},
		{"below its head", "Moved.\n\nFrom: Lars\nSent: Monday\nSubject: Dentist\n\nEmil sees the dentist on Thursday 16 April at 15:20. Can you take him?\n\nLars\n", "p Moved."},
		{"of elsewhere", "Moved.\n\nOn 6 May 2024 Lars wrote:\n> The roof leaks.\n", "p Moved.\n# On 6 May 2024 Lars wrote\np The roof leaks."},
		{"in part", "Moved.\n\nOn 6 May 2024 Lars wrote:\n> The roof leaks.\n>\n> Emil sees the dentist on Thursday 16 April at 15:20.\n", "p Moved.\n# On 6 May 2024 Lars wrote\np The roof leaks."},
		{"between", "> The roof leaks.\nI know.\n", "p > The roof leaks.\np I know."},
		{"half a word", "Moved.\n> Emil sees the dentist on Thursday 1\n", "p Moved.\np > Emil sees the dentist on Thursday 1"},
	} {
		doc, err := Parse(t.Context(), "box.mbox", []byte(first+head+c.text))
		if got := show(doc); got != want+c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", c.name, got, err, want+c.want)
		}
	}
	other := strings.Replace(head, "Re: Dentist", "Re: Roof", 1)
	doc, err := Parse(t.Context(), "box.mbox", []byte(first+other+"Moved.\n> Emil sees the dentist on\n"))
	if !strings.HasSuffix(show(doc), "p Moved.\np > Emil sees the dentist on") || err != nil {
		t.Errorf("another thread: %s (%v)", show(doc), err)
	}
	doc, err = Parse(t.Context(), "box.mbox", []byte(first+strings.Replace(other, "From: Mina", "In-Reply-To: <1@x>\nFrom: Mina", 1)+"Moved.\n> Emil sees the dentist on\n"))
	if !strings.HasSuffix(show(doc), "p Moved.") || err != nil {
		t.Errorf("another subject: %s (%v)", show(doc), err)
	}
	doc, err = Parse(t.Context(), "box.mbox", []byte(strings.Replace(first, "Emil", "It is in room 12a. It is in room 12 now. Emil", 1)+head+"Moved.\n> It is in room 12\n"))
	if !strings.HasSuffix(show(doc), "p Moved.") || err != nil {
		t.Errorf("said of another room first: %s (%v)", show(doc), err)
	}
	rich := strings.Replace(head, "From: Mina", "Content-Type: text/html\nFrom: Mina", 1) + "<p>Moved.</p><div>On 6 May 2024 Lars wrote:<blockquote>Emil sees the dentist on Thursday 16 April at 15:20.</blockquote></div>\n"
	doc, err = Parse(t.Context(), "box.mbox", []byte(first+rich))
	if !strings.HasSuffix(show(doc), "p Moved.") || err != nil {
		t.Errorf("in HTML: %s (%v)", show(doc), err)
	}
}

// Headings in a message stand below that of the message, and those in a quotation below the line that says whose it is.
func TestHeadingsInMail(t *testing.T) {
	const mail = "Subject: Mill\nFrom: Bo\n"
	for _, c := range []struct{ body, want string }{
		{"Content-Type: text/html\n\n<h1>News</h1><p>a</p><h2>Prices</h2><p>b</p>On 6 May 2024 Lars wrote:<blockquote><h1>Boats</h1><p>c</p></blockquote>\n", "2 News; 3 Prices; 2 On 6 May 2024 Lars wrote; 3 Boats"},
		{"\n# Prices\n\nA sack costs 9.\n\nOn 6 May 2024 Lars wrote:\n> # Boats\n>\n> Two.\n", "2 Prices; 2 On 6 May 2024 Lars wrote; 3 Boats"},
		{"\nHi.\n\nFrom: Lars\nSent: Monday\nSubject: Boats\n\n# Prices\n\nTwo.\n", "2 Lars wrote; 3 Prices"},
		{"Content-Type: message/rfc822\n\nSubject: Farm\nFrom: Di\n\n# Eggs\n\nA dozen costs 3.\n", "2 Farm, from Di; 3 Eggs"},
	} {
		doc, err := Parse(t.Context(), "a.eml", []byte(mail+c.body))
		var got []string
		for _, b := range doc.Blocks {
			if b.Kind == Heading {
				got = append(got, fmt.Sprint(b.Level, " ", b.Text))
			}
		}
		if got := strings.Join(got, "; "); got != c.want || err != nil {
			t.Errorf("%s: %s (%v), want %s", c.body, got, err, c.want)
		}
	}
}

// A mailbox has no sender, though its first message begins as a letter does.
func TestMailboxTitle(t *testing.T) {
	const one = "From a@x Mon May  6 10:00:00 2024\nSubject: Dentist\nFrom: Lars\n\nDear Mina,\n\nEmil is ill.\n\n"
	doc, err := Parse(t.Context(), "mails.mbox", []byte(one+one))
	if doc.Title != "Mails" || err != nil {
		t.Errorf("title %q (%v)", doc.Title, err)
	}
}

// A message that cannot be read leaves its heading. The others stay.
func TestMailboxWithDamage(t *testing.T) {
	const line = "From ada@x Mon May  6 10:00:00 2024\n"
	damaged := line + "Subject: Two\nContent-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", mailParts+1) + "\n"
	doc, err := Parse(t.Context(), "a.mbox", []byte(line+"Subject: One\n\nFirst.\n\n"+damaged+line+"Subject: Three\n\nThird.\n"))
	if want := "# One\nl Subject: One\np First.\n# Two\nl Subject: Two\n# Three\nl Subject: Three\np Third."; !strings.HasSuffix(show(doc), want) || err != nil {
		t.Errorf("%s (%v), want %s", show(doc), err, want)
	}
	if doc, err := Parse(t.Context(), "a.mbox", []byte(damaged+damaged)); err == nil || len(doc.Blocks) > 0 {
		t.Errorf("%s (%v) of a mailbox without a readable message", show(doc), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parseMailbox(ctx, []byte(line+"Subject: One\n\nFirst.\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What stands below the lines that mail programs put above a mail that is answered is its writer's. Other lines that look
// like some of these are not taken for them.
func TestQuotedHead(t *testing.T) {
	const html = "Content-Type: text/html\n\n<p>Yes.</p>"
	for _, c := range []struct{ name, body, want string }{
		{"Outlook", "\nYes.\n\n________________________________\nFrom: Bo Ek <bo@x.example>\nSent: Monday\nTo: Ada\nSubject: Key\n\nMay I come?\n", "p Yes.\n# Bo Ek wrote\nl From: Bo Ek <bo@x.example>\nl Sent: Monday\nl To: Ada\nl Subject: Key\np May I come?"},
		{"with a title", "\nYes.\n\n-----Original Message-----\nFrom: Bo\nSent: Monday\nSubject: Key\n\nMay I?\n> When?\nAt nine.\n", "p Yes.\n# Bo wrote\nl From: Bo\nl Sent: Monday\nl Subject: Key\np May I?\np > When?\np At nine."},
		{"two", "\nFrom: Bo\nSent: Monday\nSubject: Key\n\nFrom: Ida [mailto:ida@x.example]\nSent: Sunday\nTo: Bo\n\nMay I?\n", "# Bo wrote\nl From: Bo\nl Sent: Monday\nl Subject: Key\n# Ida wrote\nl From: Ida [mailto:ida@x.example]\nl Sent: Sunday\nl To: Bo\np May I?"},
		{"German", "\nJa.\n\nVon: Ek, Bo <bo@x.example>\nGesendet: Montag\nAn: Ada <a@x.example>;\n Ida\nBetreff: Tor\n\nDarf ich?\n", "p Ja.\n# Ek, Bo schrieb\nl Von: Ek, Bo <bo@x.example>\nl Gesendet: Montag\nl An: Ada <a@x.example>;\np Ida\np Betreff: Tor\np Darf ich?"},
		{"French", "\nOui.\n\nDe : Bo\nEnvoyé : lundi\nÀ : Ada\nObjet : Clé\n\nJe peux venir ?\n", "p Oui.\n# Bo a écrit\nl De : Bo\nl Envoyé : lundi\nl À : Ada\nl Objet : Clé\np Je peux venir ?"},
		{"Spanish", "\nSí.\n\nDe: Bo\nEnviado el: lunes\nPara: Ada\nAsunto: Llave\n\nVoy.\n", "p Sí.\n# Bo escribió\nl De: Bo\nl Enviado el: lunes\nl Para: Ada\nl Asunto: Llave\np Voy."},
		{"bold", "\nYes.\n\n*From:* Bo\n*Sent:* Monday\n*Subject:* Key\n\nMay I?\n", "p Yes.\n# Bo wrote\np *From:* Bo *Sent:* Monday *Subject:* Key\np May I?"},
		{"quoted", "\nSee:\n\n> From: Bo\n> Subject: Key\n> Date: Monday\n>\n> May I?\n", "# See\n# Bo wrote\nl From: Bo\nl Subject: Key\nl Date: Monday\np May I?"},
		{"quoted above an answer", "\n> From: Bo\n> Subject: Key\n> Date: Monday\n>\n> May I?\n\nYes.\n", "p Bo wrote:\nl > From: Bo\nl > Subject: Key\nl > Date: Monday\np > May I?\np Yes."},
		{"HTML", html + "<hr><p><b>From:</b> Bo Ek &lt;bo@x.example&gt;<br><b>Sent:</b> Monday<br><b>To:</b> Ada<br><b>Subject:</b> Key</p><p>May I come?</p>\n", "p Yes.\n# Bo Ek wrote\nl From: Bo Ek <bo@x.example>\nl Sent: Monday\nl To: Ada\nl Subject: Key\np May I come?"},
		{"HTML paragraphs", html + "<p>From: Bo</p><p>Sent: Monday</p><p>To: Ada</p><p>Subject: Key</p><p>May I?</p>\n", "p Yes.\n# Bo wrote\nl From: Bo\nl Sent: Monday\nl To: Ada\nl Subject: Key\np May I?"},
		{"HTML, many receivers", html + "<p>From: Bo<br>Sent: Monday<br>To: Ada; Ida; Per; Ole; Mina; Lars; Tom; Ann; Kim; Eva; Jo; Al; Ed; Liv; Ove; Sif; Tor; Una; Rut; Pia<br>Subject: Key</p><p>May I?</p>\n", "p Yes.\n# Bo wrote\nl From: Bo\nl Sent: Monday\np To: Ada; Ida; Per; Ole; Mina; Lars; Tom; Ann; Kim; Eva; Jo; Al; Ed; Liv; Ove; Sif; Tor; Una; Rut; Pia Subject: Key\np May I?"},
		{"a walk", "\nWe walk on Friday.\n\nFrom: the harbour\nTo: the mill\nDate: 3 May\n\nBring boots.\n", "p We walk on Friday.\nl From: the harbour\nl To: the mill\nl Date: 3 May\np Bring boots."},
		{"two lines", "\nNo.\n\nFrom: the harbour\nSubject: boats\n\nBring boots.\n", "p No.\nl From: the harbour\nl Subject: boats\np Bring boots."},
	} {
		doc, err := Parse(t.Context(), "a.eml", []byte(mailHead+c.body))
		if got := show(doc); got != mailLines+c.want || err != nil {
			t.Errorf("%s:\n%s (%v)\nwant\n%s", c.name, got, err, mailLines+c.want)
		}
	}
}

// A mail that is forwarded in HTML stands below a heading, as one in plain text does.
func TestForwardedHTML(t *testing.T) {
	mail := "From: Shop <shop@x.example>\nSubject: Your order\nContent-Type: text/html; charset=iso-8859-15\nContent-Transfer-Encoding: quoted-printable\n\n" +
		"<p>See below, 30 =A4.</p><div>---------- Forwarded message ---------<br>From: Bo &lt;bo@x.example&gt;<br>Date: Mon, 6 Apr 2026<br>Subject: Pump<br></div><p>Please order it.</p>\n"
	want := "title Your order, from Shop\nl Subject: Your order\nl From: Shop <shop@x.example>\np See below, 30 €.\n# Bo wrote\nl From: Bo <bo@x.example>\nl Date: Mon, 6 Apr 2026\nl Subject: Pump\np Please order it."
	doc, err := Parse(t.Context(), "a.eml", []byte(mail))
	if got := show(doc); got != want || err != nil {
		t.Errorf("%s (%v)\nwant\n%s", got, err, want)
	}
}

func FuzzMail(f *testing.F) {
	for _, s := range []string{"\nHi.\n> a\n-- \nb", "Content-Type: text/html\n\n<p>x", "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nx\n--b--", "Content-Transfer-Encoding: base64\n\nSGk=", "Content-Type: text/plain; format=flowed; delsp=yes\n\na \nb", "Content-Type: message/rfc822\n\nSubject: x\n\ny"} {
		f.Add([]byte(mailHead + s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.eml", data) })
}

func FuzzMailbox(f *testing.F) {
	f.Add([]byte("From a Mon May 6 10:00:00 2024\nSubject: x\n\ny\n\nFrom b\nTo: c\n\n>From d\n"))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.mbox", data) })
}

func TestSender(t *testing.T) {
	for from, want := range map[string]string{
		`"Kim, Ada" <ada@hallam.example>`: "Reply, from Kim, Ada", "ada@hallam.example": "Reply, from ada@hallam.example",
		"Ada Kim <broken": "Reply, from Ada Kim", "": "Reply",
	} {
		doc, err := Parse(t.Context(), "a.eml", []byte("Subject: Reply\nFrom: "+from+"\n\nYes.\n"))
		if err != nil || doc.Title != want {
			t.Errorf("title %q of a mail from %q, want %q (%v)", doc.Title, from, want, err)
		}
	}
}

// A search of a short message takes time, too: quotations in a mailbox of many short replies do not make as many searches as they
// like.
func TestThreadIsSearchedWithinBounds(t *testing.T) {
	said := newThread()
	for range maxThread {
		said.add(mailText{keys: []string{"x"}})
	}
	for range 1 << 18 {
		said.says("not said", -1, []string{"x"})
	}
	if said.left >= 0 {
		t.Errorf("%d more bytes would be searched", said.left)
	}
}

// What a mailbox repeats is bounded before it is left out.
func TestMailboxOfQuotations(t *testing.T) {
	if testing.Short() {
		t.Skip("short runs are those with the race detector, which allocates more")
	}
	one := "From a@x Mon May  6 10:00:00 2024\nSubject: x\n\n" + strings.Repeat("> a\n>\n", 1<<17) + "\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Parse(t.Context(), "a.mbox", []byte(strings.Repeat(one, 40)))
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "divide it into several files") {
		t.Error(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16*40*uint64(len(one)) {
		t.Errorf("%d MB for %d", took>>20, 40*len(one)>>20)
	}
}
