"""Tasks other than questions: a text to summarise, a screen to act on, a conversation to reply to.

Each is a context and a request, in the template of the questions. Most of the answer repeats the context, which is what drafts
from the context rely on: sentences about the text's subject, the element to use next as it is on the screen, what was asked for.
"""
from . import names
from .attributes import ENTITIES, WEIGHTS
from .examples import TASK, Branch, answer_text, turn
from .passages import FILLERS, head, new_passage, new_world, statement, upper
from .questions import ask

MAX_WORDS = 110  # of a text to summarise; one in four may be twice as long
SUMMARIZE = ["Summarize the text in two or three sentences."] * 6 + ["Summarize.", "Summarize the text.", "Please summarize this text.", "Give a short summary."]
LINKS = ["But", "And", "However,", "Meanwhile,", "Then", "In addition,", "Still,", "Soon"]  # before a sentence; a summary leaves them out
NEXT_STEP = "Task: %s. Done: %s. Which element is used next, and how?"
VERBS = ("opened,closed,visited,painted,sold,bought,found,lost,repaired,praised,refused,announced,showed,reached,left,joined,planned,"
         "won,called,followed,built,moved,changed,asked for,paid for,looked after,wrote about,waited for,talked about,returned to,"
         "agreed to,took over,stopped,started,cancelled,tested,saved,missed,shared,defended,described,signed,welcomed,warned,met").split(",")
TAILS = ("for the first time,after a long pause,without a word,in front of many guests,with the help of the neighbours,by mistake,once more,"
         "in spite of the rain,late at night,just in time,as planned,at the end of the season,before the winter,with great care,in secret,"
         "for several weeks,twice this year,on the way home,to the surprise of all,after the meeting").split(",")
SAID = ["said", "told us", "added", "wrote", "explained"]
UI_WORDS = ("settings,about,search,sort,filter,share,delete,rename,archive,account,language,theme,colour,font size,backup,calendar,camera,"
            "contacts,alarm,timer,note,folder,playlist,album,track,recording,photo,video,resolution,volume,brightness,notification,"
            "message,call,favourites,history,download,upload,sign out,sign in,help,feedback,privacy,password,email,profile,group,label,"
            "reminder,list,map,route,ticket,order,cart,payment,address,storage,battery,network,widget,shortcut,column count,view type,"
            "date format,time format,equalizer,dialpad,trash,hidden items,import,export,print,scan,zoom,rotate,crop,copy,paste,undo").split(",")
UI_VERBS = "Add,Create new,Edit,Remove,Show,Hide,Toggle,Customize,Change,Manage,Open,Export,Import,Clear,Select,Add to,Switch to".split(",")
VALUES = [["Light", "Dark", "Black", "White", "Auto & light / dark", "Custom"], ["Small", "Medium", "Large", "Extra large"],
          ["1 column", "2 columns", "3 columns", "4 columns", "5 columns"], ["5 minutes", "10 minutes", "20 minutes", "30 minutes", "1 hour"],
          ["English", "German", "French", "Polish", "Dutch"], ["Low", "Medium", "High", "Highest"], ["Grid", "List"], ["Never", "Daily", "Weekly"]]
KEYS = ["Name", "Title", "Size", "Path", "Last modified", "Date taken", "Extension", "Duration", "Artist", "Random", "Custom", "First name"]
CLOSINGS = ["See you soon!", "Thanks again!", "Talk to you later.", "All the best.", "See you there.", "Let me know.", "Greetings!", "Take care."]
WHERE = "at,in front of,behind,near,next to".split(",")
CHAT = ["How are you?", "I was just thinking of you.", "Sorry for the late answer.", "One moment, I have it here.", "Good to hear from you.",
        "That was a long day.", "I am on the train.", "No problem at all.", "I wrote it down.", "Yes, of course.", "Let me look."]


FUNCTION_WORDS = ("the the the the of of and and to to in in a a was for on with his that he at as by from it had but were she which not their are an "
                  "they this be who her have been said has one all would after when up out into about its also more two years new first time over than "
                  "no only other some people last before between under most many such where while against during told made could").split()
ENDINGS = ["s", "ed", "ing", "ly", "er", "tion", "al", "y", "ers", "ment", "'s", "\u2019s"]


def task(s):
    """-> (context text, [Branch]) of one of the tasks."""
    return s.pick((foreign, foreign, foreign, summary, summary, screen, screen, screen, reply, reply))(s)


# --- texts in invented words ------------------------------------------------------------------------------------------


def number(s):
    n = s.between(0, 10 ** s.between(1, 6))
    return s.pick((lambda: str(n), lambda: f"{n:,}", lambda: str(s.between(1900, 2030)), lambda: "%.1f" % (n / 10), lambda: f"{n}%", lambda: f"\u00a3{n}m",
                   lambda: f"${n:,}", lambda: "%d-%d" % (s.between(0, 30), s.between(0, 30)), lambda: f"{n}-year-old"))()


def strange(s):
    """An invented word, sometimes with an ending."""
    word = names.word(s)
    return word + s.pick(ENDINGS) if s.chance(0.3) else word


def strange_name(s):
    return " ".join(names.name(s) if s.chance(0.7) else names.given(s) for _ in range(s.pick((1, 2, 2, 3))))


def strange_sentence(s, subject):
    """Function words among strange ones, with the figures, quotes and dashes of the press."""
    words, n, closing = subject.split(), s.between(5, 24), ""
    while len(words) < n:
        x = s.rng.random()
        w = (s.pick(FUNCTION_WORDS) if x < 0.5 else s.pick(names.NOUNS) + s.pick(("", "s")) if x < 0.58 else strange(s) if x < 0.85 else strange_name(s) if x < 0.94 else number(s) if x < 0.98 else "\u2013")
        if not closing and s.chance(0.03):
            opening, closing = s.pick((("\u2018", "\u2019"), ("'", "'"), ('"', '"'), ("\u201c", "\u201d"), ("(", ")")))
            w = opening + w
        elif closing and s.chance(0.25):
            w, closing = w + closing, ""
        words.append(w + "," if s.chance(0.07) else w)
    return upper(" ".join(words).rstrip(",\u2013 ") + closing) + "."


def foreign(s):
    """A text in invented words, because real texts look like this to such a small model. Its summary is, word for word, the first sentence and the
    next ones on the same subject, or else the second."""
    main = strange_name(s)
    text, chosen, most = [], [], s.between(30, 110)
    while sum(len(x.split()) for x in text) < most or len(text) < 3:
        about = not text or s.chance(0.25)
        line = strange_sentence(s, s.pick((main, main.split()[-1])) if about else s.pick((strange_name(s), "The " + strange(s), strange(s), s.pick(FUNCTION_WORDS))))
        if about and len(chosen) < 2:
            chosen.append(line)
        text.append(line)
    if len(chosen) < 2:
        chosen.append(text[1])
    return "Context: " + " ".join(text), [Branch(turn(s.pick(SUMMARIZE)), [(" " + " ".join(chosen), TASK)])]


# --- summary ------------------------------------------------------------------------------------------------------


def thing(s):
    x = s.rng.random()
    if x < 0.3:
        return "the %s %s" % (s.pick(names.ADJECTIVES), s.pick(names.NOUNS))
    if x < 0.5:
        return "the %s %s" % (names.word(s), s.pick(names.NOUNS))
    return s.pick((names.person, names.firm, names.town, names.work_title))(s)


def event(s, subject):
    """A sentence about something that subject did."""
    text = "%s %s %s" % (subject, s.pick(VERBS), thing(s))
    for _ in range(s.between(0, 2)):
        text += s.pick(["", ","]) + " " + s.pick((lambda: s.pick(TAILS), lambda: "in " + names.town(s), lambda: "on " + names.day(s),
                                                lambda: "for " + names.money(s), lambda: "and %s %s" % (s.pick(VERBS), thing(s)),
                                                lambda: "with " + names.person(s), lambda: "because of " + thing(s)))()
    return text + "."


def quote(s, who):
    words = event(s, s.pick(["we", "they", "I", thing(s)]))[:-1]
    return '"%s," %s %s.' % (upper(words), s.pick(SAID) if s.chance(0.5) else "said", who)


def summary(s):
    """A text of several sentences; the summary is its first sentence and the next one or two about the same subject."""
    category = s.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    main = ENTITIES[category](s) if s.chance(0.6) else thing(s)
    short = head(main, category) or main
    facts = new_world(s, 1, 3, category=category) if s.chance(0.4) else []
    about, text, chosen, words, most = 0, [], [], 0, MAX_WORDS * (2 if s.chance(0.25) else 1)
    while words < most - 20:
        x = s.rng.random()
        if not text or x < 0.35:
            line = event(s, upper(main if not text or s.chance(0.8) else short))
        elif x < 0.45 and facts:
            line = statement(s, facts.pop()) + "."
        elif x < 0.55:
            line = quote(s, names.person(s))
        elif x < 0.65:
            line = s.pick(FILLERS)
        else:
            line = event(s, upper(s.pick((names.person, names.firm, thing))(s)))
        link = s.pick(LINKS) if text and s.chance(0.12) else ""
        if main.lower() in line.lower() and about < 3:
            chosen.append(line)
            about += 1
        if link:
            line = link + " " + (line if line[0] == '"' or not main.lower().startswith("the ") or not line.startswith("The ") else "the" + line[3:])
        words += len(line.split())
        text.append(line)
        if len(text) > 3 and s.chance(0.08):
            break
    title = upper(main) + "\n" if s.chance(0.2) else ""
    return "Context: " + title + " ".join(text), [Branch(turn(s.pick(SUMMARIZE)), [(" " + " ".join(chosen), TASK)])]


# --- screens ------------------------------------------------------------------------------------------------------


def label(s):
    x = s.rng.random()
    if x < 0.35:
        return upper(s.pick(UI_WORDS))
    if x < 0.65:
        return s.pick(UI_VERBS) + " " + s.pick(UI_WORDS)
    if x < 0.8:
        return s.pick((names.name, names.given, names.firm))(s)
    if x < 0.87:
        return upper(s.pick(names.NOUNS)) + " " + s.pick(UI_WORDS)
    if x < 0.94:
        return upper(names.word(s)) + " " + s.pick(UI_WORDS)
    return upper(" ".join(s.pick(FUNCTION_WORDS) if s.chance(0.3) else strange(s) for _ in range(s.between(1, 3))))


class Screen:
    """Elements of a screen; written as HTML-like lines with their position as id."""

    def __init__(self, s):
        self.s, self.items, self.space = s, [], s.pick(["", " "])

    def add(self, kind, text, checked=None):
        """Add an element unless one has the same text -> the element."""
        for x in self.items:
            if x[1].lower() == text.lower():
                return x
        style = "attribute" if kind == "button" and self.s.chance(0.3) else "inner"
        more = "<br>" + self.s.pick((names.small, names.word, names.clock))(self.s) if kind == "button" and style == "inner" and self.s.chance(0.1) else ""
        item = (kind, text, checked, style, more)
        self.items.append(item)
        return item

    def line(self, item, number=True):
        kind, text, checked, style, more = item
        i = " id=%d" % self.items.index(item) if number else ""
        if style == "attribute":
            return "<%s%s text='%s'></%s>" % (kind, i, text, kind)
        state = "" if checked is None or not number else " checked=%s" % checked
        return "<%s%s%s>%s</%s>" % (kind, i, state if number else " " * (kind == "checkbox"), text + more, kind)

    def text(self):
        return ("\n" + self.space).join(self.line(x) for x in self.items)


def screen(s):
    """A screen and something to do; the answer is the next action on the element, written as on the screen."""
    v, done = Screen(s), ["Start the %s app" % s.pick((names.word, lambda _: s.pick(UI_WORDS)))(s)]
    others = [label(s) for _ in range(s.between(2, 8))]
    x = s.rng.random()
    if x < 0.30:  # open something
        what = label(s)
        todo = s.pick(["Open %s", "Open the %s", "Go to %s", "Show %s", "Tap %s", "%s", "check '%s'", "open '%s'", "I want to see %s"]) % what
        wanted, action = ("button", what, None), "tap"
    elif x < 0.40:  # switch something
        what, on = label(s), s.chance(0.5)
        todo = s.pick(["Turn on %s", "Enable %s", "Switch %s on", "Check %s"] if on else ["Turn off %s", "Disable %s", "Switch %s off", "Uncheck %s"]) % what
        wanted, action = ("checkbox", what, not on), "check" if on else "uncheck"
    elif x < 0.46:  # type something
        word = s.pick((names.word, names.name, names.code, names.phone))(s)
        what, action = s.pick(["Search", "Name", "Title", "Number", "Folder name", "Note", label(s)]), 'type "%s" into' % word
        todo = s.pick(["Search for %s", "Look for '%s'", "Find %s"] if what == "Search" else ["Enter %s as {w}", "Set the {w} to %s", "Type '%s' as {w}"]) % word
        todo = todo.replace("{w}", what.lower())
        wanted = ("input", what, None)
    elif x < 0.50:  # nothing is left
        what = label(s)
        todo, wanted, action = s.pick(["Open %s", "Go to %s", "Show %s"]) % what, None, ""
        done.append("TapOn: <button>%s</button>" % what)
        v.add("p", what)
    elif x < 0.72:  # set something to a value: the setting, the value, OK
        what, values = upper(s.pick(UI_WORDS)), s.pick(VALUES)
        value, step = s.pick(values), s.between(0, 2)
        todo = s.pick(["Change %s to %s", "Set %s to %s", "Set the %s to %s", "change the %s to %s"]) % (what.lower(), value.lower())
        if step == 0:
            wanted, action = ("button", what, None), "tap"
        else:
            done.append("TapOn: <button>%s</button>" % what)
            others = [] if s.chance(0.7) else others[:2]
            for y in values:
                v.add("checkbox", y, (y == value) == (step == 2) and (step == 2 or s.chance(0.3)))
            if step == 2:
                done.append("Check: <checkbox >%s</checkbox>" % value)
            wanted, action = (("checkbox", value, False), "check") if step == 1 else (("button", "OK", None), "tap")
            v.add("button", "OK")
    elif x < 0.88:  # sort: the menu, the key, the order, OK
        keys, down, step = s.rng.sample(KEYS, s.between(3, 7)), s.chance(0.6), s.between(0, 3)
        key, order = s.pick(keys), "Descending" if down else "Ascending"
        todo = s.pick(["Sort %s by %s in %s order", "sort the %s by %s in %s order", "Sort the %s by %s, %s"]) % (
            s.pick(["apps", "files", "folders", "items", "tracks", "contacts", "photos"]), key.lower(), order.lower())
        if step == 0:
            wanted, action = ("button", "Sort by", None), "tap"
        else:
            done.append("TapOn: <button text='Sort by'></button>")
            others = []
            v.add("p", "Sort by")
            v.items[0] = ("p", "Sort by", None, "inner", "")
            for y in keys:
                v.add("checkbox", y, (y == key) if step > 1 else (y != key and s.chance(0.3)))
            for y in ("Ascending", "Descending"):
                v.add("checkbox", y, (y == order) == (step == 3))
            v.add("button", "Cancel")
            v.add("button", "OK")
            if step > 1:
                done.append("Check: <checkbox >%s</checkbox>" % key)
            if step > 2:
                done.append("Check: <checkbox >%s</checkbox>" % order)
            wanted = [None, ("checkbox", key, False), ("checkbox", order, False), ("button", "OK", None)][step]
            action = "tap" if step == 3 else "check"
    else:  # the element needed is behind a menu
        todo = s.pick(["Open %s", "Change %s", "Set %s", "Show %s"]) % upper(s.pick(UI_WORDS))
        words = todo.lower().split()
        others = [o for o in others if not set(o.lower().split()) & set(words)]
        wanted, action = ("button", s.pick(["More options", "More options", "Settings", "Menu"]), None), "tap"
    clash = wanted[1].lower() if wanted else what.lower()
    others = [o for o in others if clash not in o.lower() and o.lower() not in clash and o.lower() not in todo.lower()]
    for o in others:
        kind = s.rng.choices(("button", "checkbox", "input", "p"), (6, 2, 0.5, 1))[0]
        v.add(kind, o, s.chance(0.5) if kind == "checkbox" else None)
    item = v.add(*wanted) if wanted else None
    if not done[1:]:
        s.rng.shuffle(v.items)
    if s.chance(0.6):
        v.items.append(("button", "go back", None, "inner", ""))
    then = "%s %s." % (action, v.line(item)) if item else "nothing is left to do."
    return "Context: " + v.text(), [Branch(turn(NEXT_STEP % (todo, "; ".join(done[-2:]))), [(" To %s, %s" % (todo[0].lower() + todo[1:], then), TASK)])]


# --- replies ------------------------------------------------------------------------------------------------------


def reply(s):
    """A conversation, sometimes under notes; the reply thanks and gives what was asked for in a full sentence."""
    if s.chance(0.5):
        return plan(s)
    while True:
        facts = new_world(s, 2, 4)
        p = new_passage(s, facts)
        if p.facts:
            break
    a, b = names.given(s), names.given(s)
    closing = s.pick(CLOSINGS)
    asked = [(f, ask(s, f)) for f in s.rng.sample(p.facts, min(len(p.facts), s.between(1, 2)))]
    lines = []
    if s.chance(0.7):  # the writer's greeting and closing
        lines.append("%s: Hi %s. %s %s" % (b, a, s.pick(CHAT), closing))
    else:
        closing = ""
    told = []
    if s.chance(0.5):  # the facts are in the chat itself
        order = p.facts[:]
        s.rng.shuffle(order)
        for f in order:
            told.append("%s: %s%s." % (s.pick([a, b]), s.pick(["", "", s.pick(CHAT) + " "]), statement(s, f)))
        notes = ""
    else:
        notes = p.context() + "\n\n"
    for _ in range(s.between(0, 2)):
        told.insert(s.between(0, len(told)), "%s: %s" % (s.pick([a, b]), s.pick(CHAT)))
    lines += told
    lines.append("%s: %s" % (a, " ".join(([s.pick(CHAT)] if s.chance(0.5) else []) + [q.question for _, q in asked])))
    request = s.pick(["Write the reply of %s."] * 4 + ["Write %s's reply.", "Reply as %s."]) % b
    text = ("Thank you, %s. %s %s" % (a, " ".join(answer_text(q, f.value) for f, q in asked), closing)).rstrip()
    return "Context: " + notes + "\n".join(lines), [Branch(turn(request), [(" " + text, TASK)])]


def plan(s):
    """Two people agree on a time, a place and what to bring; the reply repeats it."""
    a, b = names.given(s), names.given(s)
    while b == a:
        b = names.given(s)
    place = s.pick(WHERE) + " " + s.pick((lambda s: s.pick(list(ENTITIES.values()))(s), thing, lambda s: "the " + s.pick(names.PLACES_IN)))(s)
    hour, day = names.clock(s), names.day(s)
    things = [s.pick([lambda x: "the " + x, names.with_article, lambda x: "my " + x, lambda x: "your " + x])(
        "%s %s" % (s.pick(names.COLOURS + names.MATERIALS), s.pick(names.CONTAINERS + names.NOUNS)))
              if s.chance(0.6) else s.pick(["some %s", "the %s", "a lot of %s"]) % s.pick(names.DISHES) for _ in range(s.between(1, 2))]
    bring = " and ".join(things)
    meeting = s.pick(["We meet {p} at {h}.", "Let us meet {p} at {h}.", "At {h} {p}.", "The plan is to meet {p} at {h}."]).replace("{p}", place).replace("{h}", hour)
    lines = ["%s: %s" % (a, s.pick(["Hi %s, are you free on %s?", "Hello %s! What about %s?", "%s, do you have time on %s?"]) % (b, day)),
             "%s: %s" % (b, s.pick(["I think so. What is the plan for %s?", "Yes. What do we do on %s?", "%s is fine. Where do we meet?"]) % day),
             "%s: %s" % (a, meeting + (" " + s.pick(FILLERS) if s.chance(0.5) else "")),
             "%s: %s" % (b, s.pick(["Good. Shall I bring anything?", "Fine. What shall I bring?", "Great. Do you need anything?"]))]
    again = s.pick([", and tell me again where and when we meet.", ", and tell me again where and when we meet, so that I know you read this.",
                    ". Can you say it all again?", ". Tell me again what we said.", ". Do you know it all now?"])
    lines.append("%s: %s" % (a, s.pick(["Please bring %s", "Yes, bring %s", "You could bring %s"]) % bring + again))
    if s.chance(0.5):
        lines.insert(s.between(1, 3), "%s: %s" % (s.pick([a, b]), s.pick(CHAT + FILLERS)))
    if s.chance(0.2):  # the writer has said it already
        lines.insert(1, "%s: %s" % (b, s.pick(CHAT)))
    text = "Thank you, %s. We meet %s at %s on %s, and I bring %s." % (a, place, hour, day, bring)
    return "Context: " + "\n".join(lines), [Branch(turn("Write the reply of %s." % b), [(" " + text, TASK)])]
