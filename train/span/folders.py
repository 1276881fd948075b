"""python3 -m train.span.folders OUT: writes the folders of documents of folders/*.txt as `lab answers --sets OUT/NAME` reads them: documents/ and
questions.jsonl. python3 -m train.span.folders OUT held: those of folders/held, which training leaves out. python3 -m train.span.folders OUT
asked DATA: those of asked/, whose documents are openly licensed prose of DATA/prose/train.

A file has the documents of one invented person, family, firm or club, each below a line "=== FILE NAME", and at its end lines "??? FILE NAME"
with questions about that document below them, one a line:

    When does the pool open on Sundays? = 9:30
    What does a swim cost for a child? = £2.10 | 2.10 @ Under 16
    may dogs come into the garden = yes @ Dogs are welcome
    When was the diving board repaired? =

Behind " = " stand the accepted answers, as the document spells them; behind " @ " some words of the sentence that says so, where the answer
stands in several sentences, and for yes and no. Nothing behind "=" means that no document of the folder answers. A line that is wrong (an
answer that is not in its document, or in several sentences) is refused.

In asked/ a document is a line "=== FILE NAME < SOURCE FROM:TO TITLE": the title, an empty line, and these lines of the text that has this
title in DATA/prose/train/SOURCE.txt.xz. So the questions are ours, and the texts stay where they are."""
import functools
import glob
import json
import lzma
import os
import re
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "folders")
ASKED = os.path.join(os.path.dirname(HERE), "asked")
SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-ZÀ-Þ0-9\"'(])")
LINE = re.compile(r"(.*?) =(?: (.*))?$")
OF_PROSE = re.compile(r"^=== (.*) < (\S+) (\d+):(\d+) (.*)$", re.M)


def parsed(text):
    """-> ({file name: text}, [(file name, line)])"""
    documents, questions, name, into = {}, [], "", None
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("=== ") or line.startswith("??? "):
            into, name = line[:3], line[4:]
            if into == "===":
                documents[name] = []
        elif into == "===":
            documents[name].append(line)
        elif line.strip():
            questions.append((name, line))
    return {k: "\n".join(v) + "\n" for k, v in documents.items()}, questions


@functools.lru_cache(None)
def prose(data, source):
    """{title: the lines} of a file of texts with a line "<|endoftext|>" between two."""
    with lzma.open(f"{data}/prose/train/{source}.txt.xz", "rt", encoding="utf-8") as f:
        texts = [t.strip("\n").split("\n") for t in f.read().split("<|endoftext|>")]
    return {t[0].strip(): t for t in texts}


def looked_up(text, data):
    """A file of asked/ with its documents."""
    def document(m):
        name, source, begin, end, title = m.groups()
        lines = prose(data, source).get(title)
        if lines is None:
            raise ValueError(f"{source} has no text {title}")
        return f"=== {name}\n{title}\n\n" + "\n".join(lines[int(begin):int(end)]).strip("\n")
    return OF_PROSE.sub(document, text)


def stands(answer, text):
    """Whether an answer stands in a text as whole words."""
    return re.search(r"(?<!\w)" + re.escape(answer) + r"(?!\w)", text, re.I) is not None


def sentences(document, fragment, answer):
    """The sentences that hold a fragment; without one, those that hold an answer."""
    lines = [line for line in document.split("\n") if line.strip()]
    found = [s for line in lines for s in SENTENCE.split(line) if s.strip() and (fragment in s if fragment else stands(answer, s))]
    return found or [line for line in lines if fragment and fragment in line][:1]


def question(documents, name, line):
    """A question as questions.jsonl has it. A line that is wrong is a ValueError."""
    m = LINE.match(line)
    if not m or name not in documents:
        raise ValueError("want QUESTION = ANSWER | ANOTHER @ WORDS OF THE SENTENCE, below the name of a document")
    text, rest = m[1].strip(), (m[2] or "").strip()
    if not rest:
        return dict(question=text, kind="unanswerable")
    answers, _, fragment = rest.partition(" @ ")
    answers = [a.strip() for a in answers.split(" | ") if a.strip()]
    choice = len(answers) == 1 and answers[0].lower() in ("yes", "no")
    if choice and not fragment:
        raise ValueError("yes and no need words of the sentence")
    found = sentences(documents[name], fragment.strip(), answers[0])
    if len(found) != 1:
        raise ValueError("stands %d times in %s" % (len(found), name))
    if not choice and not any(stands(a, found[0]) for a in answers):
        raise ValueError("no answer is in the sentence")
    return dict(question=text, kind="yesno" if choice else "fact", documents=[name], answers=answers, sentence=found[0].strip())


def unpacked(text):
    """-> ({file name: text}, questions)"""
    documents, lines = parsed(text)
    out, seen = [], set()
    for i, (name, line) in enumerate(lines, 1):
        try:
            q = question(documents, name, line)
            if q["question"].lower() in seen:
                raise ValueError("asked twice")
        except ValueError as e:
            raise ValueError("%s: %s" % (line, e))
        seen.add(q["question"].lower())
        out.append(dict(id=str(i), **q))
    return documents, out


def main(out, of=HERE, data=None):
    for path in sorted(glob.glob(of + "/*.txt")):
        with open(path, encoding="utf-8", newline="") as f:
            text = f.read()
        documents, questions = unpacked(looked_up(text, data) if data else text)
        folder = os.path.join(out, os.path.basename(path)[:-4])
        os.makedirs(folder + "/documents", exist_ok=True)
        for name, text in documents.items():
            with open(os.path.join(folder, "documents", name), "w", encoding="utf-8", newline="") as f:
                f.write(text)
        with open(folder + "/questions.jsonl", "w", encoding="utf-8") as f:
            f.writelines(json.dumps(q, ensure_ascii=False) + "\n" for q in questions)


if __name__ == "__main__":
    if len(sys.argv) == 2 or sys.argv[2:] == ["held"]:
        main(sys.argv[1], *[HERE + "/held"] * (len(sys.argv) == 3))
    elif sys.argv[2:3] == ["asked"] and len(sys.argv) == 4:
        main(sys.argv[1], ASKED, sys.argv[3])
    else:
        sys.exit("want: python3 -m train.span.folders OUT [held | asked DATA]")
