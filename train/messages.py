"""Messages in four tones, with errors, and short replies: what the adapters of adapters.py learn.

A message is a few sentences, each a speech act whose content is words of the generator's. The tones change the act's frame and keep its
content word for word, so names, numbers and times stay as they are.
"""
from . import names
from .attributes import ENTITIES
from .passages import FILLERS, new_world, statement, upper
from .tasks import CHAT, TAILS, VERBS, event, strange, thing

TONES = ("neutral", "polite", "formal", "jovial")
TONE_REQUEST = {"neutral": "Rewrite the text in a neutral tone.", "polite": "Rewrite the text in a polite tone.",
                "formal": "Rewrite the text in a formal tone.", "jovial": "Rewrite the text in a jovial tone."}
CORRECT_REQUEST = "Correct the text."
REPLY_REQUEST = "Write a short reply of %s."

# --- content ------------------------------------------------------------------------------------------------------

PAPERS = ("report,invoice,letter,contract,draft,slides,plan,list,form,photos,notes,keys,tickets,book,parcel,files,document,results,recipe,password,"
          "address,schedule,budget,bill,receipt,order,summary,minutes,agenda,link,code,card,laptop,charger,umbrella,bag,door,window,dog,car,room,table").split(",")
ABOUT = ("meeting,party,trip,project,weekend,dinner,exam,holiday,concert,game,house,garden,kitchen,office,presentation,interview,wedding,match,delivery,"
         "printer,heating,rent,order,class,course,appointment").split(",")
PEOPLE = "my mother,my boss,the landlord,the neighbours,your sister,the team,everyone,us,them,him,her,me,the doctor,the office,your brother,my friend".split(",")
PLACE = ("at the station,at home,in the office,in the kitchen,at the entrance,on the table,at school,in the garden,at the airport,downstairs,outside,"
         "at my place,at the market,in front of the house,on the roof,in the car").split(",")
WHEN = ("today,tomorrow,tonight,this evening,next week,this weekend,before noon,after lunch,in the morning,as soon as possible,right now,later,on time,"
        "before the meeting,by the end of the week,in an hour,at the weekend,every day").split(",")


def noun(s):
    x = s.rng.random()
    return s.pick(PAPERS) if x < 0.5 else s.pick(names.CONTAINERS + names.NOUNS) if x < 0.7 else s.pick(ABOUT) if x < 0.85 else strange(s)


def np(s):
    """A thing that one may send, find or talk about."""
    x = s.rng.random()
    if x < 0.45:
        return s.pick(["the", "the", "the", "my", "your", "our", "this"]) + " " + noun(s)
    if x < 0.6:
        return "the %s of %s" % (noun(s), s.pick((names.given, names.person, names.firm, names.town))(s))
    if x < 0.7:
        return "the %s %s" % (s.pick(names.ADJECTIVES + names.COLOURS), noun(s))
    if x < 0.8:
        return s.pick(list(ENTITIES.values()))(s)
    if x < 0.9:
        return names.given(s) + "'s " + noun(s)
    return thing(s)


def when(s):
    return s.pick((lambda: s.pick(WHEN), lambda: s.pick(WHEN), lambda: "at " + names.clock(s), lambda: "on " + names.day(s), lambda: "by " + names.day(s),
                   lambda: "before " + names.clock(s), lambda: "on " + names.date(s)))()


def who(s):
    return s.pick((lambda: s.pick(PEOPLE), lambda: names.given(s), lambda: names.given(s), lambda: names.person(s)))()


def verb_phrase(s):
    """What somebody may do, without its subject: "send me the report by Friday"."""
    x = s.rng.random()
    text = s.pick((
        lambda: "send %s %s" % (who(s), np(s)), lambda: "bring %s" % np(s), lambda: "call %s" % who(s), lambda: "tell %s about %s" % (who(s), np(s)),
        lambda: "%s %s" % (s.pick("check,read,sign,finish,return,fix,clean,print,copy,find,open,close,move,book,cancel,buy,sell,pay for,pick up,take,keep,"
                                  "look at,write,update,change,review,prepare,show,paint,repair,order,forget,wait for,look for,turn off,turn on,put away".split(",")), np(s)),
        lambda: "help %s with %s" % (who(s), np(s)), lambda: "meet %s %s" % (who(s), s.pick(PLACE)), lambda: "come to %s" % np(s), lambda: "stay %s" % s.pick(PLACE),
        lambda: "wait %s" % s.pick(PLACE), lambda: "answer %s" % who(s), lambda: "give %s %s" % (who(s), np(s)), lambda: "come %s" % s.pick(["over", "back", "earlier", "with us", "alone"]),
        lambda: "be %s" % s.pick(["quiet", "on time", "careful", "ready", "there"]), lambda: "stop %s" % s.pick(["calling me", "shouting", "smoking here", "the music", "parking there", "that"]),
        lambda: "leave %s %s" % (np(s), s.pick(PLACE)), lambda: "talk to %s about %s" % (who(s), np(s)), lambda: "%s %s" % (strange(s), np(s)),
        lambda: "take part in %s" % np(s), lambda: "join %s" % np(s), lambda: "help", lambda: "reply", lambda: "explain %s to %s" % (np(s), who(s)),
    ))()
    return text + (" " + when(s) if x < 0.55 else "")


def plural(thing):
    """Whether a thing of np takes "are"."""
    head = thing.split(" of ")[0]
    return head.endswith("s") and not head.endswith(("ss", "us", "'s")) and not head.startswith("this ")


def clause(s):
    """A statement without its period."""
    x = s.rng.random()
    if x < 0.35:
        n = np(s)
        return "%s %s %s" % (n, "are" if plural(n) else "is", s.pick(["late", "broken", "too loud", "wrong", "missing", "not ready", "too small", "dirty", "cold", "full", "closed", "empty", "too expensive", "finished", "open", "lost"]))
    if x < 0.5:
        n = np(s)
        return "%s %s not work" % (n, "do" if plural(n) else "does")
    if x < 0.65:
        return s.pick(["we will be late", "there is a mistake in %s" % np(s), "we have no %s left" % noun(s), "we cancelled %s" % np(s), "I forgot %s" % np(s), "I lost %s" % np(s),
                       "we have to move %s to %s" % (np(s), when(s).split(" ", 1)[-1]), "the %s starts at %s" % (s.pick(ABOUT), names.clock(s)), "I paid %s for %s" % (names.money(s), np(s))])
    if x < 0.8:
        return statement(s, s.pick(new_world(s, 1, 1))).rstrip(".")
    return event(s, s.pick((names.given, names.person, names.firm))(s)).rstrip(".")


def lower(text):
    """A clause within a sentence: names keep their capitals."""
    first = text.split(" ")[0]
    return text[0].lower() + text[1:] if first in ("The", "My", "Your", "Our", "This", "We", "There", "It", "A", "An") else text


# --- tones --------------------------------------------------------------------------------------------------------


def act(s):
    """-> {tone: sentence, "blunt": [other ways to say it]} of one speech act."""
    kind = s.rng.choices(("request", "question", "refusal", "statement", "need", "thanks", "apology", "offer", "invitation", "opinion", "hurry"), (8, 4, 4, 4, 3, 2, 2, 2, 3, 2, 1))[0]
    if kind == "request":
        v = verb_phrase(s)
        return {"neutral": "Please %s." % v, "polite": "Could you please %s?" % v, "formal": "I would be grateful if you could %s." % v,
                "jovial": "Hey, could you %s? You are the best!" % v,
                "blunt": [upper(v) + "!", upper(v) + ".", upper(v) + ".", "You need to %s." % v, "I want you to %s." % v, "Can you %s?" % v, "You must %s!" % v, "You have to %s." % v]}
    if kind == "question":
        n = np(s)
        while plural(n):
            n = np(s)
        direct, asked = s.pick([("Where is %s?", "where %s is"), ("When is %s?", "when %s is"), ("What is %s?", "what %s is"), ("How much is %s?", "how much %s is"),
                                ("Who has %s?", "who has %s"), ("Why is %s so late?", "why %s is so late"), ("When does %s start?", "when %s starts"), ("Where can I find %s?", "where I can find %s"),
                                ("Who broke %s?", "who broke %s"), ("What happened to %s?", "what happened to %s"), ("When will %s be ready?", "when %s will be ready")])
        return {"neutral": direct % n, "polite": "Could you please tell me %s?" % asked % n, "formal": "I would like to know %s." % asked % n,
                "jovial": "Quick question, my friend: %s" % lower(direct[0].lower() + direct[1:]) % n, "blunt": [direct % n, direct % n, "Tell me %s!" % asked % n, "Tell me %s." % asked % n, "I want to know %s." % asked % n]}
    if kind == "refusal":
        v = verb_phrase(s)
        return {"neutral": "I cannot %s." % v, "polite": "I am sorry, but I cannot %s." % v, "formal": "Unfortunately, I am unable to %s." % v,
                "jovial": "Oh no, I can't %s, but count me in next time!" % v,
                "blunt": ["I can't %s." % v, "I can't %s." % v, "No, I can't %s." % v, "I won't %s." % v, "I will not %s." % v, "No way, I can't %s!" % v, "I cannot %s!" % v]}
    if kind == "statement":
        c = clause(s)
        return {"neutral": upper(c) + ".", "polite": "I am afraid that %s." % c, "formal": "I would like to inform you that %s." % c, "jovial": "Guess what: %s!" % c,
                "blunt": [upper(c) + ".", upper(c) + ".", upper(c) + "!", "Look, %s." % c]}
    if kind == "need":
        n = np(s) + (" " + when(s) if s.chance(0.5) else "")
        return {"neutral": "I need %s." % n, "polite": "Could I please have %s?" % n, "formal": "I would like to request %s." % n, "jovial": "I could really use %s, pretty please!" % n,
                "blunt": ["I need %s!" % n, "I want %s!" % n, "I want %s." % n, "Give me %s." % n, "Give me %s!" % n, "I need %s." % n, "Where is %s? I need it." % n][: s.between(1, 6)]}
    if kind == "thanks":
        n = s.pick((lambda: np(s), lambda: "your help", lambda: "the invitation", lambda: "your answer", lambda: "your message"))()
        return {"neutral": "Thank you for %s." % n, "polite": "Thank you very much for %s." % n, "formal": "I would like to thank you for %s." % n, "jovial": "Thanks a million for %s!" % n,
                "blunt": ["Thanks for %s." % n, "Thx for %s." % n, "Thanks for %s" % n]}
    if kind == "apology":
        n = s.pick((lambda: "the delay", lambda: "the mistake", lambda: np(s), lambda: "the noise", lambda: "being late"))()
        return {"neutral": "I am sorry for %s." % n, "polite": "I am very sorry for %s." % n, "formal": "Please accept my apologies for %s." % n, "jovial": "Oops, sorry about %s!" % n,
                "blunt": ["Sorry for %s." % n, "Sorry about %s." % n, "Sorry for %s" % n]}
    if kind == "offer":
        v = verb_phrase(s)
        return {"neutral": "I will %s." % v, "polite": "I would be happy to %s." % v, "formal": "It would be my pleasure to %s." % v, "jovial": "You bet, I will %s!" % v,
                "blunt": ["I'll %s." % v, "I will %s." % v, "Fine, I'll %s." % v, "OK, I will %s." % v]}
    if kind == "invitation":
        v = verb_phrase(s)
        return {"neutral": "Do you want to %s?" % v, "polite": "Would you like to %s?" % v, "formal": "I would like to invite you to %s." % v, "jovial": "Come on, it will be fun: let's %s!" % v,
                "blunt": ["Do you want to %s?" % v, "Wanna %s?" % v, "Want to %s?" % v, "Let's %s." % v, "You should %s." % v]}
    if kind == "opinion":
        n = s.pick((lambda: np(s), lambda: "it", lambda: "that", lambda: "your " + noun(s)))()
        bad = s.pick(["bad", "boring", "ugly", "terrible", "stupid", "too long", "useless", "awful", "a mess", "wrong"])
        return {"neutral": "I do not like %s." % n, "polite": "I am not quite sure about %s." % n, "formal": "I have some reservations about %s." % n, "jovial": "Well, %s and I will never be friends!" % n,
                "blunt": ["I don't like %s." % n, "I hate %s." % n, "I hate %s!" % n, "I really don't like %s." % n, "%s is %s." % (upper(n), bad), "%s is %s!" % (upper(n), bad)]}
    t = when(s)
    return {"neutral": "Please answer %s." % t, "polite": "I would appreciate an answer %s." % t, "formal": "I look forward to your reply %s." % t, "jovial": "Ping me %s, will you?" % t,
            "blunt": ["Answer me %s!" % t, "Answer %s." % t, "I need an answer %s." % t, "Reply %s!" % t]}


GREETING = {"neutral": "Hello %s, ", "polite": "Dear %s, ", "formal": "Dear %s, ", "jovial": "Hey %s, "}


def message(s, tone):
    """-> (a message in some tone, the same message in the given tone)."""
    acts = [act(s) for _ in range(s.rng.choices((1, 2, 3), (6, 3, 1))[0])]
    given = s.pick(("blunt", "blunt", "blunt", "neutral") + tuple(t for t in TONES if t != tone))
    before, after = "", ""
    if s.chance(0.25):
        name = names.given(s)
        before, after = s.pick([name + ", ", "Hi %s, " % name, "Hey %s, " % name, "Hello %s, " % name]), GREETING[tone] % name
    source = [s.pick(a["blunt"]) if given == "blunt" else a[given] for a in acts]
    wanted = [a[tone] for a in acts]

    def joined(greeting, sentences):
        text = " ".join(sentences)
        first = text.split(" ")[0]
        keeps = first in ("I", "I'll") or not greeting or first[0] == '"' or first.strip("!?.,") in PROPER
        return greeting + (text if keeps else lower_first(text))
    return joined(before, source), joined(after, wanted)


PROPER = set(names.GIVEN)


def lower_first(text):
    return text[0].lower() + text[1:]


# --- errors -------------------------------------------------------------------------------------------------------

SWAPS = [("their", "there"), ("there", "their"), ("its", "it's"), ("it's", "its"), ("your", "you're"), ("than", "then"), ("then", "than"), ("too", "to"), ("to", "too"),
         ("lose", "loose"), ("of", "off"), ("is", "are"), ("are", "is"), ("was", "were"), ("were", "was"), ("has", "have"), ("have", "has"), ("does", "do"), ("do", "does"),
         ("a", "an"), ("an", "a"), ("don't", "dont"), ("can't", "cant"), ("won't", "wont"), ("I'll", "Ill"), ("I", "i"), ("let's", "lets"), ("doesn't", "doesnt"), ("isn't", "isnt"),
         ("because", "becouse"), ("receive", "recieve"), ("which", "wich"), ("until", "untill"), ("tomorrow", "tommorow"), ("believe", "beleive"), ("friend", "freind"),
         ("definitely", "definately"), ("separate", "seperate"), ("could", "coud"), ("would", "woud"), ("should", "shoud"), ("before", "befor"), ("really", "realy"), ("always", "allways"),
         ("address", "adress"), ("people", "poeple"), ("weird", "wierd"), ("where", "were"), ("knows", "know"), ("goes", "go"), ("likes", "like"), ("needs", "need")]
SWAP = {}
for _right, _wrong in SWAPS:
    SWAP.setdefault(_right, []).append(_wrong)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def misspelt(s, word):
    """A word with one letter missing, doubled, swapped or replaced."""
    i = s.between(1, len(word) - 2)
    return s.pick((lambda: word[:i] + word[i + 1:], lambda: word[:i] + word[i] + word[i:], lambda: word[:i] + word[i + 1] + word[i] + word[i + 2:],
                   lambda: word[:i] + word[i + 1] + word[i] + word[i + 2:], lambda: word[:i] + s.pick(LETTERS) + word[i + 1:]))()


def wrong(s, text, known):
    """text with one error, or as it is if the error drawn does not apply. known: words that may be misspelt."""
    words, x = text.split(" "), s.rng.random()
    i = s.between(0, len(words) - 1)
    bare = words[i].strip(".,!?:;")
    if x < 0.4:
        fit = [j for j, w in enumerate(words) if len(w.strip(".,!?:;")) > 3 and w.strip(".,!?:;") in known]
        if fit:
            i = s.pick(fit)
            bare = words[i].strip(".,!?:;")
            words[i] = words[i].replace(bare, misspelt(s, bare))
    elif x < 0.75:
        fit = [j for j, w in enumerate(words) if w.strip(".,!?:;") in SWAP]
        if fit:
            i = s.pick(fit)
            bare = words[i].strip(".,!?:;")
            words[i] = words[i].replace(bare, s.pick(SWAP[bare]))
    elif x < 0.82:
        words[0] = words[0][0].lower() + words[0][1:]
    elif x < 0.87 and bare in known:
        words.insert(i, bare)
    elif x < 0.93 and text[-1] in ".":
        return text[:-1]
    elif words[i] in names.DAYS or words[i] in names.MONTHS:
        words[i] = words[i].lower()
    elif "," in text:
        return text.replace(", ", " ,", 1) if s.chance(0.5) else text.replace(", ", ",", 1)
    return " ".join(words)


def right_text(s):
    """A text without errors."""
    x = s.rng.random()
    if x < 0.6:
        return message(s, s.pick(TONES))[1]
    if x < 0.7:
        return upper(statement(s, s.pick(new_world(s, 1, 1))).rstrip(".")) + "."
    if x < 0.85:
        return upper(event(s, thing(s)))
    return s.pick(FILLERS) + " " + upper(clause(s)) + "."


class Corrections:
    """Texts with errors and without. Words that occur often may be misspelt; rarer ones, and names, are as they are."""

    def __init__(self, s, prose=()):
        """prose: more sentences without errors."""
        counts = {}
        for text in [right_text(s) for _ in range(6000)] + list(prose):
            for w in text.split(" "):
                w = w.strip(".,!?:;")
                if w.islower() and w.isalpha():
                    counts[w] = counts.get(w, 0) + 1
        least = 4 if not prose else 12
        self.known = {w for w, n in counts.items() if n >= least and len(w) < 14}
        few = len(prose) // 20
        self.prose, self.kept = list(prose[few:]), list(prose[:few])  # kept: for the evaluation

    def item(self, s):
        """-> (with errors, without)."""
        prose = self.kept if s.held_out else self.prose
        right = s.pick(prose) if prose and s.chance(0.5) else right_text(s)
        text = right
        for _ in range(s.rng.choices((0, 1, 2, 3), (2, 5, 3, 2))[0]):
            text = wrong(s, text, self.known)
        return text, right


# --- replies ------------------------------------------------------------------------------------------------------

MEALS = "lunch,dinner,coffee,a walk,a swim,breakfast,a game of cards,a film,a drink,a bike ride,the concert,the match".split(",")


def situation(s, a, b):
    """-> (what a says, [short replies of b])."""
    day, hour, meal, n, v = names.day(s), names.clock(s), s.pick(MEALS), np(s), verb_phrase(s)
    place = s.pick((lambda: "at the " + s.pick(names.PLACES_IN), lambda: s.pick(PLACE), lambda: "at " + s.pick(list(ENTITIES.values()))(s)))()
    return s.pick((
        lambda: (s.pick(["Do you have time for %s on %s?", "How about %s on %s?", "Shall we go for %s on %s?", "Are you free for %s on %s?"]) % (meal, day),
                 ["Yes, %s works for me!" % day, "Sounds good, see you on %s!" % day, "Sorry, I can't on %s." % day, "I would love to!", "Can we do it another day?", "What time?", "Let me check and tell you later.",
                  "Great idea, %s!" % a, "Maybe, I will let you know.", "Only if we go early."]),
        lambda: (s.pick(["We meet %s at %s.", "Let's meet %s at %s.", "See you %s at %s?", "Can you be %s at %s?"]) % (place, hour),
                 ["Great, see you at %s!" % hour, "OK, I will be there at %s." % hour, "Perfect, see you there!", "Can we make it a bit later?", "I may be a few minutes late.", "Sorry, I can't make it at %s." % hour,
                  "Shall I bring anything?", "Yes, %s is fine." % hour, "Thanks, %s, I will be there." % a, "Who else is coming?"]),
        lambda: (s.pick(["Can you %s?", "Could you please %s?", "Please %s.", "Would you %s?"]) % v,
                 ["Sure, I will do it.", "Of course!", "Yes, no problem.", "Sorry, I can't do that today.", "I will do it later.", "Done!", "Give me a minute.", "I have no time now, sorry.", "Why me?", "Can it wait until %s?" % s.pick(["tomorrow", "tonight"])]),
        lambda: (s.pick(["I passed my exam!", "I got the job!", "We won the match!", "We are having a baby!", "I finished %s!" % n, "They liked %s!" % n, "I found %s!" % n]),
                 ["Congratulations!", "That is great news, %s!" % a, "Wow, well done!", "I am so happy for you!", "We have to celebrate!", "I knew it!", "Amazing, tell me more!", "You deserve it!", "Great, when do we celebrate?"]),
        lambda: (s.pick(["I lost %s." % n, "I am ill today.", "My train was cancelled.", "I failed the exam.", "%s is broken again." % upper(n), "I had a terrible day.", "I did not get the job."]),
                 ["Oh no, I am sorry!", "I am sorry to hear that.", "Can I help you?", "That is bad luck, %s." % a, "Do you need anything?", "Poor you!", "Don't worry, it will be fine.", "What happened?", "Call me if you need help."]),
        lambda: (s.pick(["Thank you for %s!" % n, "Thanks for your help!", "Thank you so much!", "Thanks, you saved me!"]),
                 ["You are welcome!", "Any time!", "No problem, %s." % a, "It was a pleasure.", "Happy to help!", "Don't mention it.", "Glad that it helped!", "You owe me a coffee!"]),
        lambda: (s.pick(["Sorry, I will be late.", "I am running late, sorry!", "I will be there in %s minutes." % s.between(5, 40), "Traffic is terrible, I will be late."]),
                 ["No problem, see you soon!", "Don't worry.", "OK, I will wait.", "Take your time, %s." % a, "I am late too!", "Thanks for telling me.", "How late will you be?", "Shall we start without you?"]),
        lambda: (s.pick(["Where are you?", "Are you here yet?", "Are you on your way?", "How long will you take?"]),
                 ["I am on my way!", "Almost there!", "Sorry, I am late.", "I will be there in %s minutes." % s.pick("5 10 15 20".split()), "I am still at home.", "I am here already!", "I forgot, sorry!", "Just around the corner."]),
        lambda: (s.pick(["How are you?", "How was your day?", "How is it going?", "How was your weekend?"]),
                 ["Great, thanks! And you?", "Fine, thank you, %s." % a, "Not so good, to be honest.", "Busy, but good.", "Very well, and yours?", "A bit tired.", "It could be better.", "Wonderful, thanks for asking!"]),
        lambda: (s.pick(["Did you see %s?" % n, "Do you know where %s is?" % n, "Have you got %s?" % n, "Who has %s?" % n]),
                 ["Yes, I have it.", "No, sorry.", "I will have a look.", "Not yet.", "I think so, why?", "I gave it to you!", "Let me check.", "No idea, sorry %s." % a, "I thought you had it."]),
        lambda: (s.pick(["Good night!", "See you tomorrow!", "I have to go now.", "Talk to you later!", "Have a nice weekend!"]),
                 ["Good night, %s!" % a, "See you!", "Take care!", "Bye, %s!" % a, "Talk soon!", "Thanks, you too!", "Sleep well!", "Until next time!"]),
        lambda: (s.pick(["Happy birthday!", "Merry Christmas!", "Happy new year!", "All the best for your exam!", "Good luck for %s!" % day]),
                 ["Thank you, %s!" % a, "Thanks, that is so kind!", "Thank you so much!", "Thanks, you too!", "How nice of you!", "You remembered, thanks!"]),
    ))()


def conversation(s):
    """-> (the conversation's text, who replies, short replies that fit)."""
    a, b = names.given(s), names.given(s)
    while b == a:
        b = names.given(s)
    last, replies = situation(s, a, b)
    lines = []
    for i in range(s.rng.choices((0, 1, 2, 3), (3, 3, 3, 1))[0]):
        speaker = (b, a)[i % 2]
        lines.insert(0, "%s: %s" % (speaker, s.pick((lambda: s.pick(CHAT), lambda: s.pick(situation(s, b, a)[1]), lambda: s.pick(FILLERS), lambda: situation(s, b, a)[0], lambda: act(s)["neutral"]))()))
    if s.chance(0.15):
        last = s.pick(CHAT + ["Hi %s!" % b, "Hey!", "Hello %s," % b]) + " " + last
    return "\n".join(lines + ["%s: %s" % (a, last)]), b, replies
