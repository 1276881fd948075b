"""What can be said of an entity: attribute nouns, value kinds, synonyms, verb forms; entities by category.

A line of ATTRIBUTES is

    noun | value kind | synonym; synonym | form ;; form

and a form is ``answer pattern = other statement = ... > question / question``. {e} is the entity, {v} the value. The
answer pattern puts the value last, so that the words before it follow from the question alone; it is a statement, too.
"""
from . import names
from .names import name, given, person, town, firm, work_title, word, serial

ATTRIBUTES = """
# places
wifi password | code | wifi code; network password; wifi key; password for the wifi
wifi name | name | network name; name of the network
guest password | code
door code | digits | entry code; code for the door; door PIN
alarm code | digits | code for the alarm; burglar alarm code
gate code | digits | code for the gate
safe combination | code | safe code; combination of the safe
opening time | time | opening hour | {e} opens at {v} = {e} opens daily at {v} = {e} is open from {v} = The doors of {e} open at {v} = You can visit {e} from {v} > When does {e} open? / What time does {e} open? / At what time does {e} open? / When do the doors of {e} open?
closing time | time | closing hour | {e} closes at {v} = {e} is open until {v} = {e} shuts at {v} = The doors of {e} close at {v} > When does {e} close? / What time does {e} close? / At what time does {e} close? / Until when is {e} open?
closing day | days | weekly day off | {e} is closed on {v} = {e} stays closed on {v} = {e} does not open on {v} > On which day is {e} closed? / When is {e} closed? / Which day is {e} closed?
check-in time | time | check-in
check-out time | time | check-out
visiting hours | time | | Visiting hours of {e} start at {v} > When do the visiting hours of {e} start?
owner | person | proprietor | {e} belongs to {v} = {v} owns {e} = {e} is owned by {v} > Who owns {e}? / Who does {e} belong to? / Whose is {e}?
manager | person | head; boss | {e} is run by {v} = {v} runs {e} = {v} manages {e} = {e} is managed by {v} > Who runs {e}? / Who manages {e}? / Who is in charge of {e}?
caretaker | person | janitor; warden | {e} is looked after by {v} = {v} looks after {e} = {v} takes care of {e} > Who looks after {e}? / Who takes care of {e}?
address | street | street address | {e} is located at {v} = {e} stands at {v} = {e} can be found at {v} = You find {e} at {v} > Where is {e} located? / Where is {e}? / Where can I find {e}?
phone number | phone | telephone number; number; phone | {e} can be reached at {v} = You can reach {e} at {v} = Call {e} at {v} > How can I reach {e}? / At which number can {e} be reached?
emergency number | phone | number for emergencies
email address | email | email; e-mail address
website | website | web address; web page
rent | money | monthly rent
deposit | money | security deposit
capacity | seats | | {e} holds {v} = {e} has room for {v} = {e} seats {v} > How many people does {e} hold? / How many people fit into {e}? / How many people does {e} seat?
colour | colour | color | {e} is painted {v} > What colour is {e} painted? / What colour is {e}?
roof colour | colour | colour of the roof
year of construction | year | construction year; building year | {e} was built in {v} = {e} dates from {v} = Builders finished {e} in {v} > When was {e} built? / In which year was {e} built? / What year was {e} built?
architect | person | | {e} was designed by {v} = {v} designed {e} = {v} drew the plans of {e} > Who designed {e}? / Who drew the plans of {e}?
cleaning day | days | day of cleaning | {e} is cleaned on {v} > When is {e} cleaned? / On which day is {e} cleaned?
collection day | days | bin day; rubbish day
room number | room | room | {e} is in {v} = {e} meets in {v} = You find {e} in {v} > Which room is {e} in? / In which room is {e}? / Where is {e}?
floor | small | floor number; storey
guard dog | name | name of the guard dog | {e} is guarded by {v} > Who guards {e}?
landlord | person | landlady
tenant | person | lodger | {e} is rented to {v} = {v} rents {e} > Who rents {e}?
neighbour | person | next-door neighbour
number of rooms | count | room count | The number of rooms in {e} is {v} = {e} has {v} rooms > How many rooms does {e} have? / How many rooms are in {e}?
area | area | floor area; surface | {e} covers {v} = {e} has an area of {v} = {e} measures {v} > How large is {e}? / How big is {e}? / What area does {e} cover?
parking fee | money | fee for parking; cost of parking | Parking at {e} costs {v} = Parking costs {v} at {e} > How much does parking at {e} cost? / How much is parking at {e}?
parking spot | serial | parking space; parking bay | {e} is parked at {v} > Where is {e} parked?
entry fee | money | admission; entrance fee; admission fee | Entry to {e} costs {v} = Admission to {e} is {v} = {e} charges {v} for entry = It costs {v} to enter {e} > How much does entry to {e} cost? / How much is entry to {e}? / How much does it cost to enter {e}? / How much is admission to {e}?
ticket price | money | price of a ticket; cost of a ticket | A ticket for {e} costs {v} = Tickets for {e} cost {v} = A ticket to {e} is {v} > How much does a ticket for {e} cost? / How much is a ticket for {e}? / What does a ticket for {e} cost?
rental fee | money | hire fee; rental price | Renting {e} costs {v} = {e} can be hired for {v} = {e} rents for {v} > How much does it cost to rent {e}? / How much does renting {e} cost?
membership fee | money | annual fee; yearly fee; subscription | Membership of {e} costs {v} = {e} charges {v} for membership > How much does membership of {e} cost?
late fee | money | fine; overdue fee
loan period | duration | lending period | Items of {e} can be borrowed for {v} = {e} lends items for {v} > For how long does {e} lend items? / How long can items of {e} be borrowed?
tour duration | duration | length of the tour | The tour of {e} lasts {v} = A tour of {e} takes {v} > How long does the tour of {e} last? / How long does a tour of {e} take?
guide | person | tour guide | Tours of {e} are led by {v} = {v} leads the tours of {e} = {v} guides visitors through {e} > Who leads the tours of {e}? / Who guides visitors through {e}?
exhibition | work | current exhibition; special exhibition | The exhibition now shown at {e} is {v} = {e} is now showing {v} > Which exhibition is shown at {e}? / What is {e} showing now?
director | person | head | {e} is directed by {v} = {v} directs {e} = {v} heads {e} > Who directs {e}? / Who heads {e}?
founding year | year | year of foundation; foundation year | {e} was founded in {v} = {e} was established in {v} = {e} goes back to {v} = {e} opened its doors in {v} > When was {e} founded? / In which year was {e} founded? / What year was {e} founded? / When was {e} established?
founder | person | | {e} was founded by {v} = {v} founded {e} = {v} started {e} > Who founded {e}? / Who started {e}? / By whom was {e} founded?
patron | person | benefactor
librarian | person
curator | person
bus line | number | bus; line | {e} is served by bus {v} = Bus {v} goes to {e} = Take bus {v} to get to {e} = Bus {v} stops at {e} > Which bus goes to {e}? / Which bus stops at {e}? / Which bus serves {e}?
nearest station | station | closest station; nearest stop | The station nearest to {e} is {v} = {e} is close to {v} > Which station is nearest to {e}?
most popular item | dish | bestseller; best seller
specialty | dish | speciality; house specialty | {e} is famous for {v} = {e} is known for {v} = People come to {e} for {v} > What is {e} famous for? / What is {e} known for?
# people
favourite colour | colour | favorite color; preferred colour | {e} likes the colour {v} > Which colour does {e} like?
favourite dish | dish | favourite food; favorite food; favourite meal | {e} likes to eat {v} = {e} loves {v} > What does {e} like to eat? / What food does {e} love?
favourite song | work | favorite song
favourite book | work | favorite book
favourite team | team | favorite team | {e} supports {v} > Which team does {e} support?
job | job | profession; occupation | The job of {e} is {v} = {e} works as a {v} = {e} is a {v} by trade > What does {e} work as? / What does {e} do for a living?
home town | town | city; home | {e} lives in {v} = {e} has lived in {v} for years > Where does {e} live? / Which town does {e} live in?
birthplace | town | place of birth | {e} comes from {v} = {e} grew up in {v} > Where does {e} come from? / Where did {e} grow up?
birthday | date | date of birth; birth date | {e} was born on {v} = The birthday of {e} is on {v} > When was {e} born? / On which day was {e} born?
wedding date | date | wedding day | {e} got married on {v} > When did {e} get married?
hobby | hobby | pastime | {e} enjoys {v} = {e} spends weekends on {v} > What does {e} enjoy?
instrument | instrument | | {e} plays the {v} > Which instrument does {e} play? / What does {e} play?
cat | name | pet cat; name of the cat
dog | name | pet dog; name of the dog
employer | firm | company | {e} works for {v} = {e} is employed by {v} = {e} works at {v} > Who does {e} work for? / Where does {e} work? / Which company does {e} work for?
spouse | person | partner; husband; wife | {e} is married to {v} > Who is {e} married to?
shoe size | shoe | size of shoes | {e} wears shoes in size {v} > Which shoe size does {e} wear?
locker number | count | locker | {e} uses locker {v} = {e} has locker {v} > Which locker does {e} use? / Which locker does {e} have?
teacher | person | tutor | {e} is taught by {v} = {v} teaches {e} > Who teaches {e}?
doctor | person | physician; family doctor
dentist | person
school | school | | {e} goes to {v} = {e} studies at {v} > Where does {e} study? / Which school does {e} go to?
nickname | name | | {e} is also called {v} = Friends call {e} {v} > What do friends call {e}?
native language | language | mother tongue; first language
allergy | allergen | | {e} is allergic to {v} = {e} must not have {v} = {e} cannot stand {v} because of an allergy > What is {e} allergic to?
seat | seat | seat number | {e} sits in seat {v} = {e} has seat {v} > Which seat does {e} have? / Where does {e} sit?
hotel | hotel | | {e} stays at {v} = {e} has a room at {v} > Where does {e} stay? / Which hotel does {e} stay at?
user name | user | login; account name
password | code | secret password; passcode
PIN | digits | PIN code; secret number
passport number | serial | number of the passport
blood type | serial | blood group
emergency contact | person | contact person; person to call
gift idea | work | present
# objects
price | money | cost; purchase price | {e} costs {v} = {e} sells for {v} = You pay {v} for {e} = {e} is priced at {v} > How much does {e} cost? / What does {e} cost? / How much is {e}?
weight | weight | | {e} weighs {v} > How much does {e} weigh? / How heavy is {e}?
length | length | | {e} is {v} long = {e} has a length of {v} = {e} measures {v} > What length does {e} have?
height | height | | {e} has a height of {v} = {e} is {v} high = {e} rises {v} = {e} is {v} tall > How high is {e}? / How tall is {e}?
width | length | breadth | {e} has a width of {v} = {e} is {v} wide > How wide is {e}?
depth | length | | {e} has a depth of {v} = {e} is {v} deep > How deep is {e}?
size | length | dimensions | 
serial number | serial | serial code; device number
frame number | serial | number of the frame
brand | firm | make; maker | {e} was made by {v} = {v} made {e} = {e} comes from {v} > Who made {e}? / Which company made {e}?
model | model | model name | 
material | material | | {e} is made of {v} = {e} consists of {v} > What is {e} made of?
battery type | battery | battery | {e} takes batteries of type {v} = {e} needs a {v} battery = {e} runs on {v} batteries > Which batteries does {e} take? / Which battery does {e} need?
battery life | duration | running time
warranty | duration | warranty period; guarantee
warranty date | date | end of the warranty | The warranty of {e} ends on {v} = The warranty on {e} runs out on {v} > When does the warranty of {e} end? / When does the warranty on {e} run out?
seller | firm | shop; dealer | {e} was bought from {v} = {v} sells {e} > Where was {e} bought? / Who sells {e}?
service company | firm | repair company | {e} is serviced by {v} = {v} services {e} = {v} repairs {e} > Who services {e}? / Who repairs {e}?
licence plate | serial | license plate; plate number; number plate
storage place | inside | place | {e} is kept {v} = {e} is stored {v} = {e} is {v} = We keep {e} {v} = {e} stands {v} > Where is {e} kept? / Where is {e} stored? / Where do we keep {e}? / Where can I find {e}? / Where is {e}?
status | state | state; condition
order number | serial | order code; number of the order
delivery date | date | | {e} arrives on {v} = {e} will be delivered on {v} > When does {e} arrive? / When will {e} be delivered?
inventor | person | | {e} was invented by {v} = {v} invented {e} > Who invented {e}?
age | age | | {e} is {v} old > What age is {e}?
filter | serial | filter type
pressure | pressure | operating pressure
tank volume | volume | tank size
insurance number | serial | policy number
# events, groups
start time | time | starting time; beginning | {e} starts at {v} = {e} begins at {v} = {e} gets going at {v} > When does {e} start? / What time does {e} start? / At what time does {e} begin? / When does {e} begin?
end time | time | finishing time | {e} ends at {v} = {e} finishes at {v} > When does {e} end? / What time does {e} end?
date | date | | {e} takes place on {v} = {e} is on {v} = {e} happens on {v} = {e} is held on {v} > When does {e} take place? / When is {e}? / On which date is {e}? / When is {e} held?
day | days | weekday | {e} is held on {v} = {e} is on {v} = {e} takes place on {v} = {e} happens every week on {v} > On which day is {e}? / On which day of the week is {e}? / On which day is {e} held? / Which day is {e}?
venue | venue | location; place | {e} takes place in {v} = {e} is held in {v} = {e} happens in {v} = {v} is where {e} takes place > Where does {e} take place? / Where is {e} held? / Where is {e}?
host | person | organiser; organizer | {e} is hosted by {v} = {v} hosts {e} = {v} organises {e} = {e} is organised by {v} > Who hosts {e}? / Who organises {e}?
speaker | person | main speaker | The speaker at {e} is {v} = {v} speaks at {e} = {v} gives the talk at {e} > Who speaks at {e}? / Who gives the talk at {e}?
topic | work | theme; subject | {e} is about {v} = {e} deals with {v} > What is {e} about?
duration | duration | length | {e} lasts {v} = {e} takes {v} = {e} goes on for {v} > How long does {e} last? / How long does {e} take? / How long is {e}?
dress code | colour
menu | dish | meal; dish of the day
sponsor | firm | | {e} is sponsored by {v} = {v} sponsors {e} = {v} pays for {e} > Who sponsors {e}? / Who pays for {e}?
winner | person | | {e} was won by {v} = {v} won {e} = {v} came first in {e} > Who won {e}?
prize | money | prize money; first prize
conductor | person | | {e} is conducted by {v} = {v} conducts {e} > Who conducts {e}?
registration deadline | date | last day to register | Registration for {e} closes on {v} = You can register for {e} until {v} > When does registration for {e} close? / Until when can I register for {e}?
deadline | date | due date; closing date | {e} is due on {v} = {e} must be finished by {v} = The deadline for {e} is {v} > When is {e} due?
budget | funds | total budget | {e} has a budget of {v} = {e} may spend {v} > How much may {e} spend?
code name | work | working title
goal | big | target
client | firm | customer | {e} is done for {v} = {v} ordered {e} > Who is {e} done for? / Who ordered {e}?
leader | person | lead; head | {e} is led by {v} = {v} leads {e} = {v} heads {e} > Who leads {e}? / Who heads {e}?
next meeting | daytime | meeting; meeting time | {e} meets next on {v} = The next meeting of {e} is on {v} > When does {e} meet next?
meeting day | days | day of the meeting | {e} meets on {v} = {e} comes together on {v} > When does {e} meet? / On which day does {e} meet? / What day does {e} meet?
meeting place | venue | meeting point | {e} meets at {v} = Members of {e} meet at {v} > Where does {e} meet?
treasurer | person
chair | person | chairperson; president | {e} is chaired by {v} = {v} chairs {e} > Who chairs {e}?
secretary | person
number of members | count | membership | The number of members of {e} is {v} = {e} has {v} members = {v} people belong to {e} > How many members does {e} have?
account number | serial | bank account
contact | person | contact person | 
# towns, nature, buildings
mayor | person | | {e} is governed by Mayor {v} = {v} is mayor of {e} = The town of {e} elected {v} as mayor > Who governs {e}?
population | big | number of inhabitants; number of people | The number of people living in {e} is {v} = {e} has {v} inhabitants = {v} people live in {e} = {e} has a population of {v} = {e} is home to {v} people > How many people live in {e}? / How many inhabitants does {e} have? / How many people are there in {e}?
river | name | | {e} lies on the river {v} = The river {v} flows through {e} = {e} stands on the banks of the {v} > On which river does {e} lie? / Which river flows through {e}? / Which river does {e} lie on?
region | name | county; province | {e} lies in {v} = {e} belongs to the region of {v} = {e} is a town in {v} > Where does {e} lie? / In which region does {e} lie? / Which region is {e} in?
airport | name | 
patron saint | name | saint
flag colour | colour | colour of the flag
symbol | animal | emblem; heraldic animal | The animal on the coat of arms of {e} is the {v} = {e} shows a {v} on its coat of arms > What does {e} show on its coat of arms? / Which animal is on the coat of arms of {e}?
market day | days | day of the market | {e} holds its market on {v} = The market of {e} is on {v} > When is the market of {e}? / On which day is the market of {e}?
weather | weather | 
source | name | spring | {e} rises at {v} = {e} begins at {v} > Where does {e} rise? / Where does {e} begin?
mouth | sea | | {e} flows into {v} = {e} empties into {v} = {e} ends in {v} > Where does {e} flow into? / What does {e} flow into? / Into what does {e} flow?
river length | length | | {e} has a length of {v} = {e} is {v} long = {e} runs for {v} > How long is {e}?
highest point | name | summit; highest peak
ranger | person
number of steps | count | | The number of steps of {e} is {v} = {e} has {v} steps = {v} steps lead up {e} > How many steps does {e} have?
# works
author | person | writer | {e} was written by {v} = {v} wrote {e} = {v} is the author of {e} > Who wrote {e}? / By whom was {e} written?
painter | person | artist | {e} was painted by {v} = {v} painted {e} > Who painted {e}?
publisher | firm | publishing house | {e} was published by {v} = {v} published {e} > Who published {e}?
release year | year | year of release; publication year | {e} came out in {v} = {e} appeared in {v} = {e} was released in {v} = {e} was published in {v} > When did {e} come out? / In which year did {e} appear? / When was {e} published?
hero | person | main character | {e} tells the story of {v} = {e} follows {v} > Whose story does {e} tell?
villain | person | enemy
genre | genre | kind
rating | rating | score; rating by readers
number of pages | count | page count | The number of pages of {e} is {v} = {e} has {v} pages = {e} runs to {v} pages > How many pages does {e} have?
shelf mark | serial | call number; shelf number
translator | person | | {e} was translated by {v} = {v} translated {e} > Who translated {e}?
# food
cuisine | cuisine | kind of food | The food served at {e} is {v} = {e} serves {v} food = {e} cooks {v} food > What kind of food does {e} serve? / Which food does {e} serve?
chef | person | cook; head cook | The cook at {e} is {v} = {v} cooks at {e} = {v} runs the kitchen of {e} > Who cooks at {e}? / Who is the cook at {e}?
baker | person | | {e} is baked by {v} = {v} bakes {e} > Who bakes {e}?
best dish | dish | signature dish
lunch price | money | price of lunch | Lunch at {e} costs {v} = A lunch at {e} is {v} > How much is lunch at {e}? / How much does lunch at {e} cost?
oven temperature | degrees | baking temperature; temperature | {e} is baked at {v} = {e} bakes at {v} = Bake {e} at {v} > At what temperature is {e} baked? / How hot is the oven for {e}?
baking time | duration | oven time; time in the oven | {e} bakes for {v} = {e} is baked for {v} = {e} stays in the oven for {v} = Bake {e} for {v} > How long does {e} bake? / How long is {e} baked? / For how long does {e} stay in the oven?
cooking time | duration | time to cook | {e} cooks for {v} = {e} simmers for {v} = {e} needs {v} on the stove > How long does {e} cook? / How long does {e} take to cook?
resting time | duration | time to rest | {e} rests for {v} = Let {e} rest for {v} > How long does {e} rest?
main ingredient | dish | secret ingredient | {e} is made with {v} = The most important thing in {e} is {v} > What is {e} made with?
sauce | dish | 
number of servings | small | servings; portions | The number of people {e} serves is {v} = {e} serves {v} people = {e} is enough for {v} people > How many people does {e} serve? / How many people is {e} enough for?
# transport
platform | number | track | {e} leaves from platform {v} = {e} departs from platform {v} = {e} uses platform {v} = Go to platform {v} for {e} > Which platform does {e} leave from? / From which platform does {e} leave? / Which platform does {e} use?
gate | gate | | {e} boards at gate {v} = {e} leaves from gate {v} > Which gate does {e} leave from? / At which gate does {e} board?
pier | number | | {e} leaves from pier {v} = {e} departs from pier {v} = {e} docks at pier {v} > Which pier does {e} leave from? / From which pier does {e} leave?
destination | town | final stop; terminus | {e} goes to {v} = {e} runs to {v} = {e} is bound for {v} = {e} ends in {v} > Where does {e} go? / Which town does {e} go to? / Where does {e} go to?
departure time | time | departure | {e} departs at {v} = {e} leaves at {v} = {e} sets off at {v} > When does {e} depart? / What time does {e} leave? / When does {e} leave? / At what time does {e} depart?
arrival time | time | arrival | {e} arrives at {v} = {e} gets in at {v} > When does {e} arrive? / What time does {e} arrive?
first departure | time | first run | The first run of {e} is at {v} = {e} first leaves at {v} > When is the first run of {e}?
last departure | time | last run | The last run of {e} is at {v} = {e} leaves for the last time at {v} > When is the last run of {e}?
frequency | duration | interval | {e} runs every {v} = {e} comes every {v} > How often does {e} run? / How often does {e} come?
driver | person | | {e} is driven by {v} = {v} drives {e} > Who drives {e}?
captain | person | skipper | {e} is commanded by {v} = {v} commands {e} = {v} steers {e} > Who commands {e}? / Who steers {e}?
speed | speed | top speed
fare | money | price of a ride | A ride on {e} costs {v} = A trip on {e} costs {v} > How much does a ride on {e} cost? / How much is a ride on {e}?
# sport, animals, machines, medicine
coach | person | trainer | {e} is coached by {v} = {v} coaches {e} = {v} trains {e} > Who coaches {e}? / Who trains {e}?
stadium | stadium | home ground | {e} plays at {v} = {e} plays its games at {v} > Where does {e} play?
top scorer | person | best scorer
mascot | name | 
training day | days | practice day | {e} trains on {v} = {e} practises on {v} > When does {e} train? / On which day does {e} train?
vet | person | veterinarian | {e} is treated by {v} = {v} treats {e} > Who treats {e}?
food | dish | feed | {e} eats {v} = {e} is fed with {v} > What does {e} eat?
breed | name |
feeding time | time | | {e} is fed at {v} = Feed {e} at {v} > When is {e} fed? / What time is {e} fed?
version | version | version number; release
port | port | port number | {e} listens on port {v} = {e} uses port {v} > Which port does {e} listen on? / Which port does {e} use?
IP address | address4 | network address
administrator | person | admin | {e} is administered by {v} = {v} administers {e} > Who administers {e}?
backup day | days | day of the backup | {e} is backed up on {v} > When is {e} backed up?
dose | dose | dosage; daily dose | {e} is taken in a dose of {v} = Take {v} of {e} = The patient takes {v} of {e} > In what dose is {e} taken? / How much {e} is taken?
schedule | often | intake | {e} is taken {v} = Take {e} {v} = {e} has to be taken {v} > How often is {e} taken? / When is {e} taken?
side effect | symptom | main side effect | {e} can cause {v} = {e} sometimes causes {v} > What can {e} cause?
watering | often | | {e} is watered {v} = Water {e} {v} = {e} needs water {v} > How often is {e} watered? / When is {e} watered?
ceo | person | chief executive
industry | genre |
sunlight | state |
"""

CATEGORIES = {
    "place": "wifi password,wifi name,guest password,door code,alarm code,gate code,safe combination,owner,manager,caretaker,"
             "address,phone number,rent,deposit,capacity,colour,roof colour,year of construction,architect,cleaning day,"
             "collection day,check-in time,check-out time,guard dog,landlord,tenant,neighbour,number of rooms,area,"
             "parking spot,email address,bus line,opening time,closing time,rental fee,emergency number,floor",
    "institution": "opening time,closing time,closing day,entry fee,ticket price,phone number,email address,website,address,"
                   "director,founding year,founder,parking fee,exhibition,tour duration,guide,loan period,membership fee,"
                   "late fee,bus line,nearest station,capacity,year of construction,architect,curator,librarian,manager,"
                   "wifi password,visiting hours,caretaker,area,emergency number,patron,rental fee",
    "shop": "opening time,closing time,closing day,owner,manager,phone number,address,specialty,founding year,founder,"
            "most popular item,website,email address,lunch price,cuisine,chef,best dish,wifi password,rating,bus line,menu,"
            "delivery date,capacity",
    "person": "favourite colour,favourite dish,favourite song,favourite book,favourite team,job,home town,birthplace,birthday,"
              "wedding date,hobby,instrument,cat,dog,employer,spouse,shoe size,locker number,teacher,doctor,dentist,school,"
              "nickname,native language,allergy,seat,hotel,user name,password,PIN,passport number,emergency contact,"
              "phone number,email address,address,room number,gift idea,licence plate,blood type",
    "object": "price,weight,length,height,width,serial number,frame number,brand,model,material,battery type,battery life,"
              "warranty,warranty date,seller,service company,licence plate,storage place,storage place,storage place,status,"
              "order number,delivery date,colour,owner,PIN,password,size,filter,pressure,tank volume,insurance number,"
              "parking spot,depth,rental fee",
    "event": "start time,end time,date,day,venue,host,speaker,topic,duration,dress code,menu,sponsor,winner,prize,entry fee,"
             "ticket price,room number,registration deadline,capacity,conductor,phone number,contact",
    "project": "deadline,budget,code name,goal,client,leader,next meeting,meeting day,status,sponsor,founder,duration,topic,"
               "contact,room number",
    "club": "meeting day,meeting place,meeting day,treasurer,chair,secretary,number of members,membership fee,founder,"
            "founding year,account number,website,room number,start time,leader,contact,symbol,email address",
    "town": "mayor,population,river,specialty,founding year,founder,region,airport,patron saint,flag colour,symbol,market day,"
            "weather,area,website",
    "work": "author,publisher,release year,hero,villain,genre,rating,number of pages,price,translator,shelf mark,painter",
    "transport": "platform,destination,departure time,arrival time,first departure,last departure,frequency,driver,captain,"
                 "speed,fare,capacity,colour,status,duration,pier,gate,ticket price,seat",
    "recipe": "oven temperature,baking time,cooking time,resting time,main ingredient,sauce,number of servings,author,rating",
    "team": "coach,stadium,top scorer,mascot,captain,colour,founding year,sponsor,training day,phone number",
    "animal": "vet,food,age,breed,weight,owner,colour,birthday,nickname,feeding time,allergy,emergency contact",
    "server": "version,port,IP address,administrator,backup day,password,status,storage place,user name,serial number",
    "medicine": "dose,schedule,side effect,price,colour,seller,storage place,inventor",
    "company": "founder,founding year,director,phone number,email address,address,client,budget,symbol,manager,opening time,"
               "ceo,website,bus line",
    "landmark": "height,year of construction,architect,number of steps,opening time,entry fee,material,capacity,colour,"
                "width,caretaker,tour duration,owner",
    "nature": "river length,source,mouth,height,depth,highest point,ranger,area,region,width",
    "plant": "watering,height,colour,age,storage place,price,seller",
}
WEIGHTS = {"place": 16, "institution": 15, "shop": 9, "person": 13, "object": 10, "event": 9, "project": 5, "club": 5, "town": 5,
           "work": 4, "transport": 7, "recipe": 4, "team": 2, "animal": 3, "server": 2, "medicine": 3, "company": 3,
           "landmark": 3, "nature": 3, "plant": 1}

# Compound attributes, "boiler code", "staff room key": a modifier, a head, and the head's value kind.
MODIFIERS = ("boiler,garage,garden,kitchen,guest,staff,visitor,spare,cellar,attic,office,emergency,winter,summer,morning,"
             "evening,boat,bike,shed,lift,heating,gas,water,alarm,shower,laundry,parcel,letter,student,senior,child,family,"
             "group,season,weekend,night,main,second,old,new,safety,rescue,fire,delivery,training,rehearsal,service,"
             "cleaning,repair,paint,piano,choir,tennis,swimming,yoga,ski,fishing,hunting,camping,tool,wine,coffee,tea,bread,"
             "cheese,milk,honey,fruit,seed,flower,tree,roof,window,door,floor,wall,stair,balcony,bathroom,bedroom,studio,"
             "reading,photo,film,radio,phone,printer,router,server,network,account,member,customer,supplier,insurance,tax,"
             "bank,passport,ticket,luggage,travel,ferry,tram,station,harbour,market,school,club,team,church,clinic,"
             "pharmacy,holiday,party,lunch,dinner,breakfast,recycling,compost,battery,lamp,tyre,engine,saddle,trailer").split(",")
HEADS = {
    "code": "digits", "password": "code", "number": "serial", "key": "inside", "cupboard": "inside", "manual": "inside",
    "switch": "inside", "box": "inside", "kit": "inside", "list": "inside", "tap": "inside", "meter": "inside",
    "price": "money", "fee": "money", "cost": "money", "charge": "money", "ticket": "money", "allowance": "money",
    "day": "days", "time": "time", "date": "date", "hour": "time", "deadline": "date", "appointment": "daytime",
    "lesson": "daytime", "manager": "person", "teacher": "person", "supplier": "firm", "company": "firm", "technician": "person",
    "inspector": "person", "helper": "person", "officer": "person", "instructor": "person", "room": "room", "colour": "colour",
    "size": "number", "temperature": "degrees", "limit": "count", "budget": "funds", "contact": "person", "line": "phone",
    "phone": "phone", "address": "email", "brand": "firm", "type": "serial", "model": "model", "period": "duration",
    "duration": "duration", "level": "small", "count": "count", "name": "name", "team": "team", "song": "work", "plan": "work",
}
# Things for sale: "A day ticket of the tram costs 5 euros."
OFFERS = ("day ticket,family ticket,child ticket,single ride,monthly pass,season ticket,coffee,scone,kayak,locker,towel,"
          "audio guide,loaf of rye bread,haircut,guided tour,bike,rowing boat,audio tour,pot of tea,slice of cake,map,"
          "parking space,piano lesson,sauna visit,night,weekend,week,double room,single room,tent pitch,student ticket,"
          "group ticket,return ticket,catalogue,postcard,library card,ski pass,workshop,swim,breakfast,lunch menu,deckchair,"
          "surfboard,wetsuit,bunch of tulips,ice cream,croissant,seat,box of eggs,jar of honey,year").split(",")
# Things kept somewhere: "The spare key of the lake cabin is kept under the doormat."
KEPT = ("spare key,key,fuse box,first-aid kit,manual,passport,charger,torch,fire extinguisher,water tap,gas tap,toolbox,"
        "sewing kit,guest towels,remote control,bike pump,ladder,cash box,guest book,map,umbrella,lost property,medicine,"
        "thermostat,light switch,recycling bin,vacuum cleaner,bed linen,matches,spare bulbs,logbook,cat food,dog lead,"
        "car key,shed key,cellar key,mailbox key,life jackets,coffee filters,tent,stopcock,router,meter,contract").split(",")
#: attribute nouns and synonyms that take "are"
PLURAL = {"guest towels", "matches", "spare bulbs", "life jackets", "coffee filters", "visiting hours", "dimensions", "servings", "portions"}

# Nouns that only the evaluation uses.
HELD_OUT_NOUNS = {"secret word": "word", "table number": "count", "godfather": "person", "motto": "work", "repair cost": "money",
                  "bank": "firm", "visiting day": "days", "assistant": "person", "engine number": "serial",
                  "tuning fork": "inside", "bell code": "digits", "organist": "person", "mooring": "serial",
                  "lighting hour": "time", "varnish": "colour"}

PLACES = ("cabin cottage flat beach_house office mill summer_house guest_house workshop garage barn boathouse penthouse studio "
          "greenhouse farm hostel chalet houseboat bungalow loft apartment cellar allotment clubhouse annex tower villa "
          "holiday_home warehouse attic laundry_room staff_room shed caravan treehouse home").split()
INSTITUTIONS = ("museum library swimming_pool town_hall clinic gallery theatre archive zoo school observatory sports_hall "
                "community_centre cinema aquarium planetarium pharmacy hospital botanical_garden post_office recycling_centre "
                "concert_hall ice_rink campsite tourist_office youth_club adult_school music_school kindergarten castle "
                "visitor_centre repair_cafe toy_library sculpture_park lido pool tool_library").split()
SHOPS = ("bakery cafe bookshop butcher florist restaurant bistro tea_room grocery hardware_store barber pizzeria bar brewery "
         "fish_shop market_hall tailor bike_shop cheese_shop ice_cream_parlour diner canteen deli toy_shop").split()
OBJECTS = ("bike car van laptop phone camera tent guitar sofa lamp printer drill kayak piano watch backpack coat fridge "
           "telescope tablet suitcase ladder drone router scooter violin carpet desk helmet microwave boiler washing_machine "
           "dishwasher heat_pump sewing_machine lawn_mower oven coffee_machine passport projector canoe trailer chainsaw kettle "
           "freezer stove radio heater generator thermostat boat sledge ukulele first-aid_kit spare_key toolbox").split()
EVENTS = ("board_meeting wedding workshop summer_festival recital book_club marathon conference birthday_party science_fair "
          "auction team_lunch film_night concert chess_tournament yoga_class open_day training harvest_fair dance_class "
          "team_meeting choir_rehearsal flea_market lantern_walk spring_fair parents_evening piano_lesson guided_tour "
          "regatta poetry_night pottery_course swimming_lesson city_run language_course staff_meeting night_market lecture "
          "picnic reunion seminar quiz_night").split()
TRANSPORT = "bus tram ferry train night_train shuttle cable_car express water_taxi airport_bus school_bus funicular".split()
RECIPES = "apple_cake bread soup cake stew salad pie lasagne curry flatbread pudding risotto gingerbread focaccia gratin".split()
CLUBS = ("chess_club choir rowing_club garden_club film_club hiking_group book_club photo_club astronomy_club sewing_circle "
         "brass_band judo_club debating_society cycling_club theatre_group running_group fire_brigade orchestra".split())
ANIMALS = "cat dog parrot rabbit goat pony tortoise hamster donkey horse guinea_pig budgie hen".split()
LANDMARKS = "tower lighthouse bridge cathedral windmill fountain gate clock_tower water_tower dam castle chapel".split()
NATURE = "river lake hill forest valley mountain waterfall canal moor island nature_reserve cave".split()
PLANTS = "ficus orchid lemon_tree monstera cactus olive_tree rose basil fern tomato_plant".split()
PLACE_WORDS = ("lake harbour forest river hill garden mountain beach village city town old new north south east west upper "
               "lower little grand royal mill church market station castle meadow valley island bridge park school maritime "
               "folk science railway glass art local county public central summer winter stone wooden corner family holiday "
               "seaside riverside hillside students' children's").split()
KIN = ("sister brother neighbour uncle aunt cousin boss grandmother grandfather friend roommate colleague landlord mother father "
       "son daughter nephew niece").split()


def _noun(s, nouns):
    return s.pick(nouns).replace("_", " ")


def _described(nouns):
    """'the lake cabin', 'the Brenner museum', 'Anna's cabin', 'the museum': an entity with a head noun."""
    def draw(s):
        n, x = _noun(s, nouns), s.rng.random()
        if x < 0.12:
            return "the " + n
        if x < 0.55:
            return "the %s %s" % (s.pick(PLACE_WORDS), n)
        if x < 0.75:
            return "the %s %s" % (name(s), n)
        if x < 0.85:
            return "the %s %s" % (s.pick(("old new small big red blue green white grey".split())), n)
        if x < 0.92:
            return "the %s of %s" % (n, name(s))
        return "%s's %s" % (given(s), n)
    return draw


def _owned(nouns):
    def draw(s):
        n, x = _noun(s, nouns), s.rng.random()
        if x < 0.35:
            return "the " + n
        if x < 0.55:
            return "%s's %s" % (given(s), n)
        if x < 0.75:
            return "the %s %s" % (s.pick(names.COLOURS[:14] + ["old", "new", "small", "big", "spare", "second"]), n)
        if x < 0.9:
            return "the %s %s" % (name(s), n)
        return "the %s %s" % (s.pick(PLACES + MODIFIERS).replace("_", " "), n)
    return draw


def _person(s):
    x = s.rng.random()
    return person(s) if x < 0.88 else "my " + s.pick(KIN) if x < 0.94 else "my %s %s" % (s.pick(KIN), given(s))


def _transport(s):
    n, x = _noun(s, TRANSPORT), s.rng.random()
    if x < 0.35:
        return "%s %s" % (n, s.pick((str(s.between(1, 99)), serial(s))))
    if x < 0.6:
        return "the %s to %s" % (n, town(s))
    return "the %s %s" % (name(s), n) if x < 0.8 else "the %s %s" % (s.pick(PLACE_WORDS), n) if x < 0.9 else "the " + n


def _town(s):
    return town(s)


def _landmark(s):
    return "the %s %s" % (name(s), _noun(s, LANDMARKS)) if s.chance(0.6) else _described(LANDMARKS)(s)


def _nature(s):
    n, x = _noun(s, NATURE), s.rng.random()
    if x < 0.3:
        return "the river " + name(s)
    return "Lake " + name(s) if x < 0.4 else "Mount " + name(s) if x < 0.5 else "the %s %s" % (name(s), n)


def _shop(s):
    x = s.rng.random()
    if x < 0.15:
        return s.pick(["Cafe ", "Trattoria ", "Chez ", "Bistro "]) + name(s)
    if x < 0.25:
        return name(s) + " " + s.pick("Grill Kitchen Bistro Diner Bakery House Books Flowers".split())
    return _described(SHOPS)(s)


def _own(draw):
    """The draw's results that belong to the source as a whole: 'the lake cabin' is made of words that both parts use."""
    return lambda s: s.own(lambda: draw(s))


#: category -> function drawing an entity as it stands inside a sentence
ENTITIES = {category: _own(draw) for category, draw in {
    "place": _described(PLACES), "institution": _described(INSTITUTIONS), "shop": _shop, "person": _person,
    "object": _owned(OBJECTS), "event": _described(EVENTS),
    "project": lambda s: s.pick(["project %s", "the %s project", "the %s project"]) % s.pick((name(s), s.pick(names.NOUNS).title())),
    "club": _described(CLUBS), "town": _town, "work": work_title, "transport": _transport, "recipe": _owned(RECIPES),
    "team": lambda s: s.pick(["%s United", "%s City", "%s Rovers", "the %s football team"]) % name(s), "animal": lambda s: s.pick(
        (name(s), "%s's %s" % (given(s), s.pick(ANIMALS)), "the %s %s" % (s.pick(ANIMALS), name(s)), "the " + s.pick(ANIMALS))
        ).replace("_", " "),
    "server": lambda s: s.pick(("the %s server" % name(s), "server " + serial(s), "the %s server" % s.pick(
        "mail web test file print backup build".split()))),
    "medicine": lambda s: name(s) if s.chance(0.8) else s.pick(["the %s syrup", "the %s ointment"]) % name(s),
    "company": firm, "landmark": _landmark, "nature": _nature, "plant": _owned(PLANTS),
}.items()}


class Form:
    """One verb form of an attribute: how it is answered, stated and asked."""

    def __init__(self, text):
        stated, _, asked = text.partition(">")
        self.statements = [t.strip() for t in stated.split("=")]
        self.answer = self.statements[0]
        self.questions = [q.strip() for q in asked.split(" / ")]


class Attribute:
    """An attribute noun with its value kind, synonyms and verb forms."""

    def __init__(self, noun, kind, synonyms=(), forms=()):
        self.noun, self.kind, self.synonyms, self.forms = noun, kind, list(synonyms), list(forms)

    def value(self, s):
        return names.VALUES[self.kind](s)


def _parse(table):
    found = {}
    for line in table.strip().splitlines():
        if not line.startswith("#"):
            noun, kind, synonyms, forms = ([c.strip() for c in line.split("|")] + ["", ""])[:4]
            found[noun] = Attribute(noun, kind, [w.strip() for w in synonyms.split(";") if w.strip()],
                                    [Form(f) for f in forms.split(";;") if f.strip()])
    return found


BY_NOUN = _parse(ATTRIBUTES)
HELD_OUT = [Attribute(noun, kind) for noun, kind in HELD_OUT_NOUNS.items()]
OF_CATEGORY = {c: [BY_NOUN[n] for n in nouns.split(",")] for c, nouns in CATEGORIES.items()}


def offer(thing):
    """'A day ticket of the tram costs 5 euros.'"""
    a = names.with_article(thing)
    A = a[0].upper() + a[1:]
    return Attribute(thing + " price", "money", ["price of " + a, "cost of " + a], [Form(
        f"{A} of {{e}} costs {{v}} = {A} at {{e}} costs {{v}} = {A} for {{e}} costs {{v}} = {{e}} charges {{v}} for {a} = {A} of {{e}} is {{v}}"
        f" > How much does {a} of {{e}} cost? / How much is {a} of {{e}}? / How much does {a} at {{e}} cost? / How much does {a} for {{e}} cost?"
        f" / What does {a} of {{e}} cost? / How much is {a} at {{e}}?")])


def kept(thing):
    """'The spare key of the lake cabin is kept under the doormat.'"""
    be, hang, lie = ("are", "hang", "lie") if thing in PLURAL else ("is", "hangs", "lies")
    return Attribute(thing, "inside", ["place of the " + thing], [
        Form(f"The {thing} of {{e}} {be} kept {{v}} = The {thing} for {{e}} {be} kept {{v}} = The {thing} of {{e}} {be} {{v}} = We keep the {thing}"
             f" of {{e}} {{v}} = You find the {thing} of {{e}} {{v}} = Keep the {thing} of {{e}} {{v}} > Where {be} the {thing} of {{e}} kept?"
             f" / Where {be} the {thing} for {{e}} kept? / Where do we keep the {thing} of {{e}}?"),
        Form(f"The {thing} of {{e}} {be} {{v}} = The {thing} for {{e}} {be} {{v}} = The {thing} of {{e}} {hang} {{v}} = The {thing} of {{e}} {lie} {{v}}"
             f" > Where {be} the {thing} of {{e}}? / Where {be} the {thing} for {{e}}? / Where do I find the {thing} of {{e}}?")])


def compound(s):
    """An attribute such as 'boiler code', put together from a modifier and a head."""
    head = s.pick(list(HEADS))
    modifier = s.pick(MODIFIERS)
    thing = (modifier if modifier != head else "spare") + " " + head
    return kept(thing) if HEADS[head] == "inside" else Attribute(thing, HEADS[head])


def draw(s, category):
    """An attribute for an entity of this category."""
    x = s.rng.random()
    if x < 0.10 and category in ("place", "institution", "object", "person", "event", "company", "club", "shop", "project"):
        return compound(s)
    if x < 0.16 and category in ("place", "institution", "shop", "transport", "landmark", "event"):
        return offer(s.pick(OFFERS))
    if x < 0.24 and category in ("place", "institution", "object", "shop", "club", "person", "event"):
        return kept(s.pick(KEPT))
    if x < 0.24 + s.rare(0.02):
        noun = word(s)
        while noun in ("the", "and", "are", "for"):
            noun = word(s)
        return Attribute(noun, s.pick(["code", "name", "person", "count", "inside", "money", "time"]))
    return s.pick(OF_CATEGORY[category])
