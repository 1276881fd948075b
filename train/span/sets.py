"""python3 -m train.span.sets DATA SET=FOLDER ...: question sets as their authors publish them, in the form that prepare.py reads.

Writes DATA/qa/train/NAME.jsonl.xz for each SET, from a folder with the repository's files:

    natural-questions        nq-train-*-qed.jsonlines and nq-dev-*-qed.jsonlines, or qed-*.jsonlines (google-research-datasets/QED)
    natural-questions-lists  data/MultiSpanQA_data/valid.json (haonan-li/MultiSpanQA) and clapnq_dev_unanswerable.jsonl (primeqa/clapnq)
    tat-qa                   tatqa_dataset_*.json (NExTplusplus/TAT-QA)
    wiki-tables              csv/*/*.csv and data/*.tsv (ppasupat/WikiTableQuestions)
    asked                    prose/train/*: the texts that asked/*.txt asks about (DATA itself)

A question that is in DATA/qa/train already is left out, and so is a passage that shares 13 words in a row with one to judge by: of
DATA/qa/judge or of --without FILE (SQuAD's form). Only weights come of it: the files stay where they are."""
import argparse
import csv
import glob
import json
import lzma
import os
import random
import re

from . import folders
from .prepare import passages, rows, runs
from .words import lower, words

BEGIN, END = "\1", "\2"
TIDY = ((r"``|''", '"'), (r" ([.,;:?!%)\]])", r"\1"), (r"([(\[$£€]) ", r"\1"), (r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1"), (r" -- ", " – "),
        (r"(\w) - (\w)", r"\1-\2"), (r'" ([^"]*?) "', r'"\1"'), (r"s ' ", "s' "), (r"  +", " "))
LONGEST_ANSWER = 20  # words


def marked(text, spans):
    """A text of parted tokens written as people write, with the answers at spans (characters): (text, [answer], (from, to) of the first)."""
    for a, b in sorted(spans, reverse=True):
        text = f"{text[:a]} {BEGIN} {text[a:b]} {END} {text[b:]}"
    for pattern, by in TIDY:
        text = re.sub(pattern, by, text)
    text = re.sub(rf" *{END} *(?=[.,;:?!%)\]]|'s)", END, re.sub(rf" *{END} +", END + " ", re.sub(rf" *{BEGIN} *", " " + BEGIN, text))).strip()
    answers = [a.strip() for a in re.findall(f"{BEGIN}([^{BEGIN}{END}]*){END}", text)]
    at = len(re.sub(f"[{BEGIN}{END}]", "", text[:text.find(BEGIN)]))
    plain = re.sub(f"[{BEGIN}{END}]", "", text)
    return plain, answers, (at, at + len(answers[0])) if answers and plain[at:at + len(answers[0])] == answers[0] else None


def item(title, passage, question, answers, support=None, doc=""):
    out = dict(title=title, passage=passage, question=question, answers=answers)
    if support:
        out["support"] = list(support)
    if doc:
        out["doc"] = doc
    return out if answers else dict(out, unanswerable=True)


def lines(*patterns):
    for f in sorted(f for p in patterns for f in glob.glob(p)):
        with open(f, encoding="utf-8") as opened:
            yield from map(json.loads, opened)


def natural_questions(folder):
    """Questions that people typed into a search box, with the paragraph that answers."""
    for x in lines(folder + "/nq-*-qed.jsonlines", folder + "/qed-*.jsonlines"):
        spans = x.get("answer_spans")
        if spans is None:
            first = (x.get("original_nq_answers") or [[]])[0]
            spans = [[s["start"], s["end"]] for s in (first if isinstance(first, list) else [first])]
        if len(spans) == 1:
            passage, answers, support = marked(x["paragraph_text"], [tuple(spans[0])])
            if answers and len(answers[0].split()) <= LONGEST_ANSWER:
                yield item(x["title_text"], passage, x["question_text"], answers, support)


def natural_lists(folder):
    """Of the same kind, with several answers, and without any."""
    for f in sorted(glob.glob(folder + "/**/valid.json", recursive=True)):
        for x in json.load(open(f, encoding="utf-8"))["data"]:
            text, spans = "", []
            for token, label in zip(x["context"], x["label"]):
                text += " " if text else ""
                if label == "B":
                    spans.append([len(text), len(text)])
                text += token
                if label != "O" and spans:
                    spans[-1][1] = len(text)
            passage, answers, _ = marked(text, [tuple(s) for s in spans])
            if answers:
                yield item("", passage, " ".join(x["question"]), answers)
    for x in lines(folder + "/**/clapnq_dev_unanswerable.jsonl"):
        passage = marked(x["passages"][0]["text"], [])[0]
        if passage:
            yield item(x["passages"][0]["title"], passage, x["input"], [])


def tat_qa(folder):
    """Reports of companies: answers in running text."""
    for f in sorted(glob.glob(folder + "/tatqa_dataset_*.json")):
        for page in json.load(open(f, encoding="utf-8")):
            for q in page["questions"]:
                answers = q.get("answer") if isinstance(q.get("answer"), list) else [q.get("answer")]
                if q.get("answer_type") != "span" or q.get("answer_from") != "text" or len(answers) != 1 or not answers[0]:
                    continue
                text = [p["text"] for p in page["paragraphs"] if answers[0] in p["text"] and str(p["order"]) in map(str, q.get("rel_paragraphs", [p["order"]]))]
                if len(text) == 1 and text[0].count(answers[0]) == 1 and len(text[0].split()) <= 260:
                    at = text[0].index(answers[0])
                    yield item("", text[0], q["question"], answers, (at, at + len(answers[0])), page["table"]["uid"])


# Words of questions that want more than a cell of the row that they name.
COMPUTED = set("""most least more fewer fewest less many total number average difference last first second third fourth next previous before after highest
lowest same only longest shortest largest smallest biggest latest earliest oldest youngest above below between top bottom other another also each both all
consecutive times combined sum older newer later greater than recent final initial best worst except besides either or not never""".split())
LOOKED_UP = ("what is the {h} of {k}?", "what was the {h} for {k}?", "{h} of {k}", "{k} {h}", "{h} for {k}?", "what {h} does {k} have?", "which {h} is listed for {k}?",
             "what is {k}'s {h}?", "tell me the {h} of {k}", "what {h} goes with {k}")
MOST_WORDS = 190  # of a table's window


def table(path):
    with open(path, encoding="utf-8", newline="") as f:
        out = [[re.sub(r"\s+", " ", c).strip() for c in r] for r in csv.reader(f, escapechar="\\")]
    return out[0], [r for r in out[1:] if len(r) == len(out[0])]


def written(head, body, row, column):
    """Some rows around a row under the table's head, in one of four ways, and where the cell is."""
    n = random.randrange(2, 9)
    low = max(0, min(row - random.randrange(n), len(body) - n))
    kind = random.choice(("bar", "bar", "markdown", "comma", "tab"))
    between, text, at = {"comma": ", ", "tab": "\t"}.get(kind, " | "), "", 0
    for z, cells in [(-1, head)] + list(enumerate(body))[low:low + n]:
        text += "| " if kind == "markdown" else ""
        for j, cell in enumerate(cells):
            at = len(text) if (z, j) == (row, column) else at
            text += cell + (between if j + 1 < len(cells) else "")
        text += " |" if kind == "markdown" else ""
        text += "\n" + ("|" + "---|" * len(head) + "\n" if z < 0 and kind == "markdown" else "")
    return text.rstrip("\n"), at


def cell(head, body, row, column, question, doc):
    answer = body[row][column]
    text, at = written(head, body, row, column)
    if 0 < len(words(answer)) <= 12 and len(words(text)) <= MOST_WORDS:
        return item("", text, question, [answer], (at, at + len(answer)), doc)


def named(head, body, asked, answer):
    """The cells with the answer in rows that the question names: by all words of another cell that no other row has."""
    for r, cells in enumerate(body):
        for k, c in enumerate(cells):
            if c.lower() != answer.lower():
                continue
            for j, other in enumerate(cells):
                own = [lower(w) for w in words(other) if w[0].isalnum()]
                if j != k and own and set(own) <= asked and sum(x[j] == other for x in body) == 1 and len("".join(own)) > 2:
                    yield r, k
                    break


def wiki_tables(folder):
    """Tables of Wikipedia: questions of people that one cell answers, and two cells of each table looked up."""
    seen = set()
    for f in sorted(glob.glob(folder + "/data/*.tsv")):
        for line in open(f, encoding="utf-8").read().split("\n")[1:]:
            c = line.split("\t")
            if len(c) < 4 or "|" in c[3] or (c[1], c[2]) in seen:
                continue
            seen.add((c[1], c[2]))
            asked = {lower(w) for w in words(c[1])}
            if asked & COMPUTED or c[1].lower().startswith("how many") or not os.path.exists(os.path.join(folder, c[2])):
                continue
            head, body = table(os.path.join(folder, c[2]))
            at = sorted(set(named(head, body, asked, c[3])))
            if len(at) == 1 and 2 <= len(head) <= 9:
                yield cell(head, body, *at[0], c[1], c[2])
    for f in sorted(glob.glob(folder + "/csv/*/*.csv")):
        head, body = table(f)
        keys = [j for j in range(len(head)) if head[j] and len({r[j] for r in body}) == len(body) and sum(bool(re.search("[A-Za-z]{3}", r[j])) for r in body) > .8 * len(body)]
        if len(body) < 3 or not 2 <= len(head) <= 8 or not keys:
            continue
        columns = [j for j in range(len(head)) if j != keys[0] and 1 <= len(words(head[j])) <= 5 and len({r[j] for r in body}) > 1]
        for k in random.sample(columns, min(2, len(columns))):
            row = random.randrange(len(body))
            key = random.choice((body[row][keys[0]], body[row][keys[0]].lower()))
            yield cell(head, body, row, k, random.choice(LOOKED_UP).format(h=head[k].lower(), k=key), f)


def asked(folder):
    """Our own questions about prose of FOLDER: each document is a passage below its title."""
    for path in sorted(glob.glob(folders.ASKED + "/*.txt")):
        with open(path, encoding="utf-8") as f:
            documents, questions = folders.parsed(folders.looked_up(f.read(), folder))
        for name, line in questions:
            x = folders.question(documents, name, line)
            title, passage = documents[name].rstrip("\n").split("\n\n", 1)
            at = passage.find(x.get("sentence", ""))
            if x["kind"] != "yesno" and at >= 0:
                answers = [a for a in x.get("answers", []) if a in passage]
                yield item(title, passage, x["question"], answers, (at, at + len(x["sentence"])) if answers else None, doc=title)


SETS = {"asked": asked, "natural-questions": natural_questions, "natural-questions-lists": natural_lists, "tat-qa": tat_qa, "wiki-tables": wiki_tables}


def fresh(items, known, apart):
    """The items whose question is not known, and whose passage is not among those to judge by."""
    for x in items:
        if x is None or x["question"].strip().lower() in known or any(a not in x["passage"] for a in x["answers"]):
            continue
        if apart.isdisjoint(runs([lower(w) for w in words(x["passage"])])):
            known.add(x["question"].strip().lower())
            yield x


if __name__ == "__main__":
    a = argparse.ArgumentParser(prog="python3 -m train.span.sets")
    a.add_argument("data")
    a.add_argument("sets", nargs="+", metavar="SET=FOLDER")
    a.add_argument("--without", action="append", default=[])
    o = a.parse_args()
    random.seed(5)
    out = {name: f"{o.data}/qa/train/{name}.jsonl.xz" for name in (s.split("=", 1)[0] for s in o.sets)}
    others = [f for f in glob.glob(o.data + "/qa/train/*") if f not in out.values()]
    known = {x["question"].strip().lower() for f in others for x in rows(f)}
    apart = {g for p in passages(o.data, o.without) for g in runs([lower(x) for x in words(p)])}
    for s in o.sets:
        name, folder = s.split("=", 1)
        n = 0
        with lzma.open(out[name], "wt") as f:
            for x in fresh(SETS[name](folder), known, apart):
                f.write(json.dumps(dict(x, source=name), ensure_ascii=False) + "\n")
                n += 1
        print(name, n)
