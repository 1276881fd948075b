"""Messages and the sentence that says what each is about: what the adapter for short summaries learns.

A message is small talk, a matter, what belongs to it, and an end. What it asks for is the matter; if it asks for nothing, its first news is.
"""
from . import names
from .everyday import fill, sentence, upper

BEFORE = """Hi {given}!|Hello {given}.|Hi {given}, how are you?|Hey, how are you doing?|How are you?|I hope you are well.|I hope you are doing well.|I hope this email finds you well.|Good morning!|Good morning, everyone.
Hope all is well.|Hope you had a nice weekend.|I hope you had a great holiday.|Thank you for your message.|Thanks for your email.|Thanks for your call {past}.|It was great to see you {past}.|It was nice to meet you {past}.
I was just thinking of you.|Long time no see!|Sorry for the late answer.|I am sorry for the late reply.|Sorry to bother you again.|What a {quality} day!|The weather is {quality} here.|It's {quality} in {town} today.|I am on the train.
We are all fine here.|I'm fine, thanks.|Everything is fine here.|How was your {noun}?|I trust you are well.|It has been a while.|I just came back from {town}.|Happy new year!|Greetings from {town}!|Dear {given},|Guess what!|I have news.
Just a quick note.|I have a question.|I have a small request.|Great to hear from you.|Thank you so much for {np}.|I really liked {np}.|The {noun} {past} was {quality}.""".replace("\n", "|").split("|")
AFTER = """Thanks!|Thank you!|Thanks in advance.|Thank you in advance!|Thank you very much.|See you soon!|See you {when}.|Talk to you later.|All the best.|Best wishes.|Best regards, {given}.|Kind regards, {given}.|Take care!|Bye for now.|Cheers, {given}.
Let me know.|Let me know if you have any questions.|Call me if you need anything.|Have a nice day!|Have a great weekend!|Looking forward to hearing from you.|I look forward to your answer.|Greetings to {who}.|Say hello to {who}.|Yours, {given}.|That's all for now.
Sorry for the trouble.|No hurry.|It is not urgent.|Any time is fine.|Hugs and kisses.|Love, {given}.|Hope to see you soon.|Just let me know what you think.|You are the best!|I would really appreciate it.""".replace("\n", "|").split("|")
ASKED = """Can you {vp} {when}?|Could you please {vp}?|Could you {vp} {when}?|Please {vp} {when}.|Please {vp}.|Would you like to {vp} {when}?|Do you want to {vp} {when}?|Are you free {when}?|When can we {vp}?|Where is {the}?|When is {the}?
Do you know where {the} is?|Do you know when {the} starts?|Can I borrow {the} {when}?|Could we meet {place} {when}?|Shall we {vp} {when}?|Are you coming to {the} {when}?|What time does {the} start?|Who will {vp}?|Have you {vdone}?|Did you {vp}?
We would like to invite you to {the} {when}.|Let's {vp} {when}.|Don't forget to {vp} {when}.|I need {np} {when}.|We need {n} {plural} for {the}.|Would it be possible to {vp} {when}?|Could you tell me how much {the} costs?|How much is {the}?
I would like to book {the} for {n} people.|I want to return {the}.|Would you mind telling me when {the} is?|Can someone {vp}?|You need to {vp} {when}.|Please make sure that {cl}.|Could you let me know if {cl}?""".replace("\n", "|").split("|")
NEWS = """{The} is cancelled.|{The} was moved to {day} at {clock}.|{The} starts at {clock} on {day}.|I will be {n} minutes late.|I can't come to {the} {when}.|We can't {vp} {when}.|I found {np}.|I lost {np}.|{one} is ill.|{one} broke {np}.|I got the job!
We are moving to {town} {when}.|{The} has arrived.|{The} is broken.|{The} will be closed {when}.|The rent goes up to {money} {when}.|The price of {the} is now {money}.|The next {noun} is on {date}.|I passed my exam.|{one} has a new {noun}.|We bought a new {noun}.
I have sent you {np}.|Your {noun} is ready.|Your order will arrive {when}.|We have decided to {vp}.|I finished {np}.|There is a problem with {np}.|I will {vp} {when}.|We will meet {place} {when}.|{one} wants to {vp} {when}.|The password is now {digits}.
I have booked {the} for {when}.|There will be {mass} and {mass} at {the}.|{one} told me that {cl}.|The heating does not work.|We have no {mass} left.|I am going to {vp} {when}.|Dinner is at {clock}.|The new address is {n} {given} Street.""".replace("\n", "|").split("|")
MORE = """{The} is too {quality}.|{cl}.|The old one is {quality}.|It is {place}.|It is for {who}.|It takes about {n} minutes.|I will bring {np}.|{one} will be there too.|The others know already.|It costs {money}.|We start at {clock}.|I still have {np}.
You can park {place}.|I tried to call you {past}.|The door is open.|{one} said that {cl}.|Unfortunately, {cl}.|It will be {quality}.|There are {n} of us.|It is my favourite {noun}.|I think {cl}.|My number is {digits}.|I have to {vp} first.|We haven't {vdone} yet.""".replace("\n", "|").split("|")


def message(s):
    """-> (the message's sentences, which one says what it is about)."""
    def some(frames, most):
        return [upper(fill(s, s.pick(frames))) for _ in range(s.between(0, most))]
    asked = s.chance(0.55)
    matter = upper(fill(s, s.pick(ASKED if asked else NEWS)))
    before, after = some(BEFORE, 3), some(AFTER, 2)
    if asked and s.chance(0.4):
        before += some(NEWS if s.chance(0.5) else MORE, 2)
    elif asked and s.chance(0.2):
        before.append(sentence(s, ["{one} {vpast} {past}.", "{I} {vpast} {past}."]))
    more = some(MORE, 3)
    if s.chance(0.2):
        matter = "Hi %s, %s" % (names.given(s), matter[0].lower() + matter[1:] if not matter.startswith("I ") else matter)
    lines = before + [matter] + more + after
    return (lines, len(before)) if len(lines) > 1 else message(s)
