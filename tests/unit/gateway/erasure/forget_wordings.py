"""More queries of Forget with texts: people by office or relation, what the speaker does, near misses."""

from __future__ import annotations

from tests.unit.gateway.erasure.forget_cases import Texts

WORDINGS: list[tuple[str, Texts]] = [
    (
        "my drinking and what I told the doctor about it",
        {
            "I drink a bottle of wine every evening.": (0.48, True),
            "I told the doctor it was two glasses.": (0.45, True),
            "I told the doctor about my knee.": (0.43, False),
            "The doctor is called Reyes.": (0.15, False),
        },
    ),
    (
        "my cardiology appointments",
        {
            "I see a cardiologist at the Marien clinic every spring.": (0.62, True),
            "The cardiologist wants a new ECG before Easter.": (0.56, True),
            "I see a dentist every autumn.": (0.28, False),
            "The dentist wants an X-ray.": (0.21, False),
        },
    ),
    (
        "everything about my hypnosis",
        {
            "I go to a hypnotist in Wells on Fridays, for the smoking.": (0.49, True),
            "The hypnotist had me count cows.": (0.46, True),
            "I go to a pianist in Wells on Tuesdays.": (0.1, False),
            "The pianist plays too fast.": (-0.04, False),
        },
    ),
    (
        "everything about the fertility clinic",
        {
            "We are at the fertility clinic in Basel again.": (0.68, True),
            "The fertility clinic changed the dose.": (0.68, True),
            "The eye clinic called about my glasses.": (0.29, False),
        },
    ),
    (
        "the divorce",
        {
            "The divorce papers came this morning.": (0.62, True),
            "The divorce lawyer wants bank statements.": (0.46, True),
            "My neighbour's divorce is the talk of the street.": (0.51, False),
            "The tax lawyer wants bank statements.": (0.2, False),
        },
    ),
    (
        "Deacon Paul and his leave",
        {
            "Deacon Paul has asked for a year of leave, for reasons he told me in private.": (0.8, True),
            "On another matter, a student named Ifeoma serves at the altar this year, she also plays the drum.": (
                0.12,
                False,
            ),
            "Deacon Paul rang from his mother's, he sleeps better.": (0.59, True),
            "The reading on Sunday is from the letter of Paul to the Galatians. Second chapter.": (0.36, False),
            "St Paul's day is the 25th. We need candles, forty of the tall kind.": (0.29, False),
        },
    ),
    (
        "Captain Morel and her transfer",
        {
            "Captain Morel has applied for a transfer to Brest.": (0.72, True),
            "Captain Morel is good with the recruits.": (0.63, True),
            "Morel mushrooms grow behind the barracks.": (0.21, False),
            "Captain Ruiz has the night watch.": (0.23, False),
        },
    ),
    (
        "Rabbi Levin and his illness",
        {
            "Rabbi Levin is ill, keep it quiet.": (0.83, True),
            "Rabbi Levin has a scan on Monday.": (0.76, True),
            "The Levin bakery has new hours.": (0.33, False),
            "Rabbi Stern teaches on Thursdays.": (0.45, False),
        },
    ),
    (
        "Nurse Okafor and her complaint",
        {
            "Nurse Okafor filed a complaint about the rota.": (0.76, True),
            "Nurse Okafor works nights now.": (0.71, True),
            "The complaint about the heating is settled.": (0.4, False),
        },
    ),
    (
        "Inga and her debts",
        {
            "Inga owes her sister nine thousand.": (0.73, True),
            "Inga sold the piano.": (0.56, True),
            "My debts are paid.": (0.44, False),
            "Ingo plays the piano.": (0.32, False),
        },
    ),
    (
        "Pastor Mark and his sabbatical",
        {
            "Pastor Mark goes on a sabbatical in May.": (0.9, True),
            "Pastor Mark is tired, he told me so.": (0.7, True),
            "The reading is from the gospel of Mark.": (0.51, False),
            "St Mark's church has a new roof.": (0.46, False),
            "Mark the date of the fair: 3 June.": (0.13, False),
        },
    ),
    (
        "my colleague Teresa and her pregnancy",
        {
            "My colleague Teresa is expecting in June, nobody in the office knows.": (0.61, True),
            "Teresa has moved her desk to the window.": (0.35, True),
            "Mother Teresa's picture hangs in the hall.": (0.44, False),
            "My sister is pregnant too.": (0.57, False),
        },
    ),
    (
        "that I play the ukulele",
        {
            "I play the ukulele, got it for Christmas!": (0.82, True),
            "My friend Ottavia plays the ukulele too, we know one song.": (0.67, False),
            "how do u spell rhythm": (0.3, False),
        },
    ),
    (
        "that I take sleeping pills",
        {
            "I take sleeping pills since March.": (0.7, True),
            "My colleague Rhoda takes sleeping pills too, she told me at lunch.": (0.66, False),
            "The pills for the cat are in the fridge.": (0.37, False),
        },
    ),
    (
        "that I row for Kestrel",
        {
            "I row for Kestrel, in the eight.": (0.85, True),
            "My neighbour Ivo rows for Kestrel too.": (0.75, False),
            "The boat house of Kestrel burned in 1980.": (0.39, False),
        },
    ),
    (
        "that I'm learning Finnish",
        {
            "I'm learning Finnish, two lessons a week.": (0.84, True),
            "Our intern Bo is learning Finnish as well, we share a book.": (0.69, False),
            "The Finnish film is on at nine.": (0.48, False),
        },
    ),
    (
        "that I sing in the choir",
        {
            "I sing in the choir of St Anne.": (0.75, True),
            "My daughter Pia sings in the choir too, first row.": (0.59, False),
            "The choir is on tour in May.": (0.44, False),
        },
    ),
    (
        "that I gamble",
        {
            "I gamble online at night.": (0.64, True),
            "My mate Craig gambles too, he's worse.": (0.51, False),
        },
    ),
    (
        "my stammer",
        {
            "I have a stammer since school.": (0.72, True),
            "My cousin Lea has a stammer too.": (0.59, False),
        },
    ),
    (
        "my migraines",
        {
            "I get migraines before storms.": (0.62, True),
            "My boss Henrike gets migraines too, she lies in the server room.": (0.54, False),
            "Another migraine today, the third this month.": (0.7, True),
        },
    ),
    (
        "Mr Ferro",
        {
            "Lunch with Ferro today at noon.": (0.56, True),
            "Mr Ferro has raised the rent.": (0.69, True),
            "I paid Ferro yesterday.": (0.66, True),
            "The ferry to Faro leaves at nine.": (0.13, False),
            "Mr Ferraro fixes the boiler.": (0.51, False),
        },
    ),
    (
        "everything about Dr Lund",
        {
            "Dr Lund says my knee is fine.": (0.51, True),
            "I see Lund again in May.": (0.58, True),
            "The town of Lund has a cathedral.": (0.48, False),
            "Dr Lunde is the vet.": (0.75, False),
        },
    ),
    (
        "my ex-husband Didier",
        {
            "My ex-husband Didier collects the boys on Fridays at six.": (0.42, True),
            "Didier drives a silver Volvo and is never on time": (0.36, True),
            "My ex-colleague Didiane collects stamps from Madagascar, keep that for her birthday.": (0.24, False),
            "The boys have judo on Fridays at six from now on.": (-0.06, False),
        },
    ),
    (
        "Rose, my neighbour from number nine",
        {
            "Rose from number nine has a key to my house and she's in hospital with her hip.": (0.63, True),
            "Yes please. Rose likes marzipan, not grapes.": (0.39, True),
            "The climbing rose by the gate wants cutting in March, make a note.": (0.32, False),
            "And Fern from number eleven has the key to the shed.": (0.33, False),
        },
    ),
    (
        "Gustav and everything he told me",
        {
            "Gustav told me he is ill.": (0.71, True),
            "Gustav and I meet on Tuesdays.": (0.68, True),
            "Gustaf Fröding wrote poems.": (0.3, False),
            "The king's name is Carl.": (0.33, False),
        },
    ),
    (
        "the guy who fixes my bike, Tariq",
        {
            "Tariq fixes my bike on Saturdays.": (0.73, True),
            "Tariq wants 30 for the chain.": (0.41, True),
            "The bike shop on Elm Street is closed.": (0.21, False),
        },
    ),
    (
        "Ivy from the gym",
        {
            "Ivy from the gym does spin at six.": (0.72, True),
            "ivy can do fridays as well": (0.56, True),
            "The ivy on the wall needs cutting.": (0.56, False),
            "Ivo from the gym sold me a mat.": (0.38, False),
        },
    ),
    (
        "my eating disorder",
        {
            "I was treated for an eating disorder in 2019.": (0.68, True),
            "My eating disorder came back in spring.": (0.68, True),
            "We are eating at six.": (0.32, False),
            "The filing is in disorder.": (0.25, False),
        },
    ),
    (
        "that I was in prison",
        {
            "I was in prison for eight months in 2011.": (0.65, True),
            "The prison museum is open on Sundays.": (0.22, False),
            "My uncle was in prison, too.": (0.6, False),
        },
    ),
    (
        "project Heron",
        {
            "project Heron is the takeover of Lindqvist Foods, signing on 9 May.": (0.54, True),
            "the Heron data room opens on Monday": (0.55, True),
            "project Crane is the new canteen": (0.33, False),
            "herons nest by the lake": (0.66, False),
        },
    ),
    (
        "our plans for the surprise party for Olga",
        {
            "We plan a surprise party for Olga on 8 June.": (0.9, True),
            "The party for Olga is in the boat house.": (0.68, True),
            "Olga plays tennis on Mondays.": (0.4, False),
            "The office party is in December.": (0.36, False),
        },
    ),
    (
        "my novel",
        {
            "I'm writing a novel about a lighthouse keeper.": (0.45, True),
            "My novel has nine chapters.": (0.58, True),
            "The novel on the night table is by Woolf.": (0.37, False),
            "The lighthouse is open in May.": (0.04, False),
        },
    ),
    (
        "the allergy test",
        {
            "The allergy test is on Monday at the clinic.": (0.82, True),
            "The allergy test found hazelnut.": (0.74, True),
            "My driving test is in June.": (0.35, False),
            "My son has an allergy to cats.": (0.55, False),
        },
    ),
    (
        "Friederike's birthday and the sundial",
        {
            "Friederike's birthday is on 17 November, she wishes for a sundial.": (0.82, True),
            "Franziska's birthday is on 7 November, she's the one with the bees.": (0.4, False),
        },
    ),
    (
        "the gate code at the stables",
        {
            "The gate code at the stables is 4471, Hedda picked it.": (0.74, True),
            "The code of the tack room is 9035, the lock sticks.": (0.42, False),
        },
    ),
    (
        "run the slow tests before every push",
        {
            "run the slow tests before every push": (1.0, True),
            "run the linter before every commit": (0.36, False),
        },
    ),
    (
        "my therapist Ruiz and what she said",
        {
            "My therapist Ruiz is on Elm Street.": (0.56, True),
            "Ruiz says I should sleep more.": (0.46, True),
            "My dentist says I should floss.": (0.1, False),
            "The therapist of my son is Keller.": (0.45, False),
        },
    ),
    (
        "the lock of the boathouse",
        {
            "The lock of the boathouse is 3-1-7, Dora set it.": (0.68, True),
            "The lock of the shed is 5-5-2.": (0.41, False),
        },
    ),
    (
        "the trip to Rome",
        {
            "The trip to Rome cost 900, too much.": (0.64, True),
            "The trip to Oslo was cheaper.": (0.29, False),
            "The ship left at nine.": (0.31, False),
        },
    ),
    (
        "my surgeon",
        {
            "My surgeon is called Bell.": (0.69, True),
            "The surgeon wants me fasting from midnight.": (0.51, True),
            "The tree surgeon comes on Monday.": (0.43, False),
        },
    ),
    (
        "what I told you about the affair",
        {
            "The affair with Jonas is over.": (0.43, True),
            "The affair lasted a year.": (0.61, True),
            "The state of affairs is bad.": (0.32, False),
        },
    ),
    (
        "my password for the bank",
        {
            "My password for the bank is Larch-22.": (0.81, True),
            "The bank opens at nine.": (0.42, False),
            "My password for the library is Oak-11.": (0.56, False),
        },
    ),
]
