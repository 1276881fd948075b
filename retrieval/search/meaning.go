package search

import (
	"slices"
	"strings"
	"sync"

	"tandem/retrieval/internal/terms"
)

// meaningGroups holds a line for each kind of thing, with words that ask for it and words that state it: "how many people
// live in" asks for a population. They only help to rank the passages that an engine found, and count less than the word
// itself, so that a word with several meanings does little harm.
const meaningGroups = `
price cost fee charge fare pay rate
rent hire lease
free gratis complimentary
deadline due closing until latest
begin start commence
end finish conclude
date day when
schedule timetable hours
frequency interval often every
duration long last take
phone telephone call number mobile
email mail address
website web homepage page site url
address located location find stand street
stored kept keep place located where lie
password passcode code combination pin login
owner own belong proprietor whose
manager manage run head boss charge leader lead chief direct director ceo
caretaker janitor warden keeper custodian care look
tenant lodger rent
landlord landlady
founder found start establish create
built build construct construction erected
architect design plan
author write wrote written writer
painter paint artist
translator translate
publisher publish
release appear publish
colour color paint hue
population people inhabitant resident live
capacity hold seat fit room
visitor guest
birthday born birth
birthplace born grew come origin
home live reside town
spouse wife husband partner marry
job work profession occupation trade living
employer work employ company
doctor physician
dentist teeth
nickname call friend alias
present gift
allergy allergic
hobby enjoy pastime
eat food feed fed dish meal menu
specialty speciality famous known
cook chef kitchen
weight weigh heavy
height high tall
length long
width wide breadth
depth deep
size large big dimension area cover
age old
speed fast
temperature hot warm bake degree
brand maker make made manufacturer
material made consist
seller sell bought buy dealer
repair service fix
warranty guarantee
destination go bound terminus
departure depart leave
arrival arrive
driver drive
captain command skipper
dose dosage take
symptom cause effect
coach train trainer
vet veterinarian treat
sponsor pay fund
winner won win
host organise organizer
topic theme subject about deal
symbol emblem arms animal
venue place held location
river flow mouth
source rise spring
budget spend money
goal target aim
client customer
bus line stop
language tongue speak
school study
`

var groupsOf = sync.OnceValue(func() map[string][]int {
	groups := make(map[string][]int)
	for i, line := range strings.Split(strings.TrimSpace(meaningGroups), "\n") {
		terms.Each(line, func(t []byte) {
			if word := string(t); !slices.Contains(groups[word], i) {
				groups[word] = append(groups[word], i)
			}
		})
	}
	return groups
})

// shareMeaning reports whether two terms can be about the same thing.
func shareMeaning(a, b string) bool {
	groups := groupsOf()
	for _, i := range groups[a] {
		if slices.Contains(groups[b], i) {
			return true
		}
	}
	return false
}
