package extract

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/passages"
)

// A span loses if nothing in its sentence is a time or a number though the question asks for one, if it stands in the
// condition that the question repeats, if it is denied, cancelled or no longer so, if the journey goes the other way,
// if it lacks the shape of what is asked for, and if it says no more than the question.
func TestMisfit(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range []struct {
		text, span, question string
		why                  string // of misfits
	}{
		{"Emil was vaccinated in 2024. Mina and Emil swim.", "2024", "When was Mina vaccinated?", "another name's"},
		{"Emil was vaccinated in 2024. Mina and Emil swim.", "2024", "When was Emil vaccinated?", ""},
		{"Emil was vaccinated in 2024. Mina and Emil swim.", "2024", "When was Mina's dad vaccinated?", ""},
		{"Emil was vaccinated in 2024. Mina and Emil swim.", "2024", "When was he vaccinated?", ""},
		{"Emil was vaccinated in 2024. Emil Roth and Mina swim.", "2024", "When was Roth vaccinated?", ""},
		{"Roth built the mill in 1970. Emil Roth, called Bo, saw Roth.", "1970", "When did Bo build the mill?", ""},
		{"Lars drove him to Ulm on 5 May. Emil and Lars swim.", "5 May", "When was Emil driven to Ulm?", ""},
		{"Doors open at 9:00. Ulm has a hall.", "9:00", "When does Ulm open?", ""},
		{"Emil and Lars came at 9:00. Mina saw Emil.", "9:00", "When did Mina come?", ""},
		{"Voss founded the company in 1922. In 1930 Nordwind and Voss moved.", "1922", "When was Nordwind founded?", ""},
		{"Voss found a copy in 1880. The play Tamar made Voss famous.", "1880", "When was Tamar found?", ""},
		{"Milo was ill in May. Emil (Milo to all) and Milo swim.", "May", "When was Emil ill?", ""},
		{"Susi fell in June. Susanne told Susi.", "June", "When did Susanne fall?", ""},
		{"Ann has no allergy, she takes pills at 9:00. Bob and Ann swim.", "9:00", "When does Bob take pills?", "another name's"},
		{"Bo gets a pill every month, last on 5 May.", "5 May", "When is Bo's next pill due?", "the last, not the next"},
		{"Bo gets a pill every month, last on 5 May.", "5 May", "When was Bo's last pill?", ""},
		{"Oil change: last on 5 May.", "5 May", "When is the next oil change?", "only the last"},
		{"Service log\n\n- 2023-04-12: oil change, 189 €", "2023-04-12", "When is the next oil change?", "only the last"},
		{"Service log\n\n- 2023-04-12: oil change, 189 €", "2023-04-12", "When was the last oil change?", ""},
		{"Service log\n\nThe next oil change is due on 5 May.", "5 May", "When is the next oil change?", ""},
		{"Trips\n\n- 2023-04-12: boat to Ulm", "2023-04-12", "When is the next boat to Ulm?", ""},
		{"The chimney was swept on 5 May.", "5 May", "When is the chimney sweep due?", "only the last"},
		{"Local History Club\n\nMeeting of the board: 12 May.", "12 May", "When is the next board meeting?", ""},
		{"Logs and kindling\n\nDelivery 9 November, by Wagner.", "9 November", "When is the next delivery?", ""},
		{"Fee: payable on the last Friday of March.", "last Friday of March", "When is the fee due?", ""},
		{"We meet on the last Thursday of the month.", "Thursday of the month", "When is the next meeting?", ""},
		{"Fire drill 5 May, next to the barn.", "5 May", "When was the last fire drill?", ""},
		{"The next pill is to be taken on 5 May.", "5 May", "When is the next pill?", ""},
		{"The last day to pay is 5 May.", "5 May", "When is the fee due?", ""},
		{"As we said last week, we meet on 5 May.", "5 May", "When is the next meeting?", ""},
		{"The last train goes at 23:50.", "23:50", "When does the last train go?", ""},
		{"Dentist: next appointment 14 May.", "14 May", "When was the last dentist appointment?", "the next, not the last"},
		{"Dentist: Dr Osei, next appointment 14 May.", "Dr Osei, next appointment 14 May", "When was the last dentist appointment?", "the next, not the last"},
		{"Jab on 5 May 2019, to be renewed after ten years.", "5 May 2019", "When is the next jab?", "the last, not the next"},
		{"It is oiled each autumn; the next time is 14 May.", "each autumn", "When was it last oiled?", "the next, not the last"},
		{"It was oiled in autumn; the next time is 14 May.", "in autumn", "When was it last oiled?", ""},
		{"Dentist: next appointment 14 May.", "14 May", "When is the next dentist appointment?", ""},
		{"Bo takes 75 µg. It was 50 µg until February 2026.", "50 µg", "What is Bo's dose since March 2026?", "until some time"},
		{"Bo takes 75 µg. It was 50 µg until February 2026.", "It was 50 µg", "What is Bo's dose?", "until some time"},
		{"Bo takes 75 µg. It was 50 µg until February 2026.", "75 µg", "What is Bo's dose?", ""},
		{"Bo takes 75 µg. It was 50 µg until February 2026.", "50 µg", "What was Bo's dose in January 2026?", ""},
		{"The rent is 1,295 € from 1 August (until then 1,240 €).", "1,240 €", "What is the rent from September 2026?", "out of date"},
		{"The rent is 1,295 € from 1 August (until then 1,240 €).", "1,295 €", "What is the rent from September 2026?", ""},
		{"The rent is 1,295 € from 1 August (until then 1,240 €).", "1,240 €", "What was the rent?", ""},
		{"The mill was in Ulm until 2011 and then moved to Kiel.", "The mill was in Ulm until 2011 and then moved to Kiel.", "Where is the mill?", ""},
		{"The mill was full until May.", "May", "When is there room in the mill?", ""},
		{"The mill was open until 5.", "5", "How long is the mill open?", ""},
		{"Ada has left; Bo does the books.", "Ada", "Who does the books?", "out of date"},
		{"Ada has left; Bo does the books.", "Ada", "Who left?", ""},
		{"The walk was moved to Ulm.", "Ulm", "Where was the walk before?", "only what came after"},
		{"The walk was moved from Kiel to Ulm.", "Kiel", "Where was the walk before?", ""},
		{"The walk was moved to Ulm.", "Ulm", "Where is the walk?", ""},
		{"The fee was raised to 9 €. It was 8 € until May.", "9 €", "What was the fee before?", ""},
		{"Below 1 bar, refill it by the blue tap.", "the blue tap", "At which pressure should I refill it?", "no number in it"},
		{"Below 1 bar, refill it by the blue tap.", "Below 1 bar", "At which pressure should I refill it?", ""},
		{"Too little water. Refill to between 1 and 2 bar.", "1 and 2 bar", "At what pressure do I have to refill the boiler?", "up to which, not at which"},
		{"Inflate the tyres to 4 bar.", "4 bar", "At what pressure should I inflate the tyres?", ""},
		{"Too little water. Refill to 2 bar.", "2 bar", "To what pressure do I refill the boiler?", ""},
		{"Set the oven to 180 °C.", "180 °C", "At what temperature do I set the oven?", ""},
		{"Bake the bread at 180 °C.", "180 °C", "At what temperature do I bake the bread?", ""},
		{"Wash it at low heat, 2 times.", "low heat", "Which heat does it need?", ""},
		{"Tyres cost 4 €. Asbestos is not accepted.", "Asbestos", "Can I bring tyres to the centre?", "another thing"},
		{"Tyres cost 4 €. Asbestos is not accepted.", "4 €", "Can I bring tyres to the centre?", ""},
		{"Wheels cost 4 €. Asbestos is not accepted.", "Asbestos", "Can I bring tyres to the centre?", ""},
		{"Tyres: see below. They are not accepted.", "not accepted", "Can I bring old tyres to the centre?", ""},
		{"Dogs are not allowed on the ferry.", "not allowed", "Are dogs allowed at the pool?", "allowed elsewhere"},
		{"Dogs are not allowed on the ferry.", "not allowed", "Does my landlord allow dogs?", "allowed elsewhere"},
		{"Dogs are not allowed on the ferry.", "not allowed", "Are dogs allowed on the ferry?", ""},
		{"The pool is new. Dogs are not allowed on the lawn.", "not allowed", "Are dogs allowed at the pool?", ""},
		{"Dogs are not allowed on the lawn.", "not allowed", "Are dogs allowed in the house?", ""},
		{"Fires are allowed in the evening.", "allowed", "Are fires allowed at the pool?", ""},
		{"Fires are not allowed anywhere in the dunes.", "not allowed", "Are fires allowed at the pool?", ""},
		{"Tenancy agreement\n\nFires are forbidden on the balconies.", "forbidden", "Does the landlord allow fires?", ""},
		{"Dogs are not allowed.", "not allowed", "Are dogs allowed at the pool?", ""},
		{"The box db-old goes on 28 Feb.", "28 Feb", "When does db-new go?", "another identifier"},
		{"The box db-old goes on 28 Feb.", "28 Feb", "When does db-old go?", ""},
		{"The box db-eu-2 goes on 28 Feb.", "28 Feb", "When does db-eu-3 go?", "another identifier"},
		{"The box db-eu-2 goes on 28 Feb.", "28 Feb", "When does db-eu-2 go?", ""},
		{"The box db-eu-12 goes on 28 Feb.", "28 Feb", "When does db-eu-1 go?", "another identifier"},
		{"The box db-prod goes on 28 Feb.", "28 Feb", "When does db-production go?", ""},
		{"The box web02 goes on 28 Feb.", "28 Feb", "When does web03 go?", "another identifier"},
		{"The box web2 goes on 28 Feb.", "28 Feb", "When does web02 go?", ""},
		{"The state-of-affairs talk is on 28 Feb.", "28 Feb", "When is the state-of-the-art talk?", ""},
		{"Host | Owner\nmill-2 | Ada Lund", "mill-2", "Who is Ada Lund?", "what somebody has"},
		{"Host | Owner\nmill-2 | Ada Lund", "mill-2", "Who has Ada Lund?", ""},
		{"Role | Holder\nTreasurer | Ada Lund", "Treasurer", "Who is Ada Lund?", ""},
		{"Name | Room\nAda Lund | 12", "12", "Who is Ada Lund?", ""},
		{"- Lamp fair: at noon; free\n- Open mill: tickets 9 €", "9 €", "How much is a ticket for the lamp fair?", "another item's"},
		{"- Lamp fair: at noon; free\n- Open mill: tickets 9 €", "9 €", "How much is a ticket for the mill?", ""},
		{"- Boat trip with lunch: 12:00 from pier 2\n- Price: 34 €", "34 €", "What does the boat trip with lunch cost?", ""},
		{"- Lamp fair: on 3 May\n- Tickets: 9 €", "9 €", "How much is the lamp fair?", ""},
		{"Deleted on 28 Feb: db-old and db-new.", "28 Feb", "When is db-new deleted?", ""},
		{"--safe was dropped in 3.0.\n\nTwice as fast since 2.0.", "2.0", "Since which version is there --fast?", "another option"},
		{"--[no-]cache came in 2.0. Set maxAge.", "2.0", "Since when is there --no-cache?", ""},
		{"--[no-]cache came in 2.0. Set maxAge.", "2.0", "Since which version is there max_age?", ""},
		{"--fast skips checks.\nIt came in 2.0.", "2.0", "Since which version is there --fast?", ""},
		{"max_age\n\nSince 2.0 it is 5.", "5", "What is max_age?", ""},
		{"2.1.0 (May)\n\nFaster by 5 %.\n\n2.0.0 (April)\n\nFaster by 9 %.", "9 %", "How much faster is 2.0.0?", ""},
		{"Dogs?\nYes, on Fridays.", "Fridays", "Are dogs allowed on Tuesdays?", "yes, but another day"},
		{"Dogs?\nYes, on Fridays.", "Fridays", "Are dogs allowed on Friday?", ""},
		{"Dogs?\nYes, except on Fridays.", "Fridays", "Are dogs allowed on Tuesday?", ""},
		{"Dogs come on Fridays.", "Fridays", "Are dogs allowed on Tuesday?", ""},
		{"Sign-ups close on 3 May.", "3 May", "When is the last sign-up?", ""},
		{"The vice-chairman came in May.", "May", "When did the vice-chair come?", ""},
		{"9:00 Bo: Where is my drill?\n9:05 Ines: I have it at home.", "at home", "Where is Bo's drill?", ""},
		{"9:00 Bo: who fetches me on Friday?\n9:05 Ines: I can, at 18:30", "18:30", "When will Bo be fetched on Friday?", ""},
		{"A non-member pays at 9:00.", "9:00", "When does a non-smoker pay?", ""},
		{"5 May\n\nAda came.", "Ada", "Who came on 3 May?", "another date"},
		{"Lamp | Changed | Hours on 1 May\nB | 12 Feb | 7455", "7455", "How many hours did lamp B have on 1 May?", ""},
		{"The mill closes at 5. It is closed on Mondays.", "Mondays", "When does the mill close?", "closed then, not closing"},
		{"2.1.0 (May)\n\nFaster by 5 %.\n\n2.0.0 (April)\n\nFaster by 9 %.", "9 %", "How much faster is 2.1.0?", "another release"},
		{"The dough has 68 % rather than my summer 75 %.", "68 %", "What wetness in summer?", "the other of two"},
		{"I cannot find the key.", "I cannot find the key", "Who has the key?", "denied"},
		{"Keep out of the reach of children.", "children", "Can children take it?", "out of reach"},
		{"Meeting: 3 May, 19:00, laundry.", "19:00", "Where is the meeting?", "no place"},
		{"Ada Lund did not want the keys again, so Per Holm has them.", "Ada Lund", "Who has the keys?", "denied"},
		{"Ada Lund, resigned in May as keeper.", "Ada Lund", "Who is the keeper?", "denied"},
		{"The weir is turned on in April.", "April", "When is the weir turned off?", "the opposite"},
		{"The mill closes at 5.", "5", "When does the mill open?", "the opposite"},
		{"Le car arrive à Lyon à 11 h 40.", "11 h 40", "at what time must one partir?", "the opposite"},
		{"Ankunft des Zuges: 11:40 Uhr", "11:40", "when fährt the Zug?", "the opposite"},
		{"El tren llega a Madrid a las 11:40.", "11:40", "at what time sale the tren?", "the opposite"},
		{"El tren sale a las 8:15.", "8:15", "at what time llega the tren?", "the opposite"},
		{"The parade sets off at 10 at the west end of the lane.", "10", "When does the parade start?", ""},
		{"The part arrives at 11:40.", "11:40", "At what time is the part there?", ""},
		{"We blamed the wind for the lamp. That was wrong. It was a cat.", "the wind", "What broke the lamp?", "taken back"},
		{"We blamed the wind for the lamp. That was wrong. It was a cat.", "the wind", "What did we blame for the lamp?", ""},
		{"The lamp hangs in Lund. It was not so easy to find.", "Lund", "Where does the lamp hang?", ""},
		{"Ole has the boat now. That was a mistake.", "Ole", "Who has the boat?", ""},
		{"Ole has the boat. This is a mistake, Bo has it.", "Ole", "Who has the boat?", "taken back"},
		{"We blamed the wind for the lamp. That was a bad day.", "the wind", "What broke the lamp?", ""},
		{"Let for 5 May: a flat of two rooms.", "two rooms", "How long is the flat let?", "another measure"},
		{"5 May\n\nAda came.", "Ada", "Who came on May 5th?", ""},
		{"5 May\n\nAda came on Sunday, 3 May.", "Ada", "Who came on the 3rd of May?", ""},
		{"2024-11-19\n\nAda came.", "Ada", "Who came on 20 November 2024?", "another date"},
		{"2024-11-19\n\nAda came.", "Ada", "Who came on 19 November 2024?", ""},
		{"Ada was here from 1 to 5 May.", "Ada", "Who was here on 3 May?", ""},
		{"Ada came on 5 May.", "Ada", "Who came in May?", ""},
		{"3 to 7 February\n\nYear 4 sees Ulm.", "Ulm", "What does year 3 see?", "another number"},
		{"Deploy of service 5.12 by Ada", "Ada", "Who deployed service 5.11?", "another number"},
		{"1 and 2 July\n\nKilian carried the tent.", "Kilian", "Who carried the tent on 1 July?", ""},
		{"4 May\n\nYesterday Jonas drove.", "Jonas", "Who drove on 3 May?", ""},
		{"On 10 May there is a sale. Paperbacks are £1.", "£1", "What are paperbacks on 10 May?", ""},
		{"Version 3 needs 2 GB.", "2 GB", "How much does version 3.2 need?", ""},
		{"Ahmed the baker brings rolls.", "Ahmed", "Who brings rolls?", ""},
		{"The first train goes at 5:10, the final train at 23:50.", "23:50", "When does the last train go?", ""},
		{"The last mill closed in 1971.", "1971", "When did the first mill close?", "another in turn"},
		{"The first mill closed in 1971.", "1971", "When did the first mill close?", ""},
		{"The first mill closed in 1971 (last claim 1970).", "1970", "When was the last claim?", ""},
		{"The last cotton mill closed in 1971.", "1971", "When did the first mill close?", "another in turn"},
		{"The first mill closed in 1971, the last one in 1990.", "1990", "When did the last mill close?", ""},
		{"- Ada Lund (daughter): lives near Per\n- Per: likes tea", "near Per", "Where does Per live?", ""},
		{"A ticket from Ulm to Kiel costs 9 €.", "9 €", "What does a ticket from Ulm to Bonn cost?", "the way back"},
		{"A ticket from Ulm to Kiel costs 9 €.", "9 €", "What does a ticket from Ulm to Kiel cost?", ""},
		{"The batteries of the doors last 18 months; those of the gates a year.", "18 months", "How long do the batteries of the gates last?", "another's value"},
		{"The batteries of the doors last 18 months; those of the gates a year.", "a year", "How long do the batteries of the gates last?", ""},
		{"Ada: 0555 016 218, from 9 to 5.", "0555 016 218", "When can I call Ada?", "no time but a number to call"},
		{"Ada: 0555 016 218, from 9 to 5.", "from 9 to 5", "When can I call Ada?", ""},
		{"Built on 2019-04-28.", "2019-04-28", "When was it built?", ""},
		{"Cake\n- 2 lemons\n- 3 eggs", "2", "How many eggs does the cake need?", "another's amount"},
		{"Cake\n- 2 lemons\n- 3 eggs", "3", "How many eggs does the cake need?", ""},
		{"Cake\n- 2 lemons\n- eggs", "2", "How many eggs does the cake need?", ""},
		{"The dough has 68 % rather than my summer 75 %.", "75 %", "What wetness in summer?", ""},
		{"We meet at the inn instead of the mill.", "the inn", "Where do we meet?", ""},
		{"The limit is now 45 instead of 30.", "30", "What was the limit before?", ""},
		{"We meet at the inn instead of the mill.", "the inn", "Where do we meet instead of the mill?", ""},
		{"Ada comes at 9:00.", "Ada", "Who can't come?", "not denied"},
		{"Apologies: Ada.", "Ada", "Who wasn't there?", ""},
		{"Ada can't come.", "Ada", "Who can't come?", ""},
		{"Keep out of the reach of children.", "out of the reach of children", "How do I keep it?", ""},
		{"The fuses are on the shelf, out of reach of the playgroup.", "on the shelf", "Are the fuses out of reach of children?", ""},
		{"Nuts: Ines has an allergy.", "Ines", "Who can't eat nuts?", ""},
		{"Sunniva is on holiday.", "Sunniva", "Who can't come?", ""},
		{"Elected in May 2022: Piet.", "Piet", "Who was elected in 2024?", ""},
		{"Open 9.30-12.45.", "9.30-12.45", "When can I call?", ""},
		{"The guide is Bo rather than Ada in the hall.", "Bo", "Who shows us the hall?", ""},
		{"Meeting: 3 May, 4.15, laundry.", "4.15", "Where is the meeting?", ""},
		{"The needle stopped at 45 minutes.", "45 minutes", "Where did the needle stop?", ""},
		{"The mill was built in 1604.", "1604", "When was the mill built?", ""},
		{"The mill was built while the king was away.", "while the king was away", "When was the mill built?", ""},
		{"Die Mühle öffnet montags.", "montags", "When does the mill open?", ""},
		{"News.\n\n4 March 2025\nThe mill was sold.", "The mill was sold", "When was the mill sold?", "the question again"},
		{"The weir needs patience.", "patience", "How high is the weir?", "no number, another shape"},
		{"The weir is waist-high, a metre.", "a metre", "How high is the weir?", ""},
		{"If you pay within 14 days, the lease runs for three years.", "three years", "How long does the lease run if you pay at once?", ""},
		{"If you pay within 14 days, the lease runs for three years.", "14 days", "How long do I have to pay?", ""},
		{"Boat 7: Vaasa – Umeå, 9:00", "9:00", "When does the boat to Vaasa sail?", "the way back"},
		{"Boat 7: Vaasa – Umeå, 9:00", "9:00", "When does the boat to Umeå sail?", ""},
		{"Boat 7: Vaasa – Umeå, 9:00", "9:00", "When does the boat from Umeå sail?", "the way back"},
		{"From | To | Fare\nVaasa | Umeå | 9 €", "9 €", "What is the fare from Umeå to Vaasa?", "the way back"},
		{"From | To | Fare\nVaasa | Umeå | 9 €", "9 €", "What is the fare from Vaasa to Umeå?", ""},
		{"Boat 7: Vaasa – Umeå – Vaasa, 9:00", "9:00", "When does the boat to Vaasa sail?", ""},
		{"Tuesday to Sunday 10:00–14:00", "10:00", "When does it open on Saturdays?", ""},
		{"Daily 10:00–14:00, Fri from 8:00", "10:00", "When does it open on Saturday?", ""},
		{"Sunday\n\n- open by Monday's list, 9:00", "9:00", "When do you open on Sunday?", ""},
		{"The garden opens at 9:00, on Sundays at 11:00.", "9:00", "When does it open on Saturday?", ""},
		{"On Mondays it is closed, otherwise open from 9:00", "9:00", "When does it open on Saturday?", ""},
		{"The Friday fair: stalls by Tuesday 9:00.", "9:00", "When must I book for Saturday?", ""},
		{"The stalls open at 10:00.", "10:00", "When do they open on Saturday?", ""},
		{"The trip was planned for 13 May. It has been moved to 20 May.", "13 May", "When was the trip to be at first?", ""},
		{"The trip was planned for 13 May. It has been moved to 20 May.", "20 May", "When is the trip?", ""},
		{"Paid the roofer 410 euros.", "410 euros", "When was the roofer paid?", "no time but money"},
		{"Parking is free if you spend 30 euros.", "30 euros", "When is parking free?", ""},
		{"The bridge is closed for longer. Divers found cracks.", "The bridge is closed for longer", "Why is the bridge closed?", "no reason"},
		{"The race was planned for 24 May and has been moved to 31 May.", "24 May", "When is the race?", ""},
		{"The prize went to number 14.", "number 14", "Who got the prize?", ""},
		{"Ada Lund did not want the keys again, so Per Holm has them.", "Per Holm", "Who has the keys?", ""},
		{"Ada Lund did not want the keys again, so Per Holm has them.", "Ada Lund", "Who did not want the keys?", ""},
		{"The sack weighs 9 kg and lasts 3 weeks.", "3 weeks", "How heavy is the sack?", "another measure"},
		{"The sack weighs 9 kg and lasts 3 weeks.", "9 kg", "How heavy is the sack?", ""},
		{"The wall is 2 m high and took 9 days.", "9 days", "How high is the wall?", "another measure"},
		{"The fee for a wall is 900 €.", "900 €", "How high is the fee for a wall?", ""},
		{"The wall cost 900 € on 2 March.", "2 March", "What did the wall cost?", "another measure"},
		{"The wall cost 900 € a day in March.", "900 € a day in March", "What did the wall cost?", ""},
		{"The fee of 9 € had 14 votes.", "9 €", "How many voted for the fee?", "another measure"},
		{"The fee is 9 euros.", "9 euros", "How many euros is the fee?", ""},
		{"The oak chair is 9 kg, the ash chair 7 kg.", "oak", "Which chair is heavier?", "no comparison"},
		{"The oak chair is heavier than the ash chair.", "The oak chair", "Which chair is heavier?", ""},
		{"Older members may vote.", "Older members", "Who may vote if they are older?", ""},
		{"Mina was eleven when Rex came.", "Rex", "What was the name of Mina's dog?", ""},
		{"A taxi to the pier is £7-8.", "£7-8", "Which bus goes to the pier?", "no thing but money"},
		{"A taxi to the pier is £7-8.", "£7-8", "Which price has a taxi to the pier?", ""},
		{"The barrow stands by the shed.", "the shed", "What colour is the barrow?", "another shape"},
		{"The barrow is “Chalk Mist”.", "Chalk Mist", "What colour is the barrow?", ""},
		{"The barrow is dark red.", "dark red", "What colour is the barrow?", ""},
		{"Colours\n\n- barrow: RAL 3003", "RAL 3003", "What colour is the barrow?", ""},
		{"The talk is on 2–5 Dec. It takes 12 min.", "2–5 Dec.", "What time is the talk?", "another shape"},
		{"The class leaves on Wednesday 11 June.", "Wednesday 11 June", "At what time does the class leave?", "another shape"},
		{"The class leaves on Wednesday at 8 from the gym.", "Wednesday", "At what time does the class leave?", ""},
		{"The class leaves at eight on Wednesday.", "Wednesday", "At what time does the class leave?", ""},
		{"The harvest is in September.", "September", "What time of year is the harvest?", ""},
		{"The library is open 9–17 on weekdays.", "9–17", "What time is the library open?", ""},
		{"The talk is on 2–5 May.", "2–5 May", "What time is the talk?", "another shape"},
		{"The bar closes at dusk.", "dusk", "What time does the bar close?", ""},
		{"Departs\n\nMill 0839 1139", "0839", "What time is the first bus from the mill?", ""},
		{"The shop closes at 6, on Sundays at 4.", "6", "Until what time can I buy bread in the shop?", ""},
		{"Write to Ada Lund.", "Ada Lund", "What is Ada's e-mail address?", "another shape"},
		{"Write to ada@mill.example.", "ada@mill.example", "What is Ada's e-mail address?", ""},
		{"The pump has three lamps.", "three", "How loud is the pump?", "another shape"},
		{"Until March Ms Grube stands in for him.", "Ms Grube", "Who stands in for Mr Adewale?", ""},
		{"Patient: Lina Vogt, born 4 April 2004", "4 April 2004", "When is Lina's birthday?", ""},
		{"The company was born on 3 May 1919.", "3 May 1919", "When did the company start?", ""},
		{"The Bauhaus school was born on 1 April 1919.", "1 April 1919", "When was the Bauhaus founded?", ""},
		{"We celebrate Grandma's 80th birthday on 4 April.", "4 April", "When do we celebrate?", ""},
		{"Party for Oma's birthday: 4 April, 15:00", "4 April", "When is the party for Oma?", ""},
		{"Lina Vogt, née le 4 avril 2004 à Lyon", "4 avril 2004", "Quand est née Lina ?", ""},
		{"Mr Dorn is the vet. He meets Mrs Lang on Friday at 10:00.", "Friday at 10:00", "When does Mr Dorn meet Mrs Lang?", ""},
		{"Mr Dorn has the flat. Mrs Lang gave him the key on 3 May.", "3 May", "When did Mr Dorn get the key?", ""},
		{"Dr Roth sees patients on Monday.", "Monday", "When does Dr Anna Roth see patients?", ""},
		{"Frau Dr. med. Anna Roth operiert am Montag.", "Montag", "When does Dr Roth operate?", ""},
		{"Lina was born on the day of the operation, 4 April 2004.", "4 April 2004", "When was Lina's operation?", ""},
		{"Ada Lund complained in March 1984.", "March 1984", "When was Ada Lund born?", "another shape"},
		{"Ada Lund est née à Lyon en 1984.", "1984", "When was Ada Lund born?", ""},
		{"Ole Lund est né à Lyon en 1984.", "1984", "When was Ole Lund born?", ""},
		{"Ada Lund (1984–2020) complained.", "1984", "When was Ada Lund born?", ""},
		{"Your walk with Ada on 3 May is cancelled.", "3 May", "When is the walk?", "cancelled"},
		{"Your walk with Ada on 3 May is cancelled.", "3 May", "Which walk was cancelled?", ""},
		{"The walk was moved from 3 May to 10 May.", "3 May", "When is the walk?", "out of date"},
		{"The walk was moved from 3 May to 10 May.", "10 May", "When is the walk?", ""},
		{"The walk was moved from 3 May to 10 May.", "3 May", "When was the walk before?", ""},
		{"On 2 May the water is off in Mill Lane and on the square.", "on the square", "When is the water off in Mill Lane?", "no time in it"},
		{"On 2 May the water is off in Mill Lane and on the square.", "2 May", "When is the water off in Mill Lane?", ""},
		{"Mr Lund, phone 555 1204.", "phone", "What is Mr Lund's number?", "no digit"},
		{"Mr Lund, phone 555 1204.", "555 1204", "What is Mr Lund's number?", ""},
		{"Ada Holm teaches Year 5.", "Ada Holm", "Who teaches year 3?", "another number"},
		{"Ada Holm teaches Year 5.", "Ada Holm", "Who teaches year 5?", ""},
		{"Ada Holm teaches years 3 to 5.", "Ada Holm", "Who teaches year 5?", ""},
		{"Ada Holm teaches here.", "Ada Holm", "Who teaches year 3?", ""},
		{"Room 3 is Ada Holm's; she has room 5 on 9 May.", "Ada Holm", "Who has room 9?", ""}, // 9 is there, too
		{"Two of us met the 31 members.", "31", "How many members are there?", ""},
		{"Clean the pump every week.\n\n1. Close the tap.\n2. Open the lid.", "Close the tap", "How do I clean the pump?", ""},
		{"The bridge is closed for longer. Divers found cracks.", "Divers found cracks", "Why is the bridge closed?", ""},
		{"The bridge is closed because of ice.", "The bridge is closed because of ice", "Why is the bridge closed?", ""},
		{"A lesson was 28 €; since May it is 31 €.", "28 €", "What does a lesson cost?", "of before"},
		{"Le cours était à 28 €; depuis mai il est à 31 €.", "28 €", "What does a cours cost?", "of before"},
		{"A lesson was 28 €; since May it is 31 €.", "31 €", "What does a lesson cost?", ""},
		{"A lesson was 28 €; since May it is 31 €.", "28 €", "What did a lesson cost?", ""},
		{"The repair was to cost 2 million. It is now expected to cost 4 million.", "2 million", "What does the repair cost?", "of before"},
		{"The invoice (no. 24-31) was paid. Lessons: 31 an hour.", "The invoice (no. 24-31) was paid", "What does a lesson cost?", "no price"},
		{"The invoice (no. 24-31) was paid. Lessons: 31 an hour.", "31 an hour", "What does a lesson cost?", ""},
		{"Mr Lund's pump pays back in 3 years.", "3 years", "What is Mr Lund's number?", "no digit"},
		{"Breakfast is only for those who come before 8.15.", "8.15", "How much is breakfast?", "no amount"},
		{"Breakfast before 8.15 is 4.50.", "4.50", "How much is breakfast?", ""},
		{"Breakfast is included.", "included", "What does breakfast cost?", ""},
		{"The disk in bay 2 is of 20 February 2026, the one in bay 1 is old.", "old", "How much did the disk in bay 1 cost?", "no amount, no number in it"},
		{"You asked in 2024 to take over Unit 5.", "to take over Unit 5", "What is the rent for unit 5?", "no amount"},
		{"Unit 5, 62 m²: 445 a month.", "445", "What is the rent for unit 5?", ""},
		{"A stall is twelve a day.", "twelve", "What is the fee for a stall?", ""},
		{"The fee pays for the hall.", "the hall", "What is the fee for?", ""},
		{"The rent is due on the 3rd.", "the 3rd", "What is the rent due date?", ""},
		{"There are 40 litres in the tank.", "40 litres", "How much is in the tank?", ""},
		{"Das Frühstück gibt es ab 7 Uhr.", "7 Uhr", "How much is the Frühstück?", "no amount"},
		{"E1: the tap is closed.", "the tap is closed", "What does E3 mean?", "another code"},
		{"E3: the tap is closed.", "the tap is closed", "What does E3 mean?", ""},
		{"E1/E3: the tap is closed.", "the tap is closed", "What does E3 mean?", ""},
		{"E1–E5: the tap is closed.", "the tap is closed", "What does E3 mean?", ""},
		{"Section E1\n\nE3: the tap is closed.", "the tap is closed", "What does E03 mean?", ""},
		{"E1 is a fault of the tap. The tap is closed.", "closed", "What is the tap with E3?", "another code"},
		{"E3 comes after E1. It says that the tap is closed.", "closed", "What does E3 mean?", ""},
		{"E1 is no fault. E3 is one. The tap is closed.", "closed", "What is the tap with E3?", ""},
		{"E1 and E3: the tap is closed.", "the tap is closed", "What does E-3 mean?", ""},
		{"The tap is closed.", "The tap is closed", "What does E3 mean?", ""},
		{"A full day is £58, a morning (until 12.45) £33 and an afternoon £30.", "£30", "What is the price of a morning?", "another's value"},
		{"A full day is £58, a morning (until 12.45) £33 and an afternoon £30.", "£33", "What is the price of a morning?", ""},
		{"A full day is £58, a morning (until 12.45) £33 and an afternoon £30.", "£30", "What is the price of an afternoon?", ""},
		{"It is £58 for a day, £33 for a morning and £30 for an afternoon.", "£33", "What is the price of a morning?", ""},
		{"A morning is £33, with lunch £38.", "£38", "What is the price of a morning with lunch?", ""},
		{"A morning is £33, with lunch £38.", "£33", "What is the price of a morning?", ""},
		{"A morning is £33, with lunch £38.", "£38", "What is the price of lunch?", ""},
		{"The mill opens at 9:40 and closes at 17:20.", "17:20", "What time does the mill shut?", ""},
		{"A bicycle is £12, for a week £50.", "£50", "What does a bicycle cost for seven days?", ""},
		{"The ferry leaves at 9:40 and arrives in Kiel at 12:20.", "12:20", "When does the ferry reach the port?", ""},
		{"A full day is £58, a morning £33 and an afternoon £30.", "30", "What is the price of a morning?", "another's value"},
		{"Electricity: March 95, April 98.", "95", "How much was electricity in March?", ""},
		{"Flats are from 1950 a month.", "1950", "What is the rent?", ""},
		{"Sauna: 9 adults, 5 children.", "9", "What does the sauna cost?", ""},
		{"Left: 3 days.", "3", "How much is left?", ""},
		{"E1–5: the tap is closed.", "the tap is closed", "What does E3 mean?", ""},
		{"E1, 2 and 3: the tap is closed.", "the tap is closed", "What does E3 mean?", ""},
		{"Manager: Ada Lund", "Ada Lund", "Who is assistant to the manager?", ""},
		{"The mill opens at 9:40, the shop at 10:20.", "10:20", "When does the mill open?", "another's value"},
		{"The mill opens at 9:40, the shop at 10:20.", "10:20", "When does the shop open?", ""},
		{"The mill opens at 9:40 and closes at 17:20.", "17:20", "When does the mill close?", ""},
		{"Single room 85", "85", "How much is a single room?", ""},
		{"Bicycle, full day 18", "18", "How much is a bicycle for a full day?", ""},
		{"The fee for a stall was set at 25.", "25", "What is the fee for a stall?", ""},
		{"We agreed on a rent of 1500.", "1500", "What is the rent?", ""},
		{"Zimmer ab 45.", "45", "How much is a Zimmer?", ""},
		{"Rent: January 1250, February 1310.", "1310", "What was the rent in February?", ""},
		{"Sauna entry: 9, adults only", "9", "What is the price of the sauna entry?", ""},
		{"The bridge cost 3.2m.", "3.2m", "What did the bridge cost?", ""},
		{"A lost key costs Rs 800. Call 5.", "Rs 800", "What does a lost key cost?", ""},
		{"A lost key costs ₹ 800. Call 5.", "₹ 800", "What does a lost key cost?", ""},
		{"Salinity must be at least 28.", "at least 28", "What is the lowest salinity?", ""},
		{"Salinity must be 28.", "28", "What is the lowest salinity?", "no comparison"},
		{"The last film takes 90 min.", "last", "Which is the longest film?", "no comparison"},
		{"Max is 12, Bo is 9.", "Bo", "Which child is the youngest?", "no comparison"},
		{"Salinity: min. 28.", "28", "What is the lowest salinity?", ""},
		{"Load the van with at most 900 kg.", "900 kg", "What is the heaviest load?", ""},
		{"Firewood is a tenner per bag.", "a tenner", "What does firewood cost?", "no price"},
		{"The late fee is waived.", "waived", "What is the late fee for pupils?", ""},
		{"The cost centre of the garden is Orchid.", "Orchid", "What is the cost centre of the garden?", ""},
		{"They put off the roof to cut costs.", "put off the roof", "What did they do to cut costs?", "no price"},
		{"The rent collector is Mr Voss.", "Mr Voss", "What is the rent collector's name?", ""},
		{"The dog sleeps most of the day.", "most of the day", "How much does the dog sleep?", ""},
		{"Mon 24: guesthouse for 3 nights, booked.", "3 nights", "How much is left?", ""},
		{"Guesthouse: 3 a head.", "3", "What does the guesthouse cost?", ""},
		{"Ada Lund came on 3 May.", "3 May", "Who came, and on what day?", ""},
		{"I stopped at 9 June 1944.", "9 June 1944", "Where did I stop?", ""},
		{"2nd violin: Eva Lind", "Eva Lind", "Who is second violin?", ""},
		{"The mill is valid until 3 May.", "3 May", "How much of the year is it valid?", ""},
		{"Manager: Ada Lund", "Ada Lund", "Who is deputy manager at the mill?", "another role"},
		{"Ada Lund, deputy of the manager", "Ada Lund", "Who is deputy manager?", ""},
		{"Manager: Ada Lund", "Ada Lund", "Who is manager at the mill?", ""},
		{"30 April\nThe mill has moved to the hill.\n\n12 May\nThe dog is ill.", "12 May", "When did the mill move to the hill?", "the day of something else"},
		{"30 April\nThe mill has moved to the hill.\n\n12 May\nThe dog is ill.", "30 April", "When did the mill move to the hill?", ""},
		{"30 April\nThe mill has moved to the hill.\n\n12 May\nThe dog is ill.", "12 May", "When was the dog ill?", ""},
		{"30 April\nThe mill has moved to the hill.\n\n12 May\nThe dog is ill.\n\n3 June\nThe cat, too.", "3 June", "When was the dog ill?", "the day of something else"},
		{"- Photos: ~~Ada Lund~~ Per Holm", "Ada Lund", "Who takes the photos?", "struck out"},
		{"- Photos: ~~Ada Lund~~ Per Holm", "Per Holm", "Who takes the photos?", ""},
		{"- Photos: ~~Ada Lund~~ Per Holm", "Ada Lund", "Who was to take the photos before?", ""},
		{"- Photos: ~~Ada Lund~~ Per Holm, ~~Bo~~ Kim", "Per Holm", "Who takes the photos?", ""},
		{"- Photos: ~~Ada Lund~~ Per Holm", "~~Ada Lund~~", "Who takes the photos?", "struck out"},
		{"- Photos: ~~Ada Lund~~ Per Holm", "~~Ada Lund~~ Per Holm", "Who takes the photos?", ""},
		{"- ~~Buy a lamp~~", "~~Buy a lamp~~", "Should I buy a lamp?", "all struck out"},
		{"- ~~Buy a lamp~~ at Kim's", "~~Buy a lamp~~", "Should I buy a lamp?", ""},
		{"Prices 2024\n\nA saw is 31.", "31", "What was a saw in 2022?", ""}, // no title
		{"MUM: drops Xalan\nDAD: B12", "Xalan", "Which drops does Dad take?", "another's line"},
		{"MUM: drops Xalan\nDAD: B12", "Xalan", "Which drops does Mum take?", ""},
		{"MUM: drops Xalan\nCar: B12", "Xalan", "Which drops does the car take?", ""},
		{"For Ada and Per\n- Ada: 3 h\n- Per: 5 h", "5 h", "How many hours did Ada work?", "another's line"},
		{"For Ada and Per\n- Ada: 3 h\n- Per: Ada's bike is in the cellar", "the cellar", "Where is Ada's bike?", ""},
		{"Rent: 5 a month\nDad: has the key", "5", "What does Dad pay?", ""},
		{"Old mill\n- Bus: 33\nRed barn\n- Bus: 22", "22", "What is the old mill's bus?", "another's section"},
		{"Old mill\n- Bus: 33\nRed barn\n- Bus: 22", "33", "What is the old mill's bus?", ""},
		{"Red barn\nThe best dish is now soup.\nOld mill\n- Best dish: pie", "soup", "Tell me the best dish of the old mill.", "another's section"},
		{"Old mill\n12 beds, 24 € a night\nRed barn\n8 beds, 19 € a night", "19 €", "What is a night in the old mill?", "another's section"},
		{"Ada Lind\nShoe size 31\nNo nuts\nPer Lind\nShoe size 36", "36", "What shoe size does Ada Lind have?", "another's section"},
		{"Ada Lind\nNo nuts\nShoe size 31\nPer Lind\nShoe size 36", "36", "What shoe size does Ada Lind have?", "another's section"},
		{"Old mill\nNo dogs\nBus 33\nRed barn\nBus 22", "22", "Which bus does the old mill have?", ""}, // "No dogs" may be a heading
		{"Larch hut\nKey: at the post office\nStone hut\n8 beds", "at the post office", "Where is the key of the stone hut?", "another's section"},
		{"Larch hut\nKey: at the post office, also of the stone hut\nStone hut\n8 beds", "at the post office", "Where is the key of the stone hut?", ""},
		{"Stone hut\n8 beds\nKey: at the post office", "at the post office", "Where is the key of the stone hut?", ""},
		{"Old mill\nIt has a sauna.\nHow to get there\nBus 22 stops in the lane.", "22", "Which bus goes to the old mill?", ""}, // below the same
		{"Old mill\nNo bus stops here.\nRed barn\nTo the old mill take bus 22.", "22", "Which bus goes to the old mill?", ""},
		{"Old mill\nBus: 33\n\nThe red barn has bus 22.", "22", "Which bus goes to the red barn?", ""},
		{"Mill\nBus: 33\nBarn\nBus: 22", "22", "What is the mill's bus?", ""}, // one word may be what is asked for
		{"Dilip has the new code.", "Dilip", "What is the code of the padlock?", "no code"},
		{"The code of the padlock is OTTER.", "OTTER", "What is the code of the padlock?", ""},
		{"Printer 192.168.7.6; press MODE for Auto.", "192.168.7.6", "What is the printer's IP address?", ""},
		{"Dad wants a lamp.", "a lamp", "What is Dad's password?", "another shape"},
		{"Dad: wifi tulip-7.", "tulip-7", "What is Dad's password?", ""},
		{"We reached the Horn at dawn.", "dawn", "How high is the Horn?", "no number, another shape"},
		{"The mill was built in 1604. It is now a shop.", "1604", "When is the mill from?", ""},
		{"The show is on 23 August. Entries by 16 August.", "16 August", "By when must I enter for the show?", ""},
		{"The show is on 23 August. Entries by 16 August.", "23 August", "When is the show?", ""},
		{"The training manager is Ada Lund.", "Ada Lund", "Who is the managing director of the mill?", "another role"},
		{"The training manager is Ada Lund.", "Ada Lund", "Who is the training manager of the mill?", ""},
		{"Ada Lund takes over as training manager.", "Ada Lund", "Who is the new training manager?", ""},
		{"The pump has wheels.", "wheels", "How loud is the pump?", "no number, another shape"},
		{"The gate code is with Ada.", "Ada", "What is the code of the gate?", "no code"},
		{"The gate code is 0471.", "0471", "What is the code of the gate?", ""},
		{"From: Ada Lund <ada@mill.example>", "Ada Lund", "Who sent the invoice?", ""},
		{"From: Ada Lund <ada@mill.example>", "From: Ada Lund <ada@mill.example>", "Where was the letter sent?", ""},
		{"The concert is in the mill.", "The concert is in the mill.", "Where is the concert?", ""},
		{"Ada Lund left in 1984.", "1984", "When did Ada Lund die?", "another shape"},
		{"Ada Lund drowned in 1984.", "1984", "When did Ada Lund die?", ""},
		{"Ada Lund (1910–1984) was a smith.", "1984", "When did Ada Lund die?", ""},
		{"Dad: a headlamp 2000", "a headlamp 2000", "What is Dad's password?", "another shape"},
		{"wifi at Dad's: plum-44", "plum-44", "What is Dad's password?", ""},
		{"The mill closes at 5. It is closed on Mondays.", "5", "When does the mill close?", ""},
		{"The mill closes at 5. It is closed on Mondays.", "Mondays", "When is the mill closed?", ""},
		{"The mill is closed from Monday on.", "Monday", "When does the mill close?", ""},
		{"The weir is turned on in April, off in May.", "April", "When is the weir turned on?", ""},
		{"The mill lets people in at 5, close to the weir.", "5", "When does the mill open?", ""},
		{"The mill is open until 5.", "5", "When does the mill close?", ""},
		{"The mill opens at 9 and closes at 5.", "9", "When does the mill open?", ""},
		{"The mill is closed, but from 9 to 5.", "9", "When does the mill open?", ""},
		{"Le car part à 8 h et arrive à 11 h 40.", "8 h", "at what time part the car?", ""},
		{"Opening hours\n\nThe shop next door closes at 5.", "5", "When does the mill open?", ""},
		{"The guide likes tea.", "tea", "Does the guide like tea?", ""},
		{"Pass | Price | Lockers\nDay | 9 | none\nYear | 80 | all", "Lockers", "Which pass includes all lockers?", "names of columns, the question again"},
		{"Pass | Price | Lockers\nDay | 9 | none\nYear | 80 | all", "Year", "Which pass includes all lockers?", ""},
		{"The guide likes tea.", "tea", "What tea does the guide like?", "the question again"},
		{"The guide likes tea.", "tea", "What does the guide like, tea or coffee?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		var why []string
		w := wantsOf(c.question)
		w.sections = sectionsNamed(w.words, []passage{p})
		for _, m := range w.misfits(p, find(p, c.span), newSentenceCache(patternCache{})) {
			why, tried[m.name] = append(why, m.name), true
		}
		if got := strings.Join(why, ", "); got != c.why {
			t.Errorf("%s %q: %q against it, want %q", c.question, c.span, got, c.why)
		}
	}
	tried["another year"] = true // TestMisfitYear
	for _, m := range misfits {
		if !tried[m.name] {
			t.Errorf("no case for %q", m.name)
		}
	}
}

// A number in a heading may be the answer's, one in the document's title is not.
func TestMisfitTitle(t *testing.T) {
	for text, want := range map[string]bool{"Loud rattling – crooked floor.": true, "Model 20\n\nLoud rattling – crooked floor.": false} {
		p := config(0).passage(passages.Passage{Title: "DryMate 20", Text: text})
		if _, lacks := wantsOf("How loud is the DryMate?").misfit(p, find(p, "crooked floor"), newSentenceCache(patternCache{})); lacks != want {
			t.Errorf("%q: %v", text, lacks)
		}
	}
}

// The year in a title is that of all below it, which may tell of the next one.
func TestMisfitYear(t *testing.T) {
	for _, c := range []struct {
		title, text, question string
		want                  bool
	}{
		{"Prices 2024", "A saw is 31.", "What was a saw in 2022?", true},
		{"Prices 2024", "A saw is 31.", "2022 price of a saw", true},
		{"Prices 2024", "A saw is 31.", "What is a saw in 2024?", false},
		{"Prices 2024", "A saw is 31.", "What is a saw in 2025?", false},
		{"Prices 2024", "A saw is 31.", "What is a saw in 2026?", true},
		{"Prices 2024", "A saw is 31 (was 28 in 2022).", "What was a saw in 2022?", false},
		{"Prices 2024", "A saw is 31 (Nov '22: 28).", "What was a saw in 2022?", false},
		{"Prices 2024", "A saw is 31.", "What is a saw since 2022?", false},
		{"Prices 2024", "A saw is 31.", "What was a saw before the 2022 rise?", false},
		{"Prices 2019–2024", "A saw is 31.", "What was a saw in 2022?", false},
		{"Prices 2022-24", "A saw is 31.", "What was a saw in 2024?", false},
		{"Prices from 3 May 2024", "A saw is 31.", "What was a saw in 2022?", true},
		{"Prices, 3 May 2024", "A saw is 31.", "What was a saw in 2022?", false},
		{"Contract 2018", "A saw is 31.", "What is a saw in 2026?", false},
		{"Contract 2018", "A saw is 31.", "What was a saw in 2017?", true},
		{"Prices from 1 Jan 2018", "A saw is 31.", "What is a saw in 2026?", true},
		{"Prices, agreed 2018", "A saw is 31.", "What is a saw in 2026?", false},
		{"Prices 2024-05", "A saw is 31.", "What was a saw in 2022?", false},
		{"Prices", "A saw is 31.", "What was a saw in 2022?", false},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		against := wantsOf(c.question).misfits(p, find(p, "31"), newSentenceCache(patternCache{}))
		if got := slices.ContainsFunc(against, func(m misfit) bool { return m.name == "another year" }); got != c.want {
			t.Errorf("%q %q: %v", c.title, c.question, got)
		}
	}
}

// A section that the question names may be in another passage.
func TestMisfitSection(t *testing.T) {
	known := []passage{}
	for _, title := range []string{"Huts: Larch hut", "Huts: Stone hut", "Huts: Stone hut: Beds", "Huts: Larch hut and Stone hut", "Inns"} {
		known = append(known, config(0).passage(passages.Passage{Title: title, Text: "Key: at the post office"}))
	}
	w := wantsOf("Where is the key of the stone hut?")
	w.sections = sectionsNamed(w.words, known)
	for i, want := range []bool{true, false, false, false, false} {
		if got := w.inOtherSection(known[i].candidate(find(known[i], "at the post office"), newSentenceCache(patternCache{}))); got != want {
			t.Errorf("%s: %v", known[i].title(), got)
		}
	}
}

// Where a pattern for times or numbers matches two words, patternCache.has looks at both.
func TestBeginsPair(t *testing.T) {
	two := lazyregexp.New(`(\pL+) \pL`)
	for _, m := range two.FindAllStringSubmatch(aTime.String()+aNumber.String(), -1) {
		if !beginsPair(m[1]) {
			t.Errorf("%q does not begin a pair", m[1])
		}
	}
}

// Words that were seen before say of a text what the pattern says of all of it.
func TestMatchesByWords(t *testing.T) {
	words := strings.Fields("as soon long any time up to As (any up: to, Friday mar mars, Freitags dreißig -tag 3pm Mañana, mañana an l'année année. every-day kein keinen Samstagabend one twenty-two none x – the museum 17:20. No.")
	random, seen := rand.New(rand.NewPCG(1, 2)), patternCache{}
	for range 20_000 {
		var text []string
		for range 1 + random.IntN(5) {
			text = append(text, words[random.IntN(len(words))])
		}
		s := strings.Join(text, " ")
		for _, pattern := range []*lazyregexp.Regexp{aTime, aNumber} {
			if got, want := seen.has(pattern, s), pattern.MatchString(s); got != want {
				t.Fatalf("%q: %v, want %v by %.40s", s, got, want, pattern)
			}
		}
	}
}
