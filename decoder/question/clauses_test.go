package question

import (
	"slices"
	"strings"
	"testing"

	"tandem/model/chat"
)

// A clause that leaves something out takes it from the clause before it, so that each can be asked alone.
func TestClauses(t *testing.T) {
	for _, c := range []struct {
		before, question string
		want             []string
	}{
		{"", "Who owns the marina?", []string{"Who owns the marina?"}},
		{"", "What is the wifi password of the lake cabin, and when does the harbour museum open?",
			[]string{"What is the wifi password of the lake cabin", "when does the harbour museum open?"}},
		{"", "What is the phone number of Anna, and of Ben?", []string{"What is the phone number of Anna", "What is the phone number of Ben?"}},
		{"", "What is the wifi password, and the door code, of the lake cabin?",
			[]string{"What is the wifi password of the lake cabin?", "What is the door code of the lake cabin?"}},
		{"How much is the puppet show?", "And from what age?", []string{"from what age is the puppet show?"}},
		{"How much is the puppet show?", "And what colour is the hut?", []string{"what colour is the hut?"}},
		{"How long does Hallbruck give credit?", "What is their address?", []string{"What is Hallbruck's address?"}},
		{"What is the wifi password of the lake cabin?", "And the door code?", []string{"What is the door code of the lake cabin?"}},
		{"Who owns the harbour museum?", "When does it open?", []string{"When does the harbour museum open?"}},
		{"Who owns the harbour museum?", "When does the bakery open?", []string{"When does the bakery open?"}},
		{"Who runs the İzmir office in Turkey?", "And in Greece?", []string{"Who runs the İzmir office in Greece?"}},
		{"", "what is ȺȺȺȺȺȺ of b? of the lake cabin?", []string{"what is ȺȺȺȺȺȺ of b?", "what is ȺȺȺȺȺȺ of the lake cabin?"}},
		{"What is the phone number of Anna?", "And of Ben?", []string{"What is the phone number of Ben?"}},
		{"", "After rejecting confession, what did Luther call for?", []string{"After rejecting confession, what did Luther call for?"}},
		{"", "Who was the enemy in Italy, the Byzantine Empire and Armenia?", []string{"Who was the enemy in Italy, the Byzantine Empire and Armenia?"}},
		{"", "Who feeds the cat and when does the vet open?", []string{"Who feeds the cat", "when does the vet open?"}},
		{"", "Is it in the hall and what does it cost?", []string{"Is it in the hall", "what does the hall cost?"}},
		{"", "Who is Ben? When was he born?", []string{"Who is Ben?", "When was Ben born?"}},
		{"", "Do you know the summit of Mount Caldrow, and what is the bus line of the clinic?",
			[]string{"Do you know the summit of Mount Caldrow", "what is the bus line of the clinic?"}},
		{"", "I need the address of Dr. Cho. And do you know her number?",
			[]string{"I need the address of Dr. Cho.", "do you know Dr. Cho's number?"}},
		{"", "Allergy of Ruth and what is the job of George?", []string{"Allergy of Ruth", "what is the job of George?"}},
		{"", "Allergy of Ruth, and the job of George?", []string{"Allergy of Ruth", "the job of George?"}},
		{"", "Who feeds the cat and for the mill, when does it open?", []string{"Who feeds the cat", "for the mill, when does it open?"}},
		{"", "Who paid? At what price is it sold?", []string{"Who paid?", "At what price is it sold? Who paid"}},
		{"", "What is Ben's job and Anna's car?", []string{"What is Ben's job", "What is Anna's car?"}},
		{"", "Tell me the rent and give me the landlord's number", []string{"Tell me the rent", "give me the landlord's number"}},
		{"", "Is parking free and is there a lift?", []string{"Is parking free", "is there a lift?"}},
		{"", "Where was Ottilie Brandt born and where did she die?", []string{"Where was Ottilie Brandt born", "where did Ottilie Brandt die?"}},
		{"", "What is Mum's telephone number, and when is her birthday?", []string{"What is Mum's telephone number", "when is Mum's birthday?"}},
		{"", "Who runs the bakery and when is it open?", []string{"Who runs the bakery", "when is the bakery open?"}},
		{"", "When does the library open and when does it close on Tuesdays?",
			[]string{"When does the library open", "when does the library close on Tuesdays?"}},
		{"", "When was the iron bridge built and what did it cost?", []string{"When was the iron bridge built", "what did the iron bridge cost?"}},
		{"", "When did Anna buy the car and where did she park it?", []string{"When did Anna buy the car", "where did Anna park the car?"}},
		{"", "Who is the owner of the mill, and what is its address?", []string{"Who is the owner of the mill", "what is the mill's address?"}},
		{"", "When does Lotte's passport expire, and where is it?", []string{"When does Lotte's passport expire", "where is Lotte's passport?"}},
		{"", "Who won, and when was that?", []string{"Who won", "when was that? Who won"}},
		{"", "How and when did the plague enter Europe?", []string{"How did the plague enter Europe?", "when did the plague enter Europe?"}},
		{"", "How wide and deep is the canal?", []string{"How wide is the canal?", "How deep is the canal?"}},
		{"", "When does the museum open and close?", []string{"When does the museum open?", "When does the museum close?"}},
		{"", "At what time does the museum open and close on Sundays?",
			[]string{"At what time does the museum open on Sundays?", "At what time does the museum close on Sundays?"}},
		{"", "Where was Ottilie Brandt born and buried?", []string{"Where was Ottilie Brandt born?", "Where was Ottilie Brandt buried?"}},
		{"", "What is the phone number and address of Dr. Cho?", []string{"What is the phone number of Dr. Cho?", "What is the address of Dr. Cho?"}},
		{"", "What are Anna's job, phone number, and address?",
			[]string{"What are Anna's job?", "What are Anna's phone number?", "What are Anna's address?"}},
		{"", "phone number and address of the clinic", []string{"phone number of the clinic?", "address of the clinic?"}},
		{"", "What are the phone numbers of Anna and Ben?", []string{"What are the phone numbers of Anna?", "What are the phone numbers of Ben?"}},
		{"", "What is the wifi password and the alarm code?", []string{"What is the wifi password?", "What is the alarm code?"}},
		{"", "Where was the Frøya built and when?", []string{"Where was the Frøya built", "when was the Frøya built?"}},
		{"", "When is the concert and where?", []string{"When is the concert", "where is the concert?"}},
		{"", "When was the mill sold, and where?", []string{"When was the mill sold", "where was the mill sold?"}},
		{"", "When was the bridge opened, who designed it and when was it blown up?",
			[]string{"When was the bridge opened", "who designed the bridge", "when was the bridge blown up?"}},
		{"", "What do socks and the gas stove cost?", []string{"What do socks cost?", "What do the gas stove cost?"}},
		{"", "What does tea cost, and coffee?", []string{"What does tea cost", "What does coffee cost?"}},
		{"", "wifi password and alarm code", []string{"wifi password?", "alarm code?"}},
		{"", "Tell me the rent and the deposit", []string{"Tell me the rent?", "Tell me the deposit?"}},
		{"", "Anna's and Ben's phone number", []string{"Anna's phone number?", "Ben's phone number?"}},
		{"", "Who is the mayor of Kassel and of Fulda?", []string{"Who is the mayor of Kassel?", "Who is the mayor of Fulda?"}},
		{"", "When was he born, where did he grow up and who taught him?",
			[]string{"When was he born", "where did he grow up When was he born", "who taught him? where did he grow up When was he born"}},
		// Things whose own name has an "and", and relative clauses.
		{"", "Where is the Lion and the Crown?", []string{"Where is the Lion and the Crown?"}},
		{"", "When does Salt and Rope end?", []string{"When does Salt and Rope end?"}},
		{"", "What do black and white photos cost?", []string{"What do black and white photos cost?"}},
		{"", "What is the black and white photo?", []string{"What is the black and white photo?"}},
		{"", "What is the distance between the mill and the bridge?", []string{"What is the distance between the mill and the bridge?"}},
		{"", "Who is Ben, who lives in Kassel and works in Fulda?", []string{"Who is Ben, who lives in Kassel and works in Fulda?"}},
		{"", "What does the cheese and onion pie cost?", []string{"What does the cheese and onion pie cost?"}},
		{"", "What are the terms and conditions of the lease?", []string{"What are the terms and conditions of the lease?"}},
		{"", "What is the distance between Kassel and Leeds?", []string{"What is the distance between Kassel and Leeds?"}},
		{"", "When did Anna and Ben marry?", []string{"When did Anna and Ben marry?"}},
		{"", "Who wrote Romeo and Juliet?", []string{"Who wrote Romeo and Juliet?"}},
		{"", "Where is the salt and pepper?", []string{"Where is the salt and pepper?"}},
		// One question, though a question word, an "and" or a full stop is within.
		{"", "We have a blue bin. When is it emptied?", []string{"We have a blue bin. When is it emptied?"}},
		{"", "Under the merger plan, what is the new name?", []string{"Under the merger plan, what is the new name?"}},
		{"", "When many people are arrested, what is a tactic?", []string{"When many people are arrested, what is a tactic?"}},
		{"", "Which player got a penalty, which gave the team a new set?", []string{"Which player got a penalty, which gave the team a new set?"}},
		{"", "Who is buried in Kassel and was born in Leeds?", []string{"Who is buried in Kassel and was born in Leeds?"}},
		{"", "What made him forget his troubles and how tired he was?", []string{"What made him forget his troubles and how tired he was?"}},
		{"", "How do the aims of bats and how they fly fit together?", []string{"How do the aims of bats and how they fly fit together?"}},
		{"", `Who wrote "The Death and Life of Great Cities"?`, []string{`Who wrote "The Death and Life of Great Cities"?`}},
		{"", "When does the ferry leave, and up to what amount is it paid?", []string{"When does the ferry leave", "up to what amount is the ferry paid?"}},
		{"", "What does the plan cost and after how many days does it end?", []string{"What does the plan cost", "after how many days does it end?"}},
		{"", "How much is a lesson after the course and before the exam?", []string{"How much is a lesson after the course and before the exam?"}},
		{"", "Goldenson proposed a merger between UPT and what network?", []string{"Goldenson proposed a merger between UPT and what network?"}},
		{"", "", []string{""}},
	} {
		req := Asked{Text: c.question}
		if c.before != "" {
			req.History = []chat.Message{{Role: "user", Content: c.before}, {Role: "assistant", Content: "So and so."}}
		}
		if got := req.Clauses(); !slices.Equal(got, c.want) {
			t.Errorf("%q after %q: got %q, want %q", c.question, c.before, got, c.want)
		}
	}
}

// A question that is longer than people ask is not cut into parts, since that takes ever longer.
func TestLongQuestion(t *testing.T) {
	asked := "Who feeds the cat, and when does the vet open?"
	if got := (Asked{Text: asked}).Clauses(); len(got) != 2 {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("museum, ", maxAsked/8) + asked
	if got := (Asked{Text: long}).Clauses(); !slices.Equal(got, []string{long}) {
		t.Errorf("%d parts", len(got))
	}
}

// A question that may ask for two things but is not divided is known, and no other.
func TestUndivided(t *testing.T) {
	for question, want := range map[string]bool{
		"What is the colour of the lion and the crown?":   true,
		"Where is the Lion and the Crown?":                true,
		"What is the name of Anna's cat and Ben's?":       true,
		"What is the wifi password and the alarm code?":   false,
		"When does Salt and Rope end?":                    false,
		"What do black and white photos cost?":            false,
		"How far is it between the mill and the bridge?":  false,
		"Who owns the marina, and when does it open?":     false,
		"When did Anna and Ben marry?":                    false,
		"What are the terms and conditions of the lease?": false,
		"What is the wifi password at Anna and Ben's?":    false,
	} {
		if got := (Asked{Text: question}).Undivided(); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}
