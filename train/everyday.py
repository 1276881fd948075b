"""Sentences of everyday messages, from a small grammar: what corrections, tones and summaries are taught on.

A frame is a text with slots in braces; a slot is a list of texts, with slots of their own, or a function of the source. Words are ordinary
ones, so that what an adapter learns is the task and not the words.
"""
import re

from . import names

NOUN = ("report,invoice,letter,contract,draft,plan,list,form,key,ticket,book,parcel,file,document,recipe,password,address,schedule,budget,bill,receipt,order,"
        "summary,agenda,link,code,card,laptop,charger,umbrella,bag,door,window,dog,cat,car,bike,room,table,meeting,party,trip,project,dinner,exam,concert,game,house,"
        "garden,kitchen,office,presentation,interview,wedding,match,delivery,printer,heating,rent,appointment,phone,camera,chair,sofa,lamp,fridge,oven,washing machine,"
        "bus,train,flight,hotel,restaurant,shop,museum,library,school,bank,film,song,photo,cake,pizza,present,shirt,jacket,coat,computer,screen,email,message,call,"
        "website,app,account,deadline,course,lesson,class,report,picture,box,suitcase,passport,story,question,answer,idea,problem,job,holiday,birthday,lunch,breakfast,"
        "menu,ladder,tent,boat,football,guitar,piano,newspaper,garage,roof,lift,light,shower,kettle").split(",")
PLURAL = ("slides,photos,notes,keys,tickets,books,files,documents,results,flowers,shoes,glasses,plants,kids,children,neighbours,students,friends,guests,windows,lights,"
          "trains,shops,boxes,cups,plates,chairs,letters,emails,messages,bikes,cookies,apples,tomatoes,potatoes,eggs,batteries,towels,curtains,dogs,cats,parents,"
          "colleagues,minutes of the meeting,holidays,plans,pictures,songs,questions,answers,instructions,prices,numbers").split(",")
MASS = "milk,bread,butter,cheese,coffee,tea,water,rice,sugar,soup,music,money,paper,furniture,luggage,advice,information,homework,food,juice,snow,rain,work,time".split(",")
QUALITY = ("good,great,nice,lovely,beautiful,interesting,boring,difficult,easy,expensive,cheap,new,old,big,small,important,strange,wonderful,terrible,delicious,cold,hot,"
           "warm,loud,quiet,dirty,clean,full,empty,late,early,broken,ready,free,busy,tired,happy,sad,sick,hungry,funny,comfortable,perfect,different,special,useful,"
           "dangerous,safe,heavy,fresh,open,closed,wrong,right,long,short,slow,fast").split(",")
PEOPLE = ("my mother,my father,my sister,my brother,my boss,my friend,my husband,my wife,my son,my daughter,my aunt,my uncle,my cousin,my neighbour,my teacher,the landlord,the "
          "doctor,your sister,your brother,your mother,our teacher,the manager,the neighbour,a friend,a colleague,my colleague,the new colleague,the customer").split(",")
GROUPS = "the neighbours,the children,my parents,the kids,the students,the guests,your friends,our friends,the others,my colleagues,most people,they,the teachers".split(",")
PLACE = ("at the station,at home,in the office,in the kitchen,at the entrance,on the table,at school,in the garden,at the airport,downstairs,outside,at my place,at the market,"
         "in front of the house,in the car,at work,in the city,at the hotel,next to the bank,near the river,in the library,at the bus stop,in the park,on the train,at the party,"
         "in the living room,behind the garage,at the restaurant,in the basement,at the doctor's,upstairs,by the window").split(",")
WHEN = ("today,tomorrow,tonight,this evening,next week,this weekend,before noon,after lunch,in the morning,as soon as possible,right now,later,before the meeting,by the end of "
        "the week,in an hour,at the weekend,this afternoon,next month,after work,in the evening,on {day},on {day} morning,at {clock},on {day} at {clock},by {day},before {clock},"
        "in {n} minutes,in {n} days,until {day},on {date}").split(",")
PAST = "yesterday,last night,last week,this morning,last year,two days ago,on {day},an hour ago,last month,last {day},a few minutes ago,at the weekend".split(",")
OFTEN = "always,often,usually,never,sometimes,really".split(",")

# Base form, form after he, past, form after have, and what may follow.
VERBS = """go goes went gone: to {the}|home|{place}|there|to bed|shopping|swimming
send sends sent sent: {who} {np}|{np} to {who}|{np}
bring brings brought brought: {np}|{who} {np}|{mass}
call calls called called: {who}|{who} back|a taxi
tell tells told told: {who} about {np}|{who} everything|{who} the truth
check checks checked checked: {np}|{np} again
read reads read read: {np}|{np} twice
sign signs signed signed: {np}
finish finishes finished finished: {np}|my homework
return returns returned returned: {np}
clean cleans cleaned cleaned: {np}|the kitchen|the windows
print prints printed printed: {np}|two copies of {np}
find finds found found: {np}|{np} {place}|a solution
open opens opened opened: {np}|the window
close closes closed closed: {np}|the door
book books booked booked: a table for {n} people|{np}|a room|two tickets
cancel cancels cancelled cancelled: {np}|the meeting|our order
buy buys bought bought: {np}|some {mass}|a new {noun}|{n} tickets
sell sells sold sold: {np}|my old {noun}
pay pays paid paid: for {np}|{money} for {np}|the bill
pick picks picked picked: up {np}|up the kids|{who} up {place}
take takes took taken: {np}|the bus|{np} to {who}|a photo of {np}|the train to {town}
write writes wrote written: {np}|a letter to {who}|to {who}
change changes changed changed: {np}|the date|my password
prepare prepares prepared prepared: {np}|dinner|breakfast
show shows showed shown: {who} {np}|{np} to {who}
paint paints painted painted: {np}|the wall
repair repairs repaired repaired: {np}
order orders ordered ordered: {np}|a pizza|some {mass}
help helps helped helped: {who} with {np}|{who}|me
meet meets met met: {who} {place}|{who}|our friends
come comes came come: to {the}|back|home|with us|over
stay stays stayed stayed: {place}|at home|with {who}|in {town}
wait waits waited waited: {place}|for {who}|for {np}
answer answers answered answered: {who}|my question|the phone
give gives gave given: {who} {np}|{np} to {who}
leave leaves left left: {np} {place}|the house|work early
talk talks talked talked: to {who} about {np}|to {who}|about {np}
forget forgets forgot forgotten: {np}|about {np}|my keys
lose loses lost lost: {np}|my keys
make makes made made: a cake|dinner|a mistake|some {mass}|{np}
see sees saw seen: {who} {place}|{np}|{who}
know knows knew known: {who}|{np}|the answer
like likes liked liked: {np}|your idea|the {noun}
need needs needed needed: {np}|your help|more time|some {mass}
want wants wanted wanted: {np}|a new {noun}|to {vp}
watch watches watched watched: a film|{np}|the match
eat eats ate eaten: {np}|pizza|lunch {place}
drink drinks drank drunk: {mass}|a cup of coffee
cook cooks cooked cooked: dinner|{mass}|for {who}
learn learns learned learned: English|to swim|a lot|French
teach teaches taught taught: English|{who}|at my school
work works worked worked: {place}|late|with {who}|on {np}
live lives lived lived: in {town}|{place}|next to us
think thinks thought thought: about {np}|about it
hear hears heard heard: about {np}|the news|{who} {place}
move moves moved moved: to {town}|{np}|the meeting to {day}
start starts started started: {np}|a new job|early
try tries tried tried: {np}|to {vp}|the soup
ask asks asked asked: {who} about {np}|{who}|a question
use uses used used: {np}|your {noun}
play plays played played: football|{place}|the piano|chess
visit visits visited visited: {who}|{town}|the museum
plan plans planned planned: {np}|a trip to {town}
remember remembers remembered remembered: {who}|{np}|your name
invite invites invited invited: {who}|{who} to the party|everyone
fix fixes fixed fixed: {np}
share shares shared shared: {np} with {who}|the link
update updates updated updated: {np}|the list
review reviews reviewed reviewed: {np}
water waters watered watered: the plants
feed feeds fed fed: the cat|the dog
walk walks walked walked: the dog|home|to {the}
turn turns turned turned: off the lights|on the heating|down the music
look looks looked looked: at {np}|for {np}|after {who}
join joins joined joined: us {place}|the call|the meeting
explain explains explained explained: {np} to {who}|the problem
park parks parked parked: {place}|the car {place}
drive drives drove driven: to {town}|{who} home
fly flies flew flown: to {town}
speak speaks spoke spoken: to {who}|English
choose chooses chose chosen: {np}
hold holds held held: the meeting {place}|the door
keep keeps kept kept: {np}|the receipt
run runs ran run: {place}|out of {mass}
sleep sleeps slept slept: {place}|badly|well
wear wears wore worn: a jacket|{np}
break breaks broke broken: {np}|the window
lend lends lent lent: {who} {np}|me your {noun}"""
BASE, THIRD, PASTS, DONE, FOLLOWS = [], [], [], [], []
for _line in VERBS.split("\n"):
    _forms, _rest = _line.split(": ")
    for _list, _form in zip((BASE, THIRD, PASTS, DONE), _forms.split(" ")):
        _list.append(_form)
    FOLLOWS.append(_rest.split("|"))

FRAMES = """{I} will {vp} {when}.
{I} will {vp}.
{I} have to {vp} {when}.
{I} want to {vp}.
I am going to {vp} {when}.
I would like to {vp}.
I can't {vp} {when}.
I can't {vp}, because {cl}.
I don't {vp}.
I didn't {vp} {past}.
We didn't {vp}.
{one} doesn't {vp}.
{one} didn't {vp} {past}.
{I} {vpast} {past}.
{one} {vpast} {past}.
{many} {vpast} {past}.
{I} have {vdone}.
{one} has {vdone}.
{many} have {vdone}.
{one} {vthird}.
{one} {often} {vthird}.
{many} {vp} every day.
{I} {often} {vp}.
{The} is {quality}.
{The} is too {quality}.
{The} is very {quality} and {quality}.
{The} was {quality} {past}.
{Thes} are {quality}.
{Thes} were {quality} {past}.
{Thes} are not {quality}.
{one} is {quality}.
{one} was {place} {past}.
{many} are {place}.
{many} were {quality}.
You were right about {np}.
There is a {noun} {place}.
There are {n} {plural} {place}.
There is no {mass} left.
There are too many {plural} {place}.
There was a problem with {np}.
It is {quality} {place}.
It's {quality}, isn't it?
It's too {quality} to {vp}.
It is an {vowel}.
It was a {quality} {noun}.
This is an {vowel}.
This is my favourite {noun}.
That's a {quality} idea!
I think that {cl}.
I think {cl}.
I hope {cl}.
I hope you are well.
I know that {cl}.
I heard that {cl}.
I am sure that {cl}.
I'm sorry, but I can't {vp} {when}.
I'm sorry that {cl}.
Sorry, I forgot to {vp}.
I am sorry for the late answer.
I don't know where {the} is.
I don't know if {cl}.
I don't have any {mass}.
I haven't seen {who} for weeks.
I have been {place} since {day}.
I was {place} when {one} {vpast}.
If you have time, we could {vp}.
If it rains, we will {vp}.
When {one} {vthird}, I will {vp}.
Before I {vp}, I have to {vp}.
{cl}, but {cl}.
{cl}, so {cl}.
{cl} and {cl}.
{cl} because {cl}.
Please {vp}.
Please {vp} {when}.
Please don't {vp}.
Please let me know if {cl}.
Let me know when you {vp}.
Don't forget to {vp}.
Remember to {vp} {when}!
Let's {vp} {when}.
Let's meet {place} {when}.
Can you {vp}?
Can you please {vp} {when}?
Could you {vp}?
Could you please tell me where {the} is?
Could you tell me when {the} starts?
Would you like to {vp}?
Do you want to {vp} {when}?
Do you know where {the} is?
Do you have a {noun} for me?
Did you {vp} {past}?
Did you see {who} {place}?
Have you {vdone}?
Has {one} {vdone}?
Does {one} {vp}?
Does {one} know about {np}?
Is {the} {quality}?
Are {thes} {quality}?
Are you coming to {the} {when}?
Are you free {when}?
Were you {place} {past}?
What are you doing {when}?
What time does {the} start?
What do you think about {np}?
Where did you {vp}?
Where is {np}?
Where are {thes}?
When can we {vp}?
When is {the}?
When are you going to {vp}?
Why is {the} so {quality}?
Why did {one} {vp}?
Who wants to {vp}?
How much is {the}?
How many {plural} do we need?
How many people are coming to {the}?
How was {the}?
Which {noun} do you like?
Thank you for {np}.
Thank you very much for your help with {np}.
Thanks for {np}!
Thanks, {given}, that was {quality}.
Thank you for your message.
Hi {given}, {lc}
Hello {given}, {lc}
Dear {given}, {lc}
{given}, {lc}
Hi {given}, how are you?
Hi {given}, how was your {noun}?
Happy birthday, {given}!
Congratulations on your new {noun}!
Good luck with {np}!
See you {when}!
See you {place} {when}.
I am looking forward to {the}.
I am looking forward to hearing from you.
We are looking forward to seeing you {when}.
I am writing about {np}.
I can come {when}, but not {when}.
I will be there {when}.
I will be {n} minutes late.
I'll call you {when}.
I'll be back {when}.
I've lost {np}.
I'm on my way.
I'm at home.
I'm tired and hungry.
We're {place}.
We're going to {town} {when}.
You're late again.
You're welcome to {vp}.
They're going to {vp} {when}.
Their {noun} is {quality}.
Your {noun} is {place}.
Is your {noun} {quality}?
{one} is older than {who}.
The {noun} is better than {the}.
My {noun} is more {quality} than yours.
It is one of the best {plural} in {town}.
{I} should have {vdone}.
You could have {vdone}.
I could not {vp} {past}.
{one} told me that {cl}.
{one} asked me to {vp}.
{one} said that {cl}.
Everyone was {quality}, and then we {vpast}.
The {noun} costs {money}.
The {noun} that I bought {past} is {quality}.
The {noun} starts at {clock}.
The train leaves at {clock}.
My phone number is {digits}.
It's my birthday {when}.
We have a lot of {mass}.
We have too much {mass} and too many {plural}.
I've got a question about {np}.
I used to {vp} every day.
It depends on {the}.
It doesn't work.
It has been {quality} all day.
Nobody knows where {the} is.
Everybody likes {the}.
Something is wrong with {np}.
Are there any {plural} left?
I'd rather {vp}.
Anyway, {cl}.
Unfortunately, {cl}.
By the way, {cl}.
Of course, {cl}.
Maybe we can {vp} {when}.
No, thanks, I don't need {np}.
Yes, {cl}.
OK, see you {when}.""".split("\n")
CLAUSES = """{I} will {vp}
{I} have to {vp}
{I} can {vp} {when}
{I} can't {vp}
{one} {vthird}
{one} {vpast}
{one} wants to {vp}
{many} are {quality}
{many} have {vdone}
{I} {vpast}
{the} is {quality}
{the} was too {quality}
{thes} are {quality}
it is {quality}
it was {quality}
there is no {mass}
there are {n} {plural}
you have {vdone}
you are {quality}
you can {vp}
we should {vp}
it doesn't work
I am {quality}
I don't have time
she is {place}
he was {place}
they were {quality}""".split("\n")
VOWEL = "easy question,old house,interesting book,email from {given},important meeting,apple,empty box,office,hour too early,idea,exam,orange jacket,answer,open door,umbrella".split(",")


def upper(text):
    return text[0].upper() + text[1:]


def _verb(forms):
    def draw(s):
        i = s.between(0, len(BASE) - 1)
        return forms[i] + " " + s.pick(FOLLOWS[i])
    return draw


SLOTS = {
    "vp": _verb(BASE), "vthird": _verb(THIRD), "vpast": _verb(PASTS), "vdone": _verb(DONE),
    "noun": NOUN, "plural": PLURAL, "mass": MASS, "quality": QUALITY, "place": PLACE, "when": WHEN, "past": PAST, "often": OFTEN, "vowel": VOWEL,
    "the": lambda s: s.pick(("the", "the", "my", "your", "our", "this")) + " " + s.pick(NOUN), "thes": lambda s: s.pick(("the", "the", "my", "your", "these")) + " " + s.pick(PLURAL),
    "The": lambda s: upper(SLOTS["the"](s)), "Thes": lambda s: upper(SLOTS["thes"](s)),
    "np": lambda s: s.pick(("{the}", "{the}", "{the}", "{thes}", "the {quality} {noun}", "{given}'s {noun}", "the {noun} for {who}", "the {noun} of {person}", "the {noun} on {day}", "it"))
    if not s.chance(0.03) else names.name(s),
    "who": lambda s: s.pick(("me", "us", "him", "her", "them", "you", "everyone", "{given}", "{given}", "{person}") + tuple(PEOPLE[:12])),
    "one": lambda s: s.pick(("he", "she", "{given}", "{given}", "{person}", "he", "she") + tuple(PEOPLE)), "many": lambda s: s.pick(GROUPS),
    "I": ["I", "I", "I", "we"], "given": names.given, "person": names.person, "town": names.town, "day": names.day, "clock": names.clock, "date": names.date, "money": names.money,
    "n": lambda s: s.pick(("two", "three", "four", "five", "six", "ten", "20", "30")) if s.chance(0.6) else str(s.between(2, 60)),
    "digits": lambda s: "".join(str(s.between(0, 9)) for _ in range(s.between(4, 8))), "cl": CLAUSES, "lc": lambda s: lower(sentence(s)),
}


def fill(s, text):
    """text with its slots filled."""
    def slot(m):
        of = SLOTS[m[1]]
        return fill(s, of(s) if callable(of) else s.pick(of))
    return re.sub(r"\{(\w+)\}", slot, text)


KEEP = set(names.GIVEN) | set(names.DAYS) | {"I", "I'm", "I'll", "I'd", "I've", "OK"}


def lower(text):
    """A sentence after a greeting: its first word has no capital unless it is a name."""
    first = re.match(r"[\w']*", text)[0]
    return text if first in KEEP or first.removesuffix("'s") in KEEP or len(text) > 1 and text.split(" ")[1][:1].isupper() else text[:1].lower() + text[1:]


def sentence(s, frames=FRAMES):
    return upper(fill(s, s.pick(frames)))
