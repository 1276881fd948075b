"""Forty questions in natural wording over a few written documents, never used in training."""

DEVICE = {
    "Lake cabin": "The wifi password is tumbral-5827. The spare key is kept in the blue tin behind the stove. Check-out is at 11:00. "
                  "The water tap is under the sink in the bathroom. Our neighbour is Mr. Halvorsen.",
    "Family notes": "Marek is allergic to walnuts. Ilse's birthday is on 4 May. Marek's shoe size is 42. Ilse plays the cello on "
                    "Tuesdays with her teacher, Mrs. Okafor.",
    "Bike": "The bike is a green Veloria. The frame number of the bike is QX-2291. The lock code is 0417. It was bought from Radhaus "
            "Neumann for 640 euros.",
    "Grandmother's apple cake": "The cake bakes for 45 minutes. The oven temperature is 180 degrees. It serves 12 people. Let it rest "
                                "for 20 minutes before cutting.",
    "Dentist": "The dentist is Dr. Amara Lindqvist. The next appointment is on 12 June at 9:15. The practice can be reached at "
               "555-0173. It is located at 12 Alder Street.",
    "Falcon project": "The deadline is 14 March. The budget of the Falcon project is 4,500 euros. Priya Nandakumar leads the project. "
                      "The team meets on Wednesdays at 14:15 in room 204.",
    "Medicine for Grandpa": "Corvalin is taken twice a day. The dose of Corvalin is 20 mg. The drops for the eyes are kept in the "
                            "fridge. Dr. Weiss is his doctor.",
    "Cat": "Our cat is called Pixel. Pixel's vet is Dr. Sandoval. Pixel eats smoked trout. She is fed at 7:30.",
    "Washing machine": "The washing machine was made by Hausmann. The warranty ends on 3 June 2027. It is serviced by Brandt Works. "
                       "The serial number is WM-88213.",
    "Office": "The door code of the office is 4471. The printer stands in the hallway. The wifi password of the office is "
              "marble-otter-9. The caretaker of the office is Lena Roth.",
}
CLOUD = {
    "Harbour museum": "The harbour museum opens at 9:30 and closes at 17:00. It is closed on Mondays. A ticket costs 8 euros. The "
                      "director is Ines Calder. The museum was founded in 1911.",
    "Tarnow": "Tarnow has 48,000 inhabitants. The mayor is Eva Lindt. Tarnow lies on the river Sarn. The town is famous for its plum "
              "cake.",
    "Night train to Lisbon": "The night train to Lisbon leaves from platform 9 at 21:42. It arrives at 7:10. A seat costs 59 euros. "
                             "The driver is Jonas Pereira.",
    "Brenner tower": "The Brenner tower is 84 metres high. It was built in 1873. The architect was Otto Brenner. 312 steps lead up "
                     "the tower. Entry costs 5 euros.",
    "City library": "The city library lends books for 3 weeks. The late fee is 50 cents. You can reach the library at 555-0142. The "
                    "director of the library is Samuel Oyelaran.",
    "Tram 14": "Tram 14 goes to Velden. A day ticket of the tram costs 6 euros. The tram runs every 12 minutes. Its last run is at "
               "23:50.",
    "Marta's bakery": "Marta Kowalski runs the bakery. The bakery opens at 6:30. It is located at 3 Mill Lane. People come for the "
                      "rye bread.",
    "Choir": "The choir meets on Thursdays. It meets at the old school. The conductor of the choir is Paul Adeyemi. The membership "
             "fee is 40 euros.",
    "Botanical garden": "The botanical garden opens at 8:00. The garden covers 22 hectares. The guided tour lasts 50 minutes. The tour "
                        "guide is Nora Veil. Parking costs 4 euros.",
    "Ferry to Orla": "The ferry to Orla departs at 7:15 from pier 2. The captain is Ruben Aas. A ticket for the ferry costs 18 euros.",
}

# (question, answer, values, titles of the documents that support it)
ITEMS = [
    ("What is the wifi password of the lake cabin?", "The wifi password of the lake cabin is tumbral-5827.", ["tumbral-5827"], ["Lake cabin"]),
    ("Where is the spare key of the lake cabin kept?", "The spare key of the lake cabin is kept in the blue tin behind the stove.",
     ["in the blue tin behind the stove"], ["Lake cabin"]),
    ("Who is the neighbour of the lake cabin?", "The neighbour of the lake cabin is Mr. Halvorsen.", ["Mr. Halvorsen"], ["Lake cabin"]),
    ("What is Marek allergic to?", "Marek is allergic to walnuts.", ["walnuts"], ["Family notes"]),
    ("When is Ilse's birthday?", "The birthday of Ilse is 4 May.", ["4 May"], ["Family notes"]),
    ("What is the shoe size of Marek?", "The shoe size of Marek is 42.", ["42"], ["Family notes"]),
    ("What is the frame number of the bike?", "The frame number of the bike is QX-2291.", ["QX-2291"], ["Bike"]),
    ("What is the lock code of the bike?", "The lock code of the bike is 0417.", ["0417"], ["Bike"]),
    ("What is the oven temperature of grandmother's apple cake?", "The oven temperature of grandmother's apple cake is 180 degrees.",
     ["180 degrees"], ["Grandmother's apple cake"]),
    ("How long does grandmother's apple cake bake?", "Grandmother's apple cake bakes for 45 minutes.", ["45 minutes"],
     ["Grandmother's apple cake"]),
    ("Who is the dentist?", "The dentist is Dr. Amara Lindqvist.", ["Dr. Amara Lindqvist"], ["Dentist"]),
    ("When is the deadline of the Falcon project?", "The deadline of the Falcon project is 14 March.", ["14 March"], ["Falcon project"]),
    ("Who leads the Falcon project?", "The Falcon project is led by Priya Nandakumar.", ["Priya Nandakumar"], ["Falcon project"]),
    ("What is the dose of Corvalin?", "The dose of Corvalin is 20 mg.", ["20 mg"], ["Medicine for Grandpa"]),
    ("How often is Corvalin taken?", "Corvalin is taken twice a day.", ["twice a day"], ["Medicine for Grandpa"]),
    ("Who is the vet of Pixel?", "The vet of Pixel is Dr. Sandoval.", ["Dr. Sandoval"], ["Cat"]),
    ("Who services the washing machine?", "The washing machine is serviced by Brandt Works.", ["Brandt Works"], ["Washing machine"]),
    ("What is the door code of the office?", "The door code of the office is 4471.", ["4471"], ["Office"]),
    ("When does the harbour museum open?", "The harbour museum opens at 9:30.", ["9:30"], ["Harbour museum"]),
    ("On which day is the harbour museum closed?", "The harbour museum is closed on Mondays.", ["Mondays"], ["Harbour museum"]),
    ("Who is the mayor of Tarnow?", "The mayor of Tarnow is Eva Lindt.", ["Eva Lindt"], ["Tarnow"]),
    ("How many people live in Tarnow?", "The number of people living in Tarnow is 48,000.", ["48,000"], ["Tarnow"]),
    ("Which platform does the night train to Lisbon leave from?", "The night train to Lisbon leaves from platform 9.", ["9"],
     ["Night train to Lisbon"]),
    ("How high is the Brenner tower?", "The Brenner tower has a height of 84 metres.", ["84 metres"], ["Brenner tower"]),
    ("Who runs the bakery?", "The bakery is run by Marta Kowalski.", ["Marta Kowalski"], ["Marta's bakery"]),
    ("How much does a day ticket of the tram cost?", "A day ticket of the tram costs 6 euros.", ["6 euros"], ["Tram 14"]),
    ("What is the wifi password of the lake cabin, and when does the harbour museum open?",
     "The wifi password of the lake cabin is tumbral-5827. The harbour museum opens at 9:30.", ["tumbral-5827", "9:30"],
     ["Lake cabin", "Harbour museum"]),
    ("What is Marek allergic to, and who runs the bakery?", "Marek is allergic to walnuts. The bakery is run by Marta Kowalski.",
     ["walnuts", "Marta Kowalski"], ["Family notes", "Marta's bakery"]),
    ("When is the deadline of the Falcon project, and which platform does the night train to Lisbon leave from?",
     "The deadline of the Falcon project is 14 March. The night train to Lisbon leaves from platform 9.", ["14 March", "9"],
     ["Falcon project", "Night train to Lisbon"]),
    ("Who is the mayor of Tarnow and what is the door code of the office?",
     "The mayor of Tarnow is Eva Lindt. The door code of the office is 4471.", ["Eva Lindt", "4471"], ["Tarnow", "Office"]),
    ("How much does a day ticket of the tram cost, and where is the spare key of the lake cabin kept?",
     "A day ticket of the tram costs 6 euros. The spare key of the lake cabin is kept in the blue tin behind the stove.",
     ["6 euros", "in the blue tin behind the stove"], ["Tram 14", "Lake cabin"]),
    ("What is the frame number of the bike, and how high is the Brenner tower?",
     "The frame number of the bike is QX-2291. The Brenner tower has a height of 84 metres.", ["QX-2291", "84 metres"],
     ["Bike", "Brenner tower"]),
    ("When does the ferry to Orla depart? What is the dose of Corvalin?",
     "The ferry to Orla departs at 7:15. The dose of Corvalin is 20 mg.", ["7:15", "20 mg"], ["Ferry to Orla", "Medicine for Grandpa"]),
    ("What is the phone number of the city library, and who is the vet of Pixel?",
     "The phone number of the city library is 555-0142. The vet of Pixel is Dr. Sandoval.", ["555-0142", "Dr. Sandoval"],
     ["City library", "Cat"]),
    ("What is the budget of the Falcon project, and on which day does the choir meet?",
     "The budget of the Falcon project is 4,500 euros. The choir meets on Thursdays.", ["4,500 euros", "Thursdays"],
     ["Falcon project", "Choir"]),
    ("When is Ilse's birthday, and what is Tarnow famous for?",
     "The birthday of Ilse is 4 May. Tarnow is famous for its plum cake.", ["4 May", "its plum cake"], ["Family notes", "Tarnow"]),
    ("What is the oven temperature of grandmother's apple cake, and when does the botanical garden open?",
     "The oven temperature of grandmother's apple cake is 180 degrees. The botanical garden opens at 8:00.", ["180 degrees", "8:00"],
     ["Grandmother's apple cake", "Botanical garden"]),
    ("Who services the washing machine, and who is the tour guide of the botanical garden?",
     "The washing machine is serviced by Brandt Works. The tour guide of the botanical garden is Nora Veil.",
     ["Brandt Works", "Nora Veil"], ["Washing machine", "Botanical garden"]),
    ("What is the wifi password of the office, and when was the harbour museum founded?",
     "The wifi password of the office is marble-otter-9. The harbour museum was founded in 1911.", ["marble-otter-9", "1911"],
     ["Office", "Harbour museum"]),
    ("Who leads the Falcon project, and who is the captain of the ferry to Orla?",
     "The Falcon project is led by Priya Nandakumar. The captain of the ferry to Orla is Ruben Aas.", ["Priya Nandakumar", "Ruben Aas"],
     ["Falcon project", "Ferry to Orla"]),
]


def items(distractors=3):
    """Evaluation lines: the supporting documents and those that follow them in the pool, each on one side."""
    for question, answer, values, titles in ITEMS:
        sides = {}
        for side, pool in (("device", DEVICE), ("cloud", CLOUD)):
            order = list(pool)
            used = [t for t in titles if t in pool]
            for t in used:
                at = order.index(t)
                used = [t] + [order[(at + k + 1) % len(order)] for k in range(distractors)]
            sides[side] = [{"title": t, "text": pool[t]} for t in used]
        yield {"kind": "hand", **sides, "question": question, "answer": answer, "values": values}
