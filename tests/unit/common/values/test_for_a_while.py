"""What holds for a while and is over, what is put off, and orders for a case that are taken back."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.model import Relation
from services.common.values.restatement.countermands import is_countermanded
from services.common.values.returning import returns_to

POOL = "Northgate's roof is leaking so while they fix it the lesson is at Kelsey Baths."
STUDY = (
    "My nephew Benno is sleeping in the study until he finds rooms of his own, so at present I work at the kitchen "
    "table."
)
HOURS = "These days I am at my desk from eight to two only."
SHOP = "The shop is being renovated, so for now we sell from the van."
SISTER = "My sister Lena is staying with us until she finds a flat."
BIKE = "Until I get a new bike I take the tram to work."
OVER = [
    (POOL, "First Saturday back at Northgate!"),
    (POOL, "The lesson is back at Northgate."),
    (POOL, "We're back at Northgate since Saturday, and the roof holds."),
    (STUDY, "I have my study back."),
    (STUDY, "Benno has found rooms and gone, leaving a smell of trainers."),
    (STUDY, "The study is mine again."),
    (SHOP, "Finally back in the shop, it smells of paint."),
    (SISTER, "Lena found a lovely flat near the park."),
    (SISTER, "My sister Lena has finally found a flat."),
    (BIKE, "I've got a new bike, a red one."),
    (HOURS, "Eid is over, the sweets sadly too, and I am back on my normal hours from this morning."),
    ("For now I work mornings only, the baby wants me home.", "Back to my usual hours, as of today."),
    ("I start at ten while the school is closed.", "Back on my regular schedule."),
    ("The oven on Bell Street died, so for now we bake at the church.", "We're baking on Bell Street again."),
    ("A pipe burst in the Corner Hall, so until it is dry we meet in the gym.", "The Corner Hall is dry at last."),
    (
        "Cousin Malik has the attic while he looks for a flat, I am on the sofa for now.",
        "I'm back in the attic, bliss.",
    ),
    ("My sister has my car this month, so I cycle.", "I have my car back."),
    ("We live with my parents until we buy a house.", "We've bought a house!"),
    ("Until Dad can drive again I take him to dialysis.", "Dad can drive again."),
    ("During the strike I cycle to work.", "The strike is over."),
    ("While the boiler is broken we shower at Ben's.", "The boiler is fixed."),
    ("The gym is closed, so for now I run in the park.", "I'm back in the gym since Monday."),
    ("While Rosa is in Peru, my mother picks the twins up.", "Rosa is back from Peru and picks them up again."),
    ("While my mother is in hospital I walk her dog.", "Mum is home since Friday."),
    ("We stay at the Hotel Sol until the builders finish the bathroom.", "The builders have finished the bathroom."),
    (POOL, "Northgate's roof is fixed."),
    ("My desk is being rebuilt so I sit at Ravi's desk this week.", "Back at my own desk, it goes up and down."),
]
NOT_OVER = [
    (POOL, "My aqua class is back at Northgate."),
    (POOL, "The lesson may be back at Northgate soon."),
    (POOL, "Back at Northgate for the parents' evening."),
    (POOL, "Northgate sent the bill again."),
    (POOL, "I left my towel back at Northgate."),
    (POOL, "I was back at Northgate yesterday to fetch a towel."),
    (POOL, "Back in the garden at last."),
    (POOL, "First Saturday back at Kelsey Baths!"),
    (POOL, "We will be back at Northgate in March."),
    (STUDY, "Benno has found a job."),
    (STUDY, "Benno's sister has found rooms."),
    (STUDY, "Benno hasn't found rooms yet."),
    (STUDY, "Benno has found rooms for a friend."),
    (STUDY, "Benno will find rooms in May."),
    (STUDY, "I have my laptop back."),
    (STUDY, "I want my study back."),
    (SHOP, "Back in the van at six in the morning."),
    (SHOP, "Ben is back in the shop."),
    (SISTER, "Lena found a job."),
    (SISTER, "I found a flat for my mother."),
    (SISTER, "Tom found a flat."),
    (SISTER, "Lena is looking for a flat."),
    (BIKE, "I've got a new coat."),
    (BIKE, "My brother got a new bike."),
    (HOURS, "My boss is back on her normal hours."),
    (HOURS, "From next month I might be back on my normal hours."),
    (HOURS, "The bakery is back on its normal hours."),
    ("I work from eight to two.", "I am back on my normal hours."),
    ("I am at my desk from eight to two only.", "The library is back to its usual hours."),
    ("These days I work from nine to five.", "I am back on my normal hours."),
    ("I moved to Leeds, the flat in York was small, so at the moment I rent a room.", "Back in Leeds!"),
    ("I can't say anything until I hear from Mia.", "I heard from the bank."),
    ("We live with my parents until we buy a house.", "We bought a car."),
    ("We live with my parents until we buy a house.", "My parents bought a house in Spain."),
    ("We live with my parents until we buy a house.", "We nearly bought a house."),
    ("Until Dad can drive again I take him to dialysis.", "Mum can drive again."),
    ("Until Dad can drive again I take him to dialysis.", "Dad can walk again."),
    ("Tom sleeps on our sofa until he leaves for Rome.", "Tom left his phone on the sofa."),
    ("During the strike I cycle to work.", "The sale is over."),
    ("During the strike I cycle to work.", "My sister's strike is over."),
    ("The gym is closed, so for now I run in the park.", "Ran in the park again."),
    ("The gym is closed, so for now I run in the park.", "My son is back at the gym."),
    ("The gym is closed, so for now I run in the park.", "Nobody is back at the gym yet."),
    ("The gym is closed, so for now I run in the park.", "Went back to the gym for my shoes."),
    ("The gym is closed, so for now I run in the park.", "I have my gym shoes back."),
    ("The oven on Bell Street died, so for now we bake at the church.", "We bake at the church again."),
    ("While Rosa is in Peru, my mother picks the twins up.", "My boss is back from Peru."),
    ("While Rosa is in Peru, my mother picks the twins up.", "Rosa is back on Friday."),
    ("While Rosa is in Peru, my mother picks the twins up.", "Rosa's sister is back."),
    ("While Rosa is in Peru, my mother picks the twins up.", "Rosa is back in Peru."),
    ("While Rosa is in Peru, my mother picks the twins up.", "Rosa is not back yet."),
    ("We stay at the Hotel Sol until the builders finish the bathroom.", "The builders have finished the hall."),
    ("We stay at the Hotel Sol until the builders finish the bathroom.", "The builders finished their lunch."),
]
PUT_OFF = [
    (
        "Landlord is coming the day after tomorrow about the damp.",
        "Surprise surprise, landlord has pushed it to Saturday, some drama with his van.",
    ),
    ("The plumber comes on Tuesday.", "The plumber has put it off until Friday."),
    ("The plumber comes on Tuesday.", "the plumber can't make it before Friday"),
    ("Priya is visiting on Sunday.", "Priya has moved it to Monday."),
    ("The plumber comes on Tuesday.", "The plumber can only come on Friday."),
]
NOT_PUT_OFF = [
    ("The meter reader comes on Thursday.", "Landlord has pushed it to Saturday."),
    ("Landlord is coming the day after tomorrow about the damp.", "My brother's landlord has pushed it to Saturday."),
    ("Landlord is coming the day after tomorrow about the damp.", "The landlord wants to push it to Saturday."),
    ("Landlord is coming the day after tomorrow about the damp.", "The landlord pushed the wheelbarrow to the shed."),
    ("Landlord is coming the day after tomorrow about the damp.", "The landlord has moved it to the cellar."),
    ("Landlord is coming on Saturday about the damp.", "Landlord has pushed it to Saturday."),
    ("The plumber comes on Tuesday.", "The plumber has not put it off until Friday."),
    ("The cleaner comes every Tuesday.", "The cleaner can only come on Friday."),
]
DRIVING = "When I'm driving, read me my emails aloud."


def ends(earlier: str, later: str, day: date = date(2025, 10, 15)) -> bool:
    found = supersedes(Said(earlier, "Ada", day=date(2025, 10, 14)), Said(later, "Ada", day=day))
    return found in {Relation.UPDATE, Relation.CONTRADICT}


@pytest.mark.parametrize(("earlier", "later"), OVER)
def test_spec_3_5_what_held_for_a_while_is_over(earlier: str, later: str) -> None:
    assert ends(earlier, later, date(2025, 12, 20))
    assert statement_keys(earlier) & statement_keys(later)


@pytest.mark.parametrize(("earlier", "later"), NOT_OVER)
def test_spec_3_5_what_holds_for_a_while_goes_on(earlier: str, later: str) -> None:
    assert not ends(earlier, later, date(2025, 12, 20))


@pytest.mark.parametrize(("earlier", "later"), PUT_OFF)
def test_spec_3_5_somebody_puts_off_what_they_were_to_do(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), NOT_PUT_OFF)
def test_spec_3_5_what_somebody_else_puts_off_is_another_thing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later", "is_taken_back"),
    [
        (DRIVING, "Don't read me my emails aloud in the car, ever again.", True),
        (DRIVING, "Don't read my emails aloud when I'm driving.", True),
        (DRIVING, "Stop reading me my emails aloud.", True),
        (DRIVING, "Never read my emails aloud in the car again.", True),
        ("If I'm asleep, mute my phone.", "Don't mute my phone any more if I'm asleep.", True),
        ("In the car, read me the news.", "Don't read me the news in the car.", True),
        ("Read me my texts aloud too.", "Don't read me my emails aloud in the car, ever again.", False),
        ("Read me my emails aloud.", "Don't read me my emails aloud in the car, ever again.", False),
        ("When I'm cooking, read me my emails aloud.", "Don't read me my emails aloud in the car.", False),
        (DRIVING, "Don't read me my emails aloud when my son is in the car.", False),
        (DRIVING, "When I'm cooking, don't read me my emails aloud.", False),
        (DRIVING, "Don't read me my texts aloud in the car.", False),
        (DRIVING, "Don't read me my emails aloud in my son's car.", False),
        ("In the car, read me the news.", "Don't read me the news at dinner.", False),
        ("When I'm on the train, play me the news.", "Don't play me the news on the train any more.", True),
        ("If I forget to log my hours, nag me.", "Don't nag me about my hours any more.", True),
        ("If I forget to log my hours, nag me.", "Don't nag me about my weight.", False),
        ("Before I go to bed, tell me the weather.", "Don't tell me the weather tonight.", False),
        ("Address me as Professor.", "Call me Ruth from now on.", True),
        ("Address me as Professor.", "Address the letter to Ruth.", False),
    ],
)
def test_spec_3_5_an_order_with_its_case_in_front_is_taken_back(earlier: str, later: str, is_taken_back: bool) -> None:
    assert is_countermanded(earlier, later) is is_taken_back


@pytest.mark.parametrize(
    ("former", "standing", "later", "is_back"),
    [
        (
            "write my commit messages in english",
            "new client reads the git log and only knows german, so write my commit messages in german",
            "commits in english again, thank god, no more 'Fehlerbehebung der Fehlerbehebung'",
            True,
        ),
        ("Show heights in feet.", "Show heights in metres.", "Heights in feet again, no more metres.", True),
        ("Show heights in feet.", "Show heights in metres.", "I'm reverting to feet for the heights.", True),
        ("Show heights in feet.", "Show heights in metres.", "No heights in feet again, please.", False),
        ("Show heights in feet.", "Show heights in metres.", "Heights in feet again for my sister's list.", False),
        ("Show heights in feet.", "Show heights in metres.", "My feet hurt again, no more long walks.", False),
    ],
)
def test_spec_3_5_what_is_left_behind_may_be_named_beside_what_is_so_again(
    former: str, standing: str, later: str, is_back: bool
) -> None:
    assert returns_to(former, standing, later) is is_back


@pytest.mark.parametrize(
    ("earlier", "later", "is_over"),
    [
        ("I like to train early, before six.", "With the new baby I like to train late, the only quiet hour.", True),
        ("I like to train late, after nine.", "I like to train early once more, the whole plan before six.", True),
        ("I like my tea strong.", "I like my tea weak now.", True),
        ("I shower before work.", "I shower after work now.", True),
        ("I like to train early.", "I like to train late.", False),
        ("I like to train early.", "I like to train late on Sundays now.", False),
        ("I like to train early.", "I like to train late too now.", False),
        ("I like to train early.", "I like to eat late now.", False),
        ("I like to read with music.", "I like to write without music now.", False),
        ("I like to train early.", "My husband likes to train late now.", False),
        ("Children must not enter the lab.", "Children may enter the lab now.", True),
        ("Children must not enter the lab.", "Children may enter the canteen now.", False),
    ],
)
def test_spec_3_5_the_opposite_takes_its_place(earlier: str, later: str, is_over: bool) -> None:
    assert ends(earlier, later, date(2025, 12, 20)) is is_over
