package documents

import (
	"strings"
	"testing"
)

const texSample = `\documentclass[a4paper]{article}
\usepackage{babel} % a remark
\title{The \emph{old} mill}
\author{Ada Lund}
\begin{document}
\maketitle
\begin{abstract}
It is about a mill.
\end{abstract}
\section{The wheel\label{sec:wheel}}
The \textbf{wheel} was built in 1784 by M\"uller~\& Sons, see Figure~\ref{fig:a}---it costs 50\,\% % secret
more\footnote{In \textit{May}.} if $a_1 * b < c_2$.

\begin{equation}\label{eq:a} E = mc^2 \end{equation}
It "turns" at
\href{https://mill.example}{the river}.
\subsection*{Parts}
\begin{itemize}
  \item one
    goes on
  \item[Oak] two
\end{itemize}
\begin{enumerate} \item a \item b \end{enumerate}
\begin{table}[ht]
\caption{Visitors}
\begin{tabular}{l|r|l}
\hline
Month & Visitors & Guide \\ \hline
May & 812 & Bo \\
June & 640 & Ada
\end{tabular}
\end{table}
\begin{verbatim}
  mill --start % go
\end{verbatim}
\end{document}
gone
`

const texShown = `title The old mill
l author: Ada Lund
p It is about a mill.
# The wheel
p The wheel was built in 1784 by Müller & Sons, see Figure —it costs 50 % more (In May.) if $a_1 * b < c_2$.
p E = mc^2 It "turns" at the river.
# Parts
l - one goes on
l Oak: two
l 1. a
l 2. b
p Visitors
h Month | Visitors | Guide
r May | 812 | Bo
r June | 640 | Ada
c mill --start % go`

const adocSample = `= The mill
Ada Lund <ada@mill.example>
v1.2, 2026-05-03
:river: the Alder
:toc:

// a remark
The *wheel* turns in {river}, see https://mill.example/boards[the offer] and <<_the_barn>>.
It is _old_. +
Very old.footnote:[From 1784.]

== The barn

.Boards
* one
goes on
** two
. first
. second

Size:: 40 by 200 mm
Price::
  900 euros

NOTE: Ask Bo.

[WARNING]
====
It is wet.
====

[source,sh]
----
mill --start
----

////
gone
////

.Visitors
[%header,cols="1,1,2"]
|===
|Month |Visitors |Guide

|May
|812
|Bo

|June |640
|Ada
Lund
|===

image::mill.png[A mill]
`

const adocShown = `title The mill
l Author: Ada Lund ada@mill.example
l Revision: v1.2, 2026-05-03
p The wheel turns in the Alder, see the offer and the barn. It is old.
p Very old. (From 1784.)
# The barn
# Boards
l - one goes on
l - two
l 1. first
l 2. second
l Size: 40 by 200 mm
l Price: 900 euros
l Note: Ask Bo.
l Warning: It is wet.
c mill --start
# Visitors
h Month | Visitors | Guide
r May | 812 | Bo
r June | 640 | Ada Lund
p A mill`

const webArchive = "From: <Saved by Blink>\nSnapshot-Content-Location: https://mill.example/\nSubject: =?utf-8?Q?The_m=C3=BCll?=\nDate: Sun, 3 May 2026 09:00:00 -0000\nMIME-Version: 1.0\nContent-Type: multipart/related;\n\ttype=\"text/html\";\n\tboundary=\"b\"\n\n" +
	"--b\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<h2>Wheel</h2><p>It costs=20=\n8 =E2=82=AC.\n\n--b\nContent-Type: text/css\n\nbody { color: red }\n--b\nContent-Type: text/html\n\nAn advertisement.\n--b--\n"

func TestMoreMarkup(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.tex", texSample, texShown},
		{"a.tex", "\\chapter{One}\nText {\\itshape all} of \\verb|a_b|, \\c{c}a \\'e.\n\n\\section{Two}\nMore\\\\here.", "title A\n# One\np Text all of a_b, ça é.\n# Two\np More here."},
		{"cv.tex", "%\\title{Old}\n\\title[Short]{The life of Ada}\n\\name{Ada}{Lund}\n\\phone[mobile]{555}\n\\begin{document}\n\\cvitem{2010--2012}{Oslo}{\\emph{Water}} % secret\n\nHome is \\~{}/mill.", "title The life of Ada\nl name: Ada Lund\nl phone: 555\np 2010–2012 Oslo Water\np Home is ~/mill."},
		{"a.tex", "\\begin{multicols}{2}\nText.\n\\end{multicols}\n\\begin{wrapfigure}[3]{r}{4cm}\n\\caption{Side}\\end{wrapfigure}\n\\begin{tabular*}{9cm}{ll}\nA & B \\\\\n1 & 2\n\\end{tabular*}", "title A\np Text.\np Side\nh A | B\nr 1 | 2"},
		{"a.tex", "\\begin{tabular}{lcc}\n & \\multicolumn{2}{c}{Fee} \\\\ \\cmidrule(lr){2-3}\nGuest & Weekday & Sunday \\\\\nChild & 4 & 5 \\\\\n\\multicolumn{2}{l}{Group} & 30\n\\end{tabular}", "title A\nh Guest | Fee Weekday | Fee Sunday\nr Child | 4 | 5\nr Group | | 30"},
		{"a.adoc", adocSample, adocShown},
		{"a.adoc", "== One\na\n\n|===\n|a |b |c\n|1 |2 |3\n|===\n", "title One\np a\nr a | b | c\nr 1 | 2 | 3"},
		{"a.adoc", "You need {url-ruby}[Ruby^], see {url-api}/mill/{version}[the *API*,window=_blank] of {url-mill}, or a{1}.\n", "title A\np You need Ruby, see the API of {url-mill}, or a{1}."},
		{"a.mhtml", webArchive, "title The müll\n# Wheel\np It costs 8 €."},
		{"a.mht", strings.ReplaceAll(webArchive, "\n", "\r\n"), "title The müll\n# Wheel\np It costs 8 €."},
		{"a.mht", "Content-Type: text/html; charset=iso-8859-1\n\n<title>Mill</title><p>Gr\xfc\xdfe.", "title Mill\np Grüße."},
	} {
		doc, err := Parse(t.Context(), c.name, []byte(c.text))
		if got := show(doc); got != c.want || err != nil {
			t.Errorf("%s %.20q:\n%s (%v)\nwant\n%s", c.name, c.text, got, err, c.want)
		}
	}
	for name, text := range map[string]string{"a.mht": "Subject: x\n\nText.\n", "a.mhtml": "Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/css\n\nx\n--b--\n", "a.tex": "\\begin{document}\\label{x}"} {
		if _, err := Parse(t.Context(), name, []byte(text)); err == nil || !strings.Contains(err.Error(), " in it (") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzTeX(f *testing.F) {
	for _, s := range []string{texSample, "\\begin{tabular}a&b\\\\\\begin{tabular}", "$$a$\\[b\\verb{c}\\\"{o}\\", "\\item[\\footnote{a}]%\n\n\\begin{enumerate}\\item"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.tex", data) })
}

func FuzzAsciiDoc(f *testing.F) {
	for _, s := range []string{adocSample, "|===\n|a\n\n2+|b\n", ",===\na,b\n", "[cols=\"9*,1\"]\n|===\n|a", ":a: {a}{a}\n{a}\na::\n... b\n+\n--"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.adoc", data) })
}

func FuzzWebArchive(f *testing.F) {
	f.Add([]byte(webArchive))
	f.Add([]byte("Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nPHA+YQ=="))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.mhtml", data) })
}
