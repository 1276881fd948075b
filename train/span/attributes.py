"""What can be said of things, and how people write it and ask for it."""
import random
import zlib

from . import values as v

# categories: p place, h home, d device, o organisation, n person, e event, j project, c course, t trip, l lease or contract, a animal, g product
# value | categories | labels | questions | statements ({e}: the thing, {v}: the value, {l}: the label)
TABLE = """
time|pe|opening time;opens;open from;opens at;doors open|when does {e} open;what time does {e} open;how early can I get into {e};opening time of {e};{e} opens when;since what time is {e} open|{e} opens at {v};{e} is open from {v};doors of {e} open at {v}
time|pe|closing time;closes;closes at;open until;last entry|when does {e} close;what time does {e} shut;until when is {e} open;how late is {e} open;closing time {e};how long can I stay at {e}|{e} closes at {v};{e} shuts at {v};{e} is open until {v}
hours|p|opening hours;hours;open;business hours;Öffnungszeiten|what are the opening hours of {e};when is {e} open;hours of {e};{e} opening times|{e} is open {v};opening hours of {e} are {v}
time|e|start;begins;starts;starts at;start time;kick-off;time|when does {e} start;what time does {e} begin;at what time is {e};start of {e};{e} starts when|{e} starts at {v};{e} begins at {v};the start of {e} is {v}
time|e|end;ends;ends at;finish|when does {e} end;what time is {e} over;when will {e} be finished;until when does {e} last|{e} ends at {v};{e} is over at {v}
date|ejlc|date;day;on;when;scheduled for|when is {e};what date is {e};on which day is {e};date of {e};what day does {e} take place|{e} is on {v};{e} takes place on {v};{e} will be held on {v};the date of {e} is {v}
date|jlco|deadline;due;due date;due by;submit by|when is {e} due;what is the deadline of {e};by when must {e} be ready;until when do I have time for {e};due date {e}|{e} is due on {v};the deadline for {e} is {v};{e} must be finished by {v}
date|l|valid until;expires;expiry date;ends on;runs until;end of term|when does {e} expire;until when is {e} valid;how long is {e} valid;when does {e} run out;expiry of {e}|{e} expires on {v};{e} is valid until {v};{e} runs until {v}
date|ldno|valid from;starts on;start date;since;from;begins on|since when is {e} valid;when does {e} start;from which date does {e} run;start date {e}|{e} starts on {v};{e} has run since {v};{e} is valid from {v}
date|hdp|next inspection;inspection;next check;next service;service due|when is the next inspection of {e};when will {e} be checked;inspection date of {e};when is {e} serviced next|{e} will be inspected on {v};the next inspection of {e} is on {v}
date|hdp|last inspection;last service;last checked;last cleaned|when was {e} last inspected;when did someone check {e} last;last service of {e}|{e} was last checked on {v};the last inspection of {e} was on {v}
date|n|birthday;born;born on;date of birth;DOB|when is {e}'s birthday;when was {e} born;birth date of {e};what is the date of birth of {e}|{e} was born on {v};{e}'s birthday is {v}
year|opgj|founded;established;since;built;founding year|when was {e} founded;in what year was {e} established;how old is {e};when was {e} built;founding year of {e}|{e} was founded in {v};{e} was established in {v};{e} was built in {v}
date|jgo|launch;release date;released;go-live;published|when was {e} released;when does {e} come out;launch date of {e};when does {e} go live|{e} was released on {v};{e} goes live on {v};the launch of {e} is planned for {v}
day|hpco|collection day;bin day;weekly meeting;market day;day off;cleaning day|which day is the {l} of {e};when is the {l} at {e};{l} {e};what day is {l}|the {l} of {e} is {v};at {e} the {l} is {v}
person|pohjcd|manager;run by;responsible;contact person;in charge;head;contact;coordinator;lead;owner|who is the {l} of {e};who runs {e};who is responsible for {e};who is in charge of {e};who do I talk to about {e};contact for {e}|{e} is run by {v};{v} is responsible for {e};{v} is in charge of {e};{v} manages {e};the {l} of {e} is {v}
person|hl|landlord;landlady;owner;let by;property manager|who owns {e};who is the landlord of {e};whose is {e};who rents out {e}|{e} belongs to {v};{v} owns {e};the owner of {e} is {v}
person|hl|tenant;rented to;rented by;occupant|who lives in {e};who rents {e};tenant of {e};who is the tenant of {e}|{v} rents {e};{v} lives in {e};{e} is rented to {v}
person|cej|teacher;taught by;instructor;trainer;speaker;lecturer;presented by;host|who teaches {e};who gives {e};who is the instructor of {e};teacher of {e};who speaks at {e}|{v} teaches {e};{e} is taught by {v};the {l} of {e} is {v};{v} gives {e}
person|gjo|author;written by;designer;designed by;maintainer;inventor;developed by|who wrote {e};who designed {e};who made {e};author of {e};who developed {e}|{v} wrote {e};{e} was designed by {v};{e} was developed by {v}
person|o|founder;founded by;set up by|who founded {e};who started {e};founder of {e};who set up {e}|{v} founded {e};{e} was founded by {v}
person|o|director;CEO;president;chair;chairwoman;head of the company;managing director|who is the {l} of {e};who leads {e};who heads {e};who is the boss of {e}|{v} is the {l} of {e};{e} is headed by {v};{v} leads {e}
person|h|plumber;electrician;cleaner;gardener;caretaker;locksmith;chimney sweep;handyman|who is the {l} of {e};what is the {l} called;{l} {e};who do I call as {l} for {e};name of the {l}|the {l} of {e} is {v};{v} is the {l} of {e};as {l} call {v}
person|a|owner;vet;belongs to;keeper|whose is {e};who is the {l} of {e};who does {e} belong to;who looks after {e}|{e} belongs to {v};the {l} of {e} is {v}
person|n|doctor;dentist;emergency contact;supervisor;manager;reports to;assistant;deputy;spouse;mentor|who is {e}'s {l};who is the {l} of {e};{l} of {e};name of {e}'s {l}|{e}'s {l} is {v};the {l} of {e} is {v};{v} is {e}'s {l}
code|hpd|wifi password;wi-fi password;WLAN password;network key;wifi key;Wifi PW|what is the wifi password of {e};wifi password {e};how do I get into the wifi at {e};what is the network password at {e};internet password {e}|the {l} of {e} is {v};at {e} the {l} is {v};the {l} for {e} is {v}
code|hpd|wifi name;network name;SSID;network|what is the wifi called at {e};network name of {e};which wifi do I use at {e};ssid {e}|the {l} of {e} is {v};the wifi at {e} is called {v}
code|hpd|door code;entry code;gate code;PIN;access code;key code;lock code|what is the door code of {e};how do I get into {e};code for the door of {e};which code opens {e};{l} {e}|the {l} of {e} is {v};{e} opens with {v};use {v} as {l} of {e}
code|hpd|alarm code;alarm;code of the alarm;alarm PIN|what is the alarm code of {e};how do I turn off the alarm at {e};alarm {e}|the {l} of {e} is {v};the alarm at {e} is switched off with {v}
code|dgl|serial number;serial no.;S/N;serial|what is the serial number of {e};serial number {e};which serial number does {e} have|the {l} of {e} is {v};{e} has the {l} {v}
code|lgt|order number;booking reference;reference;invoice number;contract number;customer number;reference no.;confirmation code;ticket number|what is the {l} of {e};{l} {e};which {l} does {e} have;under which number is {e} booked|the {l} of {e} is {v};{e} has the {l} {v};{e} is booked under {v}
code|nco|username;login;user name;account;user ID;member number;employee ID|what is the {l} of {e};{l} {e};how does {e} log in;which {l} does {e} use|the {l} of {e} is {v};{e} logs in as {v}
code|nlo|IBAN;account number;tax number;VAT number;insurance number;licence plate;policy number|what is the {l} of {e};{l} {e};which {l} has {e}|the {l} of {e} is {v};{e} has the {l} {v}
code|dgj|model;type;part number;article number;item no.;SKU|which model is {e};what {l} does {e} have;{l} of {e};model {e}|{e} is a {v};the {l} of {e} is {v}
phone|pohnhd|phone;phone number;tel.;telephone;mobile;Tel;call;hotline;cell|what is the phone number of {e};how can I call {e};number of {e};what number does {e} have;telephone {e};{e} phone|the phone number of {e} is {v};{e} can be reached at {v};call {e} on {v}
mail|pon|e-mail;email;mail;contact address;E-Mail|what is the email of {e};where can I write to {e};mail address of {e};e-mail {e};what is {e}'s e-mail address|write to {e} at {v};the e-mail address of {e} is {v}
url|poejg|website;web;homepage;link;URL;more information|what is the website of {e};where do I find {e} online;web address of {e};link to {e};url {e}|the website of {e} is {v};{e} is found at {v};see {v} for {e}
address|ponh|address;where;located at;location;street|where is {e};what is the address of {e};where do I find {e};address {e};in which street is {e}|{e} is at {v};the address of {e} is {v};you find {e} at {v}
place|ejcg|place;venue;location;where;takes place in;meeting point|where is {e};where does {e} take place;venue of {e};what is the meeting point of {e};location {e};where do we meet for {e}|{e} takes place at {v};{e} is at {v};the venue of {e} is {v}
room|cenj|room;office;desk;hall;classroom|in which room is {e};which room is {e} in;room of {e};where is {e};where do I find {e}|{e} is in {v};you find {e} in {v};the {l} of {e} is {v}
spot|hdga|key;spare key;manual;fuse box;stop tap;water meter;first-aid kit;remote;food;charger|where is the {l} of {e};where do I find the {l} for {e};{l} {e} where;where is the {l} kept|the {l} of {e} is {v};the {l} for {e} hangs {v};you find the {l} of {e} {v}
town|onp|city;town;lives in;based in;headquarters;seat|where does {e} live;where is {e} based;in which city is {e};what town is {e} in;headquarters of {e}|{e} is based in {v};{e} lives in {v};the headquarters of {e} are in {v}
town|t|from;departs from;departure;leaves from|where does {e} start;from where does {e} leave;departure of {e};where does {e} leave from|{e} leaves from {v};{e} starts in {v}
town|t|to;destination;arrives in;arrival|where does {e} go;what is the destination of {e};where does {e} arrive;where to {e}|{e} goes to {v};{e} arrives in {v};the destination of {e} is {v}
time|t|departure;departs;leaves at;dep.|when does {e} leave;what time does {e} depart;departure time of {e};when do we leave on {e}|{e} leaves at {v};{e} departs at {v}
time|t|arrival;arrives;arrives at;arr.|when does {e} arrive;what time does {e} get there;arrival time {e};when are we there with {e}|{e} arrives at {v};{e} gets in at {v}
room|t|platform;gate;seat;coach;bay|which {l} does {e} leave from;{l} of {e};what {l} for {e}|{e} leaves from {l} {v};the {l} of {e} is {v}
price|pecgtd|price;cost;costs;fee;ticket;admission;entry;ticket price;Preis;charge|how much is {e};what does {e} cost;price of {e};how much do I pay for {e};what is the fee for {e};how expensive is {e};{e} price|{e} costs {v};the price of {e} is {v};you pay {v} for {e};admission to {e} is {v}
price|hl|rent;monthly rent;rent per month;Miete;cold rent|how much is the rent of {e};what do I pay a month for {e};what is the rent for {e};rent {e}|the rent of {e} is {v};{e} rents for {v};the monthly rent for {e} comes to {v}
price|hlet|deposit;security deposit;down payment;Kaution|how much is the deposit for {e};what deposit do I pay for {e};deposit {e};how high is the deposit of {e}|the deposit for {e} is {v};a deposit of {v} is due for {e}
price|jeol|budget;total;total cost;amount;sum;grant;estimate|what is the budget of {e};how much money is there for {e};how much does {e} cost in total;total of {e};how big is the budget for {e}|the budget of {e} is {v};{e} may cost {v};{e} has a budget of {v}
price|lgt|late fee;cancellation fee;shipping;delivery charge;discount;tax;VAT;surcharge|how much is the {l} for {e};what is the {l} of {e};{l} {e}|the {l} for {e} is {v};for {e} a {l} of {v} applies
price|nj|salary;hourly rate;daily rate;pay;wage;fee|how much does {e} earn;what is {e}'s {l};{l} of {e};what do we pay {e}|{e} earns {v};the {l} of {e} is {v}
number|pec|seats;capacity;number of seats;places;max. participants;max people|how many people fit into {e};how many seats does {e} have;capacity of {e};how big is {e};how many can take part in {e}|{e} has {v} seats;{e} holds {v} people;{e} takes {v} participants
number|oejc|members;staff;employees;participants;attendees;guests;registrations|how many {l} does {e} have;how many people are in {e};number of {l} of {e};how many signed up for {e}|{e} has {v} {l};{v} people belong to {e};there are {v} {l} at {e}
number|hp|rooms;bedrooms;floors;beds;parking spaces;toilets|how many {l} does {e} have;number of {l} in {e};{l} {e};how many {l} are there at {e}|{e} has {v} {l};there are {v} {l} in {e}
number|gd|quantity;in stock;stock;copies;pieces;left;ordered|how many {e} are there;how many {e} do we have;how many of {e} are left;stock of {e};quantity {e}|there are {v} of {e};we have {v} pieces of {e};{v} {e} are in stock
measure|hpdga|size;weight;length;height;width;area;depth;volume;power;range|what is the {l} of {e};{l} of {e};what {l} does {e} have;how big is {e};{l} {e}|the {l} of {e} is {v};{e} has a {l} of {v}
measure|hd|temperature;set to;target temperature;limit;maximum load;max. load;pressure|what is the {l} of {e};what is {e} set to;{l} {e};how high is the {l} of {e}|the {l} of {e} is {v};{e} is set to {v}
duration|ectjg|duration;length;takes;lasts;time needed|how long is {e};how long does {e} take;how long does {e} last;duration of {e};how much time does {e} need|{e} takes {v};{e} lasts {v};the duration of {e} is {v}
duration|lgo|notice period;warranty;guarantee;delivery time;return period;waiting time;processing time;payment term;trial period|how long is the {l} of {e};what is the {l} for {e};{l} {e};how much {l} do I have with {e}|the {l} of {e} is {v};{e} has a {l} of {v}
duration|lo|every;interval;repeats;how often;frequency|how often is {e};at which interval is {e};how often does {e} happen;{e} every how long|{e} repeats every {v};the interval of {e} is {v}
version|jgd|version;current version;release;firmware;latest version;software version|which version of {e} is current;what version does {e} have;version of {e};latest {e} version;what firmware runs on {e}|{e} runs version {v};the {l} of {e} is {v};{e} is at version {v}
status|jelgd|status;state;condition;Stand|what is the status of {e};what is the state of {e};is {e} done;status {e};how is {e} going|{e} is {v};the status of {e} is {v}
colour|hdga|colour;color;paint;Farbe|what colour is {e};which color does {e} have;colour of {e};{e} color|{e} is {v};the colour of {e} is {v};{e} is painted {v}
language|cegn|language;languages;spoken;Sprache;taught in|in which language is {e};what language does {e} use;language of {e}|{e} is in {v};the language of {e} is {v}
items|eth|bring;what to bring;equipment;included;contains;needed;supplies;menu|what do I have to bring to {e};what is needed for {e};what does {e} include;what should we take to {e}|for {e} bring {v};{e} includes {v};you need {v} for {e}
thing|ahdn|breed;food;hobby;gift;favourite;wish;battery;filter;fuel|what {l} does {e} have;what is the {l} of {e};{l} of {e};which {l} for {e}|the {l} of {e} is {v};{e} has the {l} {v}
reason|ejpg|reason;cancelled because;because;note;why|why was {e} cancelled;why is {e} closed;what is the reason for {e};why was {e} moved|{e} was cancelled because {v};{e} is closed because {v};{e} was moved because {v}
team|jceo|team;members;attendees;present;participants;organisers;working group|who is in {e};who takes part in {e};who is on the team of {e};members of {e};who attended {e}|{v} are in {e};{e} consists of {v};present at {e} were {v}
path|jd|path;folder;config file;log file;directory;location of the log|where is the {l} of {e};what is the {l} of {e};{l} {e};in which file is {e}|the {l} of {e} is {v};{e} writes to {v};you find {e} in {v}
flag|jd|debug;caching;auto-update;logging;backup;notifications;dark mode;sync|is {l} on for {e};what is {l} set to in {e};{l} {e};is {l} enabled in {e}|{l} is {v} in {e};{e} has {l} set to {v}
number|dj|port;timeout;max connections;retries;workers;page size;limit|what is the {l} of {e};which {l} does {e} use;{l} {e};what is {l} set to for {e}|the {l} of {e} is {v};{e} uses {l} {v}
role|n|role;position;job;function;title;department;works as|what does {e} do;what is {e}'s job;which role does {e} have;what position does {e} hold;{l} of {e};what is {e} responsible for|{e} works as {v};{e} is our {v};the {l} of {e} is {v};{e} is {v}
number|nap|age;number of children;years of service;score;rating;rank|what is the {l} of {e};{l} {e};how old is {e};which {l} does {e} have|the {l} of {e} is {v}
task|n|task;to do;assigned;responsibility;action item|what does {e} have to do;what is {e}'s task;what was {e} asked to do;what will {e} do;to do {e}|{e} will {v};{e} has to {v};{e} is going to {v}
"""
ROLES = """treasurer;head of sales;software engineer;office manager;nurse;project lead;accountant;gardener;cook;driver;secretary;intern;electrician;head of research;
consultant;data analyst;head chef;volunteer;legal adviser;press officer;team lead;caretaker;receptionist;chief engineer;board member;translator""".replace("\n", "").split(";")
BEFORE = """lake harbour north south old city main upper lower river hill guest boat town east west central summer winter family corner garden station market mountain
forest beach staff visitor second small blue green white glass stone village royal modern mobile public private children's senior junior annual monthly spring
autumn""".split()
NOUNS = {
    "p": "museum library bakery clinic pool café restaurant shop gallery theatre cinema gym pharmacy office workshop zoo castle chapel market ferry tower garden kiosk archive observatory sauna".split(),
    "h": "cabin house flat apartment cottage studio garage office shed room attic boat loft chalet bungalow villa cellar greenhouse".split(),
    "d": "printer router boiler server van car laptop projector oven camera scanner generator heater freezer tractor drone piano bike pump lift dishwasher telescope".split(),
    "o": "club association company bank school university choir foundation agency council brewery cooperative department bureau publisher orchestra laboratory hospital".split(),
    "e": "meeting festival concert party conference wedding fair market race match exhibition tour hike picnic retreat assembly hearing demo workshop dinner open-day lecture sale".split(),
    "j": "project report migration campaign survey study app website plan proposal audit review renovation prototype platform newsletter budget database service backup".split(),
    "c": "course class seminar training lecture lesson workshop tutorial module exam".split(),
    "t": "train bus ferry flight trip tour shuttle tram cruise excursion".split(),
    "l": "contract lease agreement insurance subscription licence policy loan membership permit ticket invoice order booking".split(),
    "a": "dog cat horse parrot rabbit goat donkey hamster pony tortoise".split(),
    "g": "chair lamp table tent backpack jacket soup salad cake tea coffee bread kit manual book game drill knife bottle mug sofa rug helmet candle shampoo".split(),
}
HELD = [False]  # whether the patterns drawn are those that training never sees


def split(patterns):
    """The patterns of training, or the others (one in eight, by a hash) where there are any."""
    return split_by(patterns, str)


def split_by(patterns, name):
    held = [x for x in patterns if zlib.crc32(name(x).encode()) % 8 == 0]
    if HELD[0]:
        return held or patterns
    return [x for x in patterns if x not in held] or patterns


KIND = {"town": lambda: v.choose(v.TOWNS) if v.R() < .8 else v.invented(), "role": lambda: v.choose(ROLES)}


class Attribute:
    def __init__(self, line):
        self.kind, self.of, labels, asks, says = line.split("|")
        self.labels, self.asks, self.says = labels.split(";"), asks.split(";"), says.split(";")

    def value(self):
        return KIND[self.kind]() if self.kind in KIND else getattr(v, self.kind)()


ALL = [Attribute(x) for x in TABLE.strip().split("\n")]
BY = {c: [a for a in ALL if c in a.of] for c in "phdonejctlag"}


def entity(c):
    """A thing's name and how a sentence calls it: ("lake cabin", "the lake cabin")."""
    if c == "n":
        x = v.person()
        return x, x
    r = v.R()
    if c == "a" and r < .7:
        x = v.first() if v.R() < .6 else v.invented()
        return x, x + (" the " + random.choice(NOUNS["a"]) if v.R() < .3 else "")
    n = random.choice(NOUNS[c])
    if r < .45:
        x = random.choice(BEFORE) + " " + n
    elif r < .55:
        x = v.noun() + " " + n
    elif r < .65:
        x = n
    elif r < .75:
        x = random.choice(BEFORE) + " " + v.noun() + " " + n
    elif r < .88:
        x = random.choice((v.invented(v.ri(2, 3)), v.last(), v.choose(v.TOWNS))) + " " + n.capitalize()
        return x, x if v.R() < .5 else "the " + x
    elif c in "jdgot":
        x = v.invented(v.ri(2, 3)) if v.R() < .7 else v.choose("ABCDEGHKLMR") + v.choose(("", "-")) + str(v.ri(2, 900))
        return x, x
    else:
        x = n + " " + v.choose(("A", "B", "C", "2", "3", "12", v.invented()))
        return x, x
    return x, "the " + x
