"""python3 -m train.span.golden FILE.gguf OUT.jsonl: what the exported reader finds in hand-written passages, by reference.py."""
import json
import sys

import numpy as np

from .reference import Reader

MUSEUM = "The harbour museum opens at 9:40 on weekdays and closes at 17:20. On Sundays it stays shut. Tickets cost $4.50 for adults."
TABLE = """# Kiosk prices

| Item | Small | Large |
|------|-------|-------|
| Lemonade | 2,50 € | 3,80 € |
| Filter coffee | 1,90 € | 2,70 € |
| Pretzel | 1,20 € | |
"""
CSV = "name,phone,room,since\nMaja Lindqvist,555-0142,B12,2019-03-01\nJürgen Müller,555-0177,C4,2021-11-15\nÉlodie Petit,555-0108,A301,2020-06-30\n"
MAIL = """From: Tomasz Wójcik <tomasz@example.org>
To: Priya
Subject: Boiler inspection moved
Date: Mon, 3 Mar 2025

Hi Priya,

the inspection moved from Tuesday to Thursday, 10:15. The engineer is called Ruth Adeyemi. Please leave the cellar key with Mrs. Novak on the second floor.

Tomasz
"""
NOTES = "Lake cabin\nwifi: heron-4471\ndoor code = 9024\nplumber - Ole Brandt, 555-0199\n\nTo do\n- [x] fix the gutter\n- [ ] buy 3 fuses (16 A)\n1. Turn the water on\n2. Bleed the radiators"
LINES = "Ferry timetable, valid from 1 May\nNorth quay    06:10    08:40    12:05\nLighthouse    06:35    09:05    12:30\nSouth beach    07:00    09:30    12:55"
SCRIPTS = "会议室在三楼。负责人：田中さん。Пароль от сети: сосна-17. كلمة السر هي نخلة. Ein Weg nach Görlitz kostet 12,90 €. İstanbul 2024²."
CASES = [
    (MUSEUM, "When does the harbour museum open?"), (MUSEUM, "when does the museum close"), (MUSEUM, "ticket price adults"),
    (MUSEUM, "Who founded the harbour museum?"), (MUSEUM, "museum sunday"), (MUSEUM, "Wann öffnet das museum?"),
    (TABLE, "How much is a large lemonade?"), (TABLE, "price of a small filter coffee"), (TABLE, "pretzel small"), (TABLE, "What does tea cost?"),
    (TABLE, "flter cofee large"), (CSV, "What is Jürgen Muller's phone number?"), (CSV, "room of Élodie Petit"), (CSV, "since when is Maja Lindqvist here?"),
    (CSV, "e-mail address of Maja"), (MAIL, "When is the boiler inspection now?"), (MAIL, "Who is the engineer?"), (MAIL, "who has the cellar key"),
    (MAIL, "subject of Tomasz's mail"), (MAIL, "What is the engineer's phone number?"), (NOTES, "What is the wifi password of the lake cabin?"),
    (NOTES, "wifi passwrod cabin"), (NOTES, "door code"), (NOTES, "Who is the plumber?"), (NOTES, "how many fuses do I need"), (NOTES, "alarm code"),
    (LINES, "When does the ferry leave the north quay first?"), (LINES, "lighthouse 2nd ferry"), (LINES, "When is the timetable valid from?"),
    (SCRIPTS, "Пароль от сети?"), (SCRIPTS, "Wie viel kostet ein Weg nach Görlitz?"), (SCRIPTS, "田中"),
    ("a", "what?"), ("?!", "?"), ("".join("item %d. " % i for i in range(300)), "item 7"), ("It's 5 o'clock.", "What time is it?"), (MUSEUM.upper(), "closing time of the harbor-museum"),
    ("e-mail: a.b@c.org\r\nwi-fi: on\r\n", "email"), ("Dr. Kim et al. said (see Fig. 3) \"No.\" Then he left at 5 p.m. for Oslo.", "Where did he go?"),
    ("The caretaker unlocks the gym at seven. Rats were seen near the compost by Mr. Osei.", "Who spotted rodents?"),
    ("The caretaker unlocks the gym at seven. Rats were seen near the compost by Mr. Osei.", "when does the janitor open the sports hall"),
    ("x,y,z\n1,200,3.50\n12,3.50,7\n", "z"), ("", "Is there anything?"), ("The answer is 42.", ""),
]


def case(r, passage, question):
    if not passage.strip() or not question.strip():
        return dict(question=question, passage=passage, none=1.0, spans=[])
    p, spans, none = r.posterior(question, passage)
    order = np.argsort(-spans.ravel(), kind="stable")[:3]
    found = []
    for k in order:
        i, n = divmod(int(k), spans.shape[1])
        if i + n >= len(p):
            continue
        a, b = (len(passage[:c].encode()) for c in (p.begin[i], p.end[i + n]))
        found.append(dict(begin=a, end=b, p=round(float(spans[i, n]), 6)))
    return dict(question=question, passage=passage, none=round(none, 6), spans=found)


if __name__ == "__main__":
    r = Reader(sys.argv[1])
    with open(sys.argv[2], "w") as f:
        for passage, question in CASES:
            f.write(json.dumps(case(r, passage, question), ensure_ascii=False) + "\n")
