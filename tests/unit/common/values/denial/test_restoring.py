"""What was given up and is taken up again, what never was and is by now, and conditions that pass."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.denial.restoring import is_so_after_all
from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.sentences import announces

SO_AFTER_ALL = [
    ("I've never been to Japan.", "I went to Japan in May."),
    ("I've never been to Japan.", "Just got back from Japan."),
    ("I have never tried sushi.", "I tried sushi last night and loved it."),
    ("I haven't met my nephew yet.", "I met my nephew on Sunday."),
    ("I've never skied.", "I skied for the first time in February."),
    ("I don't own a car.", "I bought a car last week."),
    ("We don't have a dog.", "We got a dog on Saturday."),
    ("I don't have a driving licence.", "I got my driving licence today."),
    ("I don't smoke.", "I've started smoking again, I'm afraid."),
    ("I've given up chess.", "I'm playing chess again on Thursdays."),
    ("We dropped Slack in spring.", "The team is back on Slack."),
    ("I deleted my Instagram account.", "I reopened my Instagram account."),
    ("I left the choir last year.", "I've rejoined the choir."),
    ("I stopped seeing my therapist.", "I'm seeing my therapist again."),
    ("I came off the statins.", "My doctor put me back on the statins."),
    ("I haven't been running since the operation.", "I'm running again, 3 km so far."),
    ("I no longer eat dairy.", "I'm eating dairy again."),
    ("We don't use Kafka any more.", "We went back to Kafka."),
    ("I don't take sugar in my tea any more.", "I take sugar in my tea again."),
    ("I've gone off marzipan.", "I love marzipan again."),
]
NOT_SO = [
    ("I gave up running after my injury.", "I ran for the bus today."),
    ("I gave up running after my injury.", "My physio says I may run again in May."),
    ("I gave up running.", "I'm swimming again."),
    ("I quit Twitter.", "My wife is back on Twitter."),
    ("I quit Twitter.", "I miss Twitter."),
    ("I stopped drinking coffee.", "I was tempted by coffee again."),
    ("I stopped drinking coffee.", "I'll never drink coffee again."),
    ("I no longer bike to work.", "I biked to the lake again on Sunday."),
    ("We cancelled the newspaper.", "I read an old newspaper again."),
    ("I left the choir last year.", "I saw the choir again at Christmas."),
    ("I've never been to Japan.", "I read a book about Japan again."),
    ("I don't own a car.", "My brother bought a car."),
    ("I don't own a car.", "I rented a car for the weekend."),
    ("We don't have a dog.", "We looked after a dog on Saturday."),
    ("I've never skied.", "My kids skied for the first time."),
    ("I haven't read Dune.", "I bought Dune."),
    ("I don't smoke.", "My neighbour is smoking again."),
    ("I stopped seeing my therapist.", "I saw my old therapist again at the shop."),
    ("I've given up chess.", "My son is playing chess again."),
    ("I no longer eat dairy.", "I ate dairy by mistake yesterday."),
]
CHANGED = [
    ("I play piano and violin.", "I sold my violin last week."),
    ("I speak Dutch, French and a little Turkish.", "I've lost my Turkish completely."),
    ("On my desk I have a lamp, a plant and a radio.", "The plant on my desk died."),
    ("I take metformin and ramipril.", "My doctor took me off ramipril."),
    ("I'm allergic to nuts, shellfish and pollen.", "Turns out I'm not allergic to shellfish, the test was negative."),
    ("I subscribe to Netflix, Spotify and the Guardian.", "I cancelled the Guardian."),
    ("Our team is Priya, Jonas and Mei.", "Jonas left the team on Friday."),
    ("I run, climb and do yoga.", "I've quit climbing since my shoulder went."),
    ("My shopping list: milk, eggs, flour, basil.", "Take flour off the shopping list."),
    ("We serve the app on AWS and Azure.", "We've moved everything off Azure."),
    ("I don't eat meat.", "I eat meat again."),
    ("I stopped drinking coffee in January.", "I'm back on coffee."),
    ("I gave up running after my injury.", "I've started running again."),
    ("I quit Twitter.", "I'm back on Twitter under my old handle."),
    ("We cancelled the newspaper.", "We take the newspaper again since June."),
    ("I no longer bike to work.", "I'm biking to work again."),
    ("I can't drive because of my wrist.", "My wrist has healed, I can drive again."),
    ("I don't like olives.", "I've grown to like olives."),
    ("I like jazz.", "I can't stand jazz anymore."),
    ("I don't have a driving licence.", "I passed my driving test!"),
    ("I haven't read Dune.", "I finished Dune last night."),
    ("Ana's brother lives in Bergen.", "Ana's brother moved to Oslo."),
    ("My sister Zoe works at the bakery.", "Zoe quit the bakery and drives a tram now."),
    ("My boss is on holiday until Monday.", "My boss is back in the office."),
    ("Grandma lives in her own house.", "Grandma moved into the care home in March."),
    ("My neighbour Pat drives a Volvo.", "Pat swapped the Volvo for a bakfiets."),
    ("I'm working from home this month.", "I'm back at the office from today."),
    ("I'm on crutches for six weeks.", "The crutches are gone."),
    ("I'm on parental leave until September.", "I'm back at work since Monday."),
    ("The car is in the garage for repairs.", "I picked the car up, it runs fine."),
    ("The office is closed for renovation.", "The office has reopened."),
    ("My phone is broken.", "I got the phone repaired."),
    ("I have a cast on my left arm.", "The cast came off yesterday."),
]
UNCHANGED = [
    ("I live in Ghent.", "I'm staying in Lisbon for two weeks."),
    ("I live in Ghent.", "I'm in Lisbon until Sunday for a conference."),
    ("I live in Ghent.", "I'm house-sitting in Bruges for a month."),
    ("I live with my girlfriend.", "I'm at my mum's this week."),
    ("I work from the office in Mainz.", "I'm working from home this week because of the strike."),
    ("I drive a Skoda.", "I've got a rental Fiat while the Skoda is in the garage."),
    ("My bike is a Gazelle.", "I borrowed my brother's Trek for the weekend."),
    ("I'm vegetarian.", "I cooked chicken for my dad last night."),
    ("I'm vegetarian.", "I nearly ate meat yesterday, they had mislabelled it."),
    ("I eat no sugar during the week.", "I had cake on Sunday."),
    ("I run every morning.", "I skipped my run today, it was pouring."),
    ("I run every morning.", "No running this week, I have a cold."),
    ("I wake up at six.", "I slept until ten on Saturday."),
    ("My scooter is a red Vespa.", "My bike is a blue Koga now."),
    ("My cat is called Momo.", "My dog is called Rex now."),
    ("My sister lives in Oslo.", "My cousin moved to Bergen."),
    ("My son plays the cello.", "My daughter plays the flute now."),
    ("I take metformin and ramipril.", "I take ramipril in the evening now."),
    ("I have two cats and a dog.", "The dog had a bath today."),
    ("I have two cats and a dog.", "My neighbour gave her dog to her parents."),
    ("I speak Dutch, French and Turkish.", "My wife has lost her Turkish."),
    ("I play piano and violin.", "I played the violin at a wedding."),
    ("Our team is Priya, Jonas and Mei.", "Jonas is on holiday until Friday."),
    ("I subscribe to Netflix and Spotify.", "My brother cancelled Netflix."),
    ("I like jazz.", "My husband can't stand jazz."),
    ("I like jazz.", "I went to a rock concert."),
    ("I've never been to Japan.", "I'd love to go to Japan."),
    ("I've never been to Japan.", "My parents went to Kyoto last week."),
    ("I haven't read Dune.", "I watched Dune in the cinema."),
    ("I don't have a driving licence.", "My brother passed his driving test."),
    ("I gave up running.", "My sister started running again."),
    ("Ana's brother lives in Bergen.", "Tom's brother moved to Oslo."),
    ("I'm allergic to nuts.", "My flatmate isn't allergic to nuts."),
    ("I'm allergic to nuts.", "The soup had no nuts in it."),
    ("My phone is a Pixel.", "My work phone is an iPhone."),
    ("I study law in Leiden.", "I spent the semester break in Rome."),
    ("My dentist is Dr Palm.", "I saw Dr Weiss about my knee."),
    ("We meet on Tuesdays.", "This week we meet on Thursday."),
    ("My desk is by the window.", "I sat in the kitchen today because of the noise."),
    ("I drink two coffees a day.", "I had four coffees today, what a day."),
    ("I'm on crutches for six weeks.", "My brother's crutches are gone."),
    ("The kids go to school by bus.", "I drove the kids to school today."),
    ("I do yoga on Mondays.", "I missed yoga on Monday."),
    ("My mother is called Ingrid.", "My mother-in-law is called Berta."),
    ("My favourite pub is the Crown.", "We went to the Anchor for a change."),
    ("I cycle to work.", "I took the tram today, flat tyre."),
    ("I'm a nurse.", "I helped out in the bar last weekend."),
]


SINCE_AN_EVENT = [
    (
        "Our under-twelves are coached by Declan Roche.",
        "News for the group: since Declan's operation our under-twelves are coached by Tadhg Brennan.",
        True,
    ),
    (
        "The export button is enabled for free accounts.",
        "Too much abuse, so as of yesterday's release the export button isn't enabled for free accounts.",
        True,
    ),
    (
        "The under-fourteens are coached by Aoife Nolan.",
        "Since Declan's operation our under-twelves are coached by Tadhg Brennan.",
        False,
    ),
    ("I walk the dog at seven.", "With Ana I walk the dog at nine.", False),
]


def ends(earlier: str, later: str) -> bool:
    """Whether one turn ends what another of the same speaker said some months before."""
    first = Said(earlier, "Ada", announces(earlier), date(2025, 1, 8))
    second = Said(later, "Ada", announces(later), date(2025, 5, 12))
    return supersedes(first, second) in (Relation.UPDATE, Relation.CONTRADICT)


@pytest.mark.parametrize(("earlier", "later"), SO_AFTER_ALL)
def test_spec_3_5_what_was_denied_is_so_after_all(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), NOT_SO)
def test_spec_3_5_what_is_told_of_others_wished_or_past_restores_nothing(earlier: str, later: str) -> None:
    assert not is_so_after_all(earlier, later)
    assert not ends(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), CHANGED)
def test_spec_3_5_parts_of_lists_habits_and_conditions_change(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), UNCHANGED)
def test_spec_3_5_exceptions_stays_and_other_peoples_lives_change_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


@pytest.mark.parametrize(("earlier", "later", "is_ended"), SINCE_AN_EVENT)
def test_spec_3_5_the_same_sentence_behind_an_event_is_told_anew(earlier: str, later: str, is_ended: bool) -> None:
    assert ends(earlier, later) is is_ended
