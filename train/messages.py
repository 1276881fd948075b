"""Conversations and short replies: what the adapter for replies of adapters.py learns."""
from . import names
from .attributes import ENTITIES
from .everyday import sentence, upper
from .passages import FILLERS
from .tasks import CHAT, strange, thing

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
        lines.insert(0, "%s: %s" % (speaker, s.pick((lambda: s.pick(CHAT), lambda: s.pick(situation(s, b, a)[1]), lambda: s.pick(FILLERS), lambda: situation(s, b, a)[0], lambda: sentence(s)))()))
    if s.chance(0.15):
        last = s.pick(CHAT + ["Hi %s!" % b, "Hey!", "Hello %s," % b]) + " " + last
    return "\n".join(lines + ["%s: %s" % (a, last)]), b, replies
