"""Words of a text, their parts, stems and places: lines, sentences, headings, keys, table cells. SPEC.md specifies all of it."""
import math
import re
import unicodedata
import zlib

import numpy as np

RULES = 2  # the version of what this file does to a text; the exported file names it
NETWORK = 3  # the version of what the network computes
BUCKETS, PARTS = 10000, 6
BASE, MATCH = 32, 32  # features of a word by itself and against the other text
MAX_PASSAGE, MAX_QUESTION = 420, 40

STOP = """a an the of to in on at by for with from as is are was were be been being am do does did done has have had having it its this
that these those there he she they we you i him her them his hers their our your my me us and or but not no nor so if then than too very
can could will would shall should may might must what who whom whose which when where why how s t d ll re ve about into over after before
between during through up down out off under again also just only own same such""".split()
SUFFIXES = """ations ation ingly ments ition ities ness ment ings ions ally ence ance ible able ies ing ion ity ers ors ous ive est ied es
ed er or ly al s e y n""".split()
IRREGULAR = [x.split(":") for x in """found:find founded:found won:win wrote:write written:write began:begin begun:begin made:make
took:take taken:take gave:give given:give went:go gone:go came:come became:become led:lead held:hold built:build born:birth died:death
dead:death sold:sell bought:buy left:leave lost:lose kept:keep said:say told:tell known:know knew:know grew:grow grown:grow ran:run
sang:sing sung:sing spoke:speak spoken:speak spent:spend sent:send taught:teach thought:think brought:bring caught:catch chose:choose
chosen:choose fallen:fall fell:fall felt:feel fought:fight got:get met:meet paid:pay saw:see seen:see shown:show stood:stand
understood:understand wore:wear worn:wear children:child men:man women:woman people:person feet:foot countries:country cities:city
largest:large biggest:big oldest:old highest:high ate:eat drove:drive flew:fly drew:draw drawn:draw meant:mean cost:price named:name
called:name""".split()]
ABBREVIATIONS = """mr mrs ms dr st no vs etc inc ltd jr sr co prof gen col lt capt rev fig eg ie al u s e g i tel ext approx min max str nr
bzw ca art dept est mt ft ave jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun""".split()
SHORT = 4  # the longest word in letters that a full stop before a number abbreviates
_stop, _irregular, _abbreviations = set(STOP), dict(IRREGULAR), set(ABBREVIATIONS)

SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana and ideographs: a word each


def _ranges(wanted):
    out, begin = [], None
    for c in range(0x110001):
        inside = c < 0x110000 and wanted(chr(c))
        if inside and begin is None:
            begin = c
        elif not inside and begin is not None:
            out.append(re.escape(chr(begin)) + ("-" + re.escape(chr(c - 1)) if c - 1 > begin else ""))
            begin = None
    return "".join(out)


_alone = re.compile("[" + ALONE + "]")
_letters = _ranges(lambda c: unicodedata.category(c)[0] in "LM" and not _alone.match(c))
# Numbers keep points and colons between digits, a comma before three digits, and a last comma before one or two (a decimal comma).
WORD = re.compile("[" + _letters + "]+|"
                  r"(?<!\d,)\d+(?:[.:]\d+|,\d{3}(?!\d))*(?:,\d{1,2}(?![.,:]?\d))?|\d+(?:[.:]\d+)*|"
                  "[^" + SPACE + "]")
FOLD = {}
for _c in map(chr, range(0xc0, 0x180)):
    _d = unicodedata.normalize("NFD", _c)
    if len(_d) > 1 and _d[0].isascii():
        FOLD[_c] = _d[0]
FOLD.update({"ß": "s", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "ı": "i"})
_fold = str.maketrans(FOLD)


def lower(word):
    """Rune by rune, each to one rune."""
    return word.lower() if word.isascii() else "".join(c.lower()[0] for c in word)


def words(text):
    return [m.group() for m in WORD.finditer(text)]


def parts(word):
    """The hash buckets of a lower-case word's prefixes and suffixes, or of a number's shape."""
    if word[0].isdecimal():
        s = re.sub(r"\d", "0", word)
        f = ["#s" + s, "#n%d" % len(word), "#a" + word[:1], "#b" + word[:2], "#c" + word[-2:],
             "#d" + (word[:2] if len(word) == 4 else s[:3])]
    else:
        f = ["<" + word[:3], "<" + word[:4], "<" + word[:5], word[-2:] + ">", word[-3:] + ">", word[-4:] + ">"]
    return [zlib.crc32(x.encode()) % BUCKETS for x in f]


def _stem(word):
    word = word.translate(_fold)
    word = _irregular.get(word, word)
    if word.isalpha():
        for _ in range(2):
            for s in SUFFIXES:
                if word.endswith(s) and len(word) - len(s) >= 3:
                    word = word[:-len(s)]
                    break
        if len(word) > 3 and word[-1] == word[-2]:
            word = word[:-1]
    return word


_kinds = {}  # word -> (lower, stem, number of the stem, flags)
_stems = {}
_memo = {}


def stem(word):
    s = _memo.get(word)
    if s is None:
        s = _memo[word] = _stem(word)
    return s


def kind(word):
    """What a word is by itself: lower case, stem, the stem's number in this process, flags."""
    k = _kinds.get(word)
    if k is None:
        low = lower(word)
        st = stem(low)
        letter = unicodedata.category(word[0])[0] in "LM"
        number = word[0].isdecimal()
        flags = (letter and word[0] != low[0], letter and len(word) > 1 and word.upper() == word != low, number,
                 not letter and not number, low in _stop, len(word) == 4 and word.isdecimal())
        k = _kinds[word] = (low, st, _stems.setdefault(st, len(_stems)), flags)
    return k


class Vocabulary:
    """words: the known ones, most frequent first; idf: a number from 0 to 1 for each; relations: relations.py's table."""

    def __init__(self, known, idf, relations=()):
        self.words, self.idfs, self.relations = known, np.asarray(idf, np.float32), dict(relations)
        self.id = {w: i + 1 for i, w in enumerate(known)}  # 0: unknown
        self.types, self.rows, self.parts = {}, [], []

    def idf(self, low):
        i = self.id.get(low)
        return 1.0 if i is None else float(self.idfs[i - 1])

    def type(self, low):
        """The number in this process of a lower-case word; rows and parts hold what it is made of."""
        t = self.types.get(low)
        if t is None:
            t = self.types[low] = len(self.rows)
            self.rows.append(self.id.get(low, 0))
            self.parts.append(parts(low))
        return t


def idf(df, documents):
    return min(1.0, math.log((documents + 1) / (df + .5)) / 12)


class Text:
    """A text cut into words, with what does not depend on any other text."""
    __slots__ = ("text", "words", "low", "stems", "begin", "end", "types", "line", "sentence", "base", "idf", "content",
                 "heading", "keyed", "header", "lines", "pieces", "first")

    def __len__(self):
        return len(self.words)


def _sentence_ends(t, i, j, sentence):
    """Whether a sentence ends between words i-1 and i; j: the word before closing quotes and brackets; sentence: the numbers of those before i."""
    w, p = t.words[i], t.words[j]
    if p in "!?":
        return not w[0].islower()
    if p != "." or not (w[0].isupper() or w[0].isdecimal() or w[0] in "\"'([\u201c*"):
        return False
    before = t.words[j - 1] if j else ""
    if len(before) <= SHORT and w[0].isdecimal() and before[:1].isupper() and j > 1 and sentence[j - 2] == sentence[j - 1]:
        return False  # "Yali Cad. 48"
    return not (before and before[0].isalpha() and (t.low[j - 1] in _abbreviations or len(before) == 1))


def _sentences(t, text):
    out, n = [], 0
    for i in range(len(t.words)):
        if i and t.line[i] != t.line[i - 1]:
            n += 1
        elif i and t.begin[i] > t.end[i - 1]:
            j = i - 1
            while j > 0 and t.words[j] in "\"')]\u201d\u2019":
                j -= 1
            n += _sentence_ends(t, i, j, out)
        out.append(n)
    return np.array(out, np.int64)


MARKERS = set("-*+•–·‣◦")


class Line:
    __slots__ = ("a", "b", "blank", "item", "key", "heading", "cells", "table", "rule")


def _lines(t, gaps):
    """The lines of a text: words a to b, what they are."""
    out, n = [], len(t.words)
    a = 0
    for i in range(1, n + 1):
        if i == n or t.line[i] != t.line[a]:
            l = Line()
            l.a, l.b, l.blank = a, i, a == 0 or gaps[a].count("\n") > 1
            w = t.words[a:i]
            l.item = 0
            if len(w) > 1 and w[0] in MARKERS and gaps[a + 1]:
                l.item = 1
            elif len(w) > 2 and w[0].isdecimal() and w[1] in ".)" and not gaps[a + 1] and gaps[a + 2]:
                l.item = 2
            if l.item == 1 and len(w) > 4 and w[1] == "[" and "]" in w[2:4]:
                l.item = 1 + w.index("]")
            l.key = _key(t, l, gaps)
            l.rule = all(x in "-|:+=_*~" for x in w)
            l.heading, l.cells, l.table = False, None, -1
            out.append(l)
            a = i
    return out


def _key(t, l, gaps):
    """The end of a line's key: the word ':', '=', a dash between spaces or dots, or 0."""
    for i in range(l.a + l.item + 1, min(l.b - 1, l.a + l.item + 8)):
        w = t.words[i]
        if w == ":" and not (t.words[i + 1] == "/" and not gaps[i + 1]):
            return i
        if w == "=" or (w in "-–—" and gaps[i] and gaps[i + 1]) or (w == "." and t.words[i + 1] == "."):
            return i
        if w in ".!?;,|":
            return 0
    return 0


def _separators(t, l, gaps, sep):
    if sep == " ":
        return [i for i in range(l.a + 1, l.b) if "\t" in gaps[i] or "  " in gaps[i]]
    return [i for i in range(l.a, l.b) if t.words[i] == sep]


def _tables(t, lines, gaps):
    """Runs of at least two lines with the same number of separators; a line that only draws a rule belongs to it."""
    for sep, least in (("|", 1), (" ", 1), (";", 1), (",", 2)):
        k = 0
        while k < len(lines):
            if lines[k].table >= 0 or lines[k].rule:
                k += 1
                continue
            count = len(_separators(t, lines[k], gaps, sep))
            e = k + 1
            while e < len(lines) and lines[e].table < 0 and not lines[e].blank and (
                    lines[e].rule or len(_separators(t, lines[e], gaps, sep)) == count):
                e += 1
            if count >= least and sum(not l.rule for l in lines[k:e]) > 1:
                for l in lines[k:e]:
                    l.table = k
                    cuts = _separators(t, l, gaps, sep)
                    l.cells = np.searchsorted(cuts, np.arange(l.a, l.b), side="right") if cuts else np.zeros(l.b - l.a, np.int64)
            else:
                e = k + 1
            k = e


def _headings(t, lines):
    for k, l in enumerate(lines):
        n = l.b - l.a
        last = t.words[l.b - 1]
        if l.table >= 0 or k + 1 == len(lines):
            continue
        if t.words[l.a] == "#":
            l.heading = True
        elif l.item == 0 and last == ":" and n <= 12:
            l.heading = True
        elif l.item == 0 and l.blank and not l.key and n <= 10 and last not in ".!?;,":
            l.heading = True


def analyse(v, text, most=MAX_PASSAGE):
    """A Text of a passage's or a question's first words."""
    t = Text()
    t.text = text
    spans = []
    for m in WORD.finditer(text):
        spans.append(m.span())
        if len(spans) == most:
            break
    n = len(spans)
    t.begin, t.end = [a for a, _ in spans], [b for _, b in spans]
    t.words = [text[a:b] for a, b in spans]
    kinds = [kind(w) for w in t.words]
    t.low = [k[0] for k in kinds]
    t.stems = np.array([k[2] for k in kinds], np.int64)
    t.types = np.array([v.type(w) for w in t.low], np.int64)
    t.idf = np.array([v.idf(w) for w in t.low], np.float32)
    gaps = [text[(t.end[i - 1] if i else 0):t.begin[i]] for i in range(n)]
    breaks = np.array([i > 0 and "\n" in g for i, g in enumerate(gaps)], np.int64)
    t.line = np.cumsum(breaks) if n else breaks
    t.sentence = _sentences(t, text)
    flags = np.array([k[3] for k in kinds], np.float32).reshape(n, 6)
    t.content = (flags[:, 3] == 0) & (flags[:, 4] == 0)
    t.lines = lines = _lines(t, gaps)
    _tables(t, lines, gaps)
    _headings(t, lines)
    _layout(t, lines, flags)
    return t


def _layout(t, lines, flags):
    """The features of the words by themselves, and for each word its line's heading, key and column header (ranges of words)."""
    n = len(t.words)
    t.base = f = np.zeros((n, BASE), np.float32)
    f[:, 0] = t.idf
    f[:, 1:7] = flags
    f[:1, 7] = f[:1, 8] = 1
    f[1:, 7] = t.sentence[1:] != t.sentence[:-1]
    f[1:, 8] = t.line[1:] != t.line[:-1]
    t.heading, t.keyed, t.header = np.full(n, -1), np.full(n, -1), np.full(n, -1)
    t.pieces = []  # ranges of words; heading, keyed and header number them
    title = heading = None
    top = {}
    for k, l in enumerate(lines):
        s = slice(l.a, l.b)
        f[s, 9] = l.heading
        f[s, 10] = l.item > 0
        f[s, 11] = l.blank
        f[s, 12] = l.table >= 0
        f[s, 13] = min(k, 8) / 8
        f[s, 14] = k == 0
        if l.heading:
            heading = (l.a, l.b)
            if title is None and k == 0:
                title = heading
        elif heading is not None:
            t.heading[s] = _piece(t, heading)
        if l.key:
            f[l.a + l.item:l.key, 15] = 1
            f[l.key + 1:l.b, 16] = 1
            t.keyed[s] = _piece(t, (l.a + l.item, l.key))
        if l.cells is not None:
            for c in np.unique(l.cells):
                w = np.flatnonzero(l.cells == c) + l.a
                f[w, 17 + min(int(c), 5)] = 1
                if l.table == k:
                    top[k, c] = (int(w[0]), int(w[-1]) + 1)
                elif not l.rule and (l.table, c) in top:
                    t.header[w] = _piece(t, top[l.table, c])
            f[s, 23] = l.table == k
    t.first = _piece(t, title) if title else -1


def _piece(t, r):
    if not t.pieces or t.pieces[-1] != r:
        if r in t.pieces:
            return t.pieces.index(r)
        t.pieces.append(r)
    return len(t.pieces) - 1
