"""Queries of Forget with texts, and which of them are meant."""

from __future__ import annotations

from collections.abc import Mapping

Texts = Mapping[str, tuple[float, bool]]
"""Texts with their cosine to the query, and whether they are meant. The cosines are those of all-MiniLM-L6-v2."""

CASES: list[tuple[str, Texts]] = [
    (
        "my religion",
        {
            "I am a member of the Methodist church.": (0.39, True),
            "The church hall can be hired, it seats ninety.": (0.11, False),
            "I studied the architecture of Methodist chapels.": (0.24, False),
        },
    ),
    (
        "my cholesterol values",
        {
            "My cholesterol is 6.4, the doctor frowned.": (0.72, True),
            "My resting pulse is 52, the doctor smiled.": (0.26, False),
            "Cholesterol again: 5.9.": (0.73, True),
        },
    ),
    (
        "our former address 8 Lerchenweg",
        {
            "We used to live at 8 Lerchenweg.": (0.65, True),
            "We live at 18 Lerchenweg now.": (0.58, False),
            "Noted as a former address.": (0.55, False),
        },
    ),
    (
        "Femke from the allotments",
        {
            "Femke from the allotments grows leeks.": (0.7, True),
            "Femke sprained her wrist in Ghent.": (0.4, True),
            "Femke from the bank called about the loan.": (0.4, False),
            "Fenna from the rowing club has a cold.": (0.3, False),
        },
    ),
    (
        "my old landlord Mr Bolton",
        {
            "My old landlord Mr Bolton still has my deposit.": (0.8, True),
            "Bolton says the carpet was antique.": (0.5, True),
            "We take the steam train to Bolton in August.": (0.3, False),
        },
    ),
    (
        "that I failed the sailing test",
        {
            "i failed the sailing test in may": (0.8, True),
            "nobody in the club knows i failed it": (0.5, False),  # a follow-up
            "passed my driving test tho": (0.5, False),
        },
    ),
    (
        "my old flatmate Rose",
        {
            "my old flatmate Rose still has my drill": (0.7, True),
            "rose can come on fridays only": (0.4, True),
            "The rose bush needs pruning.": (0.4, False),
            "gas bill rose by a tenth, cool": (0.3, False),
        },
    ),
    (
        "Will, who cleans our windows",
        {
            "Will cleans the windows for us.": (0.7, True),
            "Will's number is 0123.": (0.4, True),
            "Grandad's will is in the safe.": (0.3, False),
            "I will not be in on Mondays.": (0.2, False),
        },
    ),
    (
        "that I'm learning Basque",
        {
            "I'm learning Basque, on the quiet.": (0.8, True),
            "My nan taught Basque in Bilbao.": (0.65, False),
        },
    ),
    (
        "my wages, what I earn",
        {
            "For the sums: I earn 31,000 a year.": (0.5, True),
            "Pay review today! They put me up to 33,000.": (0.3, True),
            "My wife earns 35,000 a year.": (0.5, False),
        },
    ),
    (
        "my eye surgery",
        {
            "I'm having my eye surgery in May.": (0.8, True),
            "The clinic for the eye surgery is in Graz.": (0.7, True),
            "My knee surgery was in 2018.": (0.4, False),
        },
    ),
    (
        "our MRI",
        {
            "We're paying for the MRI ourselves.": (0.6, True),
            "The MRI results come on Friday.": (0.6, True),
            "The results of the exam come on Monday.": (0.3, False),
        },
    ),
    (
        "Archie's friend Leo",
        {
            "Archie's friend Leo comes every Wednesday.": (0.83, True),
            "Leo must not have nuts.": (0.50, True),
            "Isla's friend Leonie comes every Thursday.": (0.41, False),
            "Isla is a Leo, born in August.": (0.45, False),
        },
    ),
    (
        "Frank Osei",
        {
            "Frank Osei reviews my code.": (0.64, True),
            "Frank's desk is next to the plotter.": (0.32, True),
            "We had a frank talk about deadlines.": (0.23, False),
            "Frankfurt is where the servers are.": (0.11, False),
        },
    ),
    (
        "everything about my ex Dana",
        {
            "Dana and I split up in May.": (0.64, True),
            "Dana Fischer is my dentist.": (0.48, False),
            "I had lunch with Dana yesterday.": (0.59, True),
            "Donna called.": (0.36, False),
        },
    ),
    ("everything about my ex Dana", {"Dana Fischer broke up with me.": (0.6, True), "Donna called.": (0.36, False)}),
    (
        "what I said about the surgery",
        {
            "The surgery is on 5 May.": (0.46, True),
            "I'm scared of the operation.": (0.46, True),
            "We went to the theatre.": (0.18, False),
        },
    ),
    (
        "my telephone number",
        {"My telephone number is 01323 490 118.": (0.73, True), "The club's number is 01323 490 181.": (0.43, False)},
    ),
    (
        "my locker at the pool",
        {"My locker at the pool is number 77.": (0.75, True), "My locker at the office is 71.": (0.61, False)},
    ),
    (
        "the trip to Rome",
        {
            "We fly to Rome in May.": (0.67, True),
            "Rome has seven hills.": (0.57, False),
            "The trip to Oslo was cold.": (0.27, False),
            "the trip to rome cost 900": (0.68, True),
        },
    ),
    (
        "my salary",
        {"I earn 4,200 euros a month.": (0.46, True), "Tom's salary is higher.": (0.40, False)},
    ),
    ("that I smoke", {"I smoke ten a day.": (0.61, True), "My dad smokes.": (0.57, False)}),
    ("that ann is pregnant", {"ann is pregnant, dont tell anyone": (0.88, True), "lou is knitting": (0.28, False)}),
    (
        "my gambling",
        {
            "Two hundred gone on the horses again, I feel sick.": (0.2, True),
            "I still owe the bookie sixty.": (0.3, True),
            "I bet it pours at the fete.": (0.35, False),
        },
    ),
    (
        "what I earn",
        {"I earn 3,100 a month.": (0.6, True), "Got a raise, 3,400 on the payslip from May.": (0.3, True)},
    ),
    (
        "that I am in therapy",
        {
            "I began therapy with Mr Moll.": (0.6, True),
            "On Monday in therapy we spoke about my gran.": (0.5, True),
            "My sister says therapy is for the rich.": (0.5, False),
        },
    ),
    ("my ex Colm", {"colm dumped me by text. BY TEXT": (0.4, True), "columns are sorted now": (0.2, False)}),
    ("my trainer Victor", {"victor texts me at one": (0.5, True), "victor ludorum went to ben": (0.3, False)}),
    (
        "my application at Tarn",
        {"No from Tarn, somebody else was faster.": (0.3, True), "Tarn is windy.": (0.2, False)},
    ),
    ("my birthday party", {"My birthday party is on 3 May.": (0.8, True)}),
    (
        "Petra, the tenant from number 12",
        {"Petra parks her sledge in our porch.": (0.4, True), "Number 12 has new windows.": (0.3, False)},
    ),
    (
        "my brother-in-law Mark",
        {
            "my brother in law mark owes me forty": (0.7, True),
            "mark also dented the van": (0.4, True),
            "mark my words, it will sink": (0.3, False),
            "the lesson on sunday is from mark, chapter 2": (0.3, False),
        },
    ),
    (
        "my hearing loss",
        {
            "I lost thirty decibels on the right ear.": (0.4, True),
            "The court hearing about the fence is on 4 March.": (0.5, False),
        },
    ),
    ("my weight", {"I weigh 83.": (0.6, True), "My kettlebell weighs 12.": (0.5, False)}),
    (
        "the farewell lunch for Nadia",
        {
            "The farewell lunch for Nadia is on the 31st.": (0.8, True),
            "Nadia starts at the museum on 2 June.": (0.62, False),
            "Nadia is so easy to surprise with a meal, it will be a great day.": (0.75, True),
        },
    ),
    (
        "Basil from number 4",
        {"Basil from number 4 moans.": (0.5, True), "Basil goes behind the parsley.": (0.3, False)},
    ),
]
