"""Words with a meaning of their own for the value guard: units, numbers, verbs, opposites. Data alone."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    return {word: canonical for canonical, words in _groups(text) for word in words}


def _groups(text: str) -> list[tuple[str, list[str]]]:
    lines = (line.split(":") for line in text.strip().splitlines())
    return [(canonical.strip(), words.split()) for canonical, words in lines]


SMALL_NUMBERS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {"nil": 0}
TENS: Final[dict[str, int]] = {
    word: 10 * value
    for value, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
SCALES: Final[dict[str, int]] = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
GROUP_NUMBERS: Final[dict[str, int]] = {"dozen": 12, "couple": 2, "pair": 2}
ORDINALS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ],
        1,
    )
} | {"thirtieth": 30}
MONTHS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
        1,
    )
}
WEEKDAYS: Final = _words("monday tuesday wednesday thursday friday saturday sunday")
PARTS_OF_DAY: Final = _words("morning afternoon evening night lunch dinner breakfast lunchtime weekend weekends")
SEASONS: Final = _words("spring summer autumn winter")

CONTRACTIONS: Final[dict[str, str]] = _pairs(
    """
    i am: i'm im
    i have: i've ive
    i will: i'll
    can not: can't cannot cant
    will not: won't wont
    do not: dont don't
    does not: doesnt doesn't
    is not: isnt isn't
    please: plz pls
    you are: you're
    we are: we're
    they are: they're
    we have: we've
    they have: they've
    you have: you've
    it is: it's
    he is: he's
    she is: she's
    that is: that's
    there is: there's
    who is: who's
    any more: anymore
    let us: let's
    """
)

AUXILIARIES: Final = _words(
    "am is are was were be been being has have had do does did can could will would shall should may might must"
)
BE: Final = _words("am is are was were be been being 're 'm")
PRONOUNS: Final = _words("i we you he she it they one there this that")
POSSESSIVES: Final[dict[str, str]] = {
    "my": "i", "mine": "i", "our": "we", "his": "he", "her": "she", "their": "they", "your": "you", "its": "it",
    "me": "i", "us": "we", "him": "he", "them": "they", "myself": "i",
}  # fmt: skip

VERBS: Final = _words(
    """
    live work move use drive play smoke eat drink like love hate dislike prefer want need know think believe say
    claim speak study learn teach read write own sell buy rent lease cost pay take give get go come run walk swim
    dive ski skate dance cook bake cycle ride fly travel visit meet see call name lead manage head direct coach
    supervise report send look turn open close shut start begin stop quit end finish leave return change switch
    replace raise lower increase reduce postpone reschedule cancel renew upgrade migrate rename repair fix break
    wipe put install sign die marry divorce bear expire last hold weigh measure hear win lose pass fail ship arrive
    depart deliver order sleep wake rise join retire graduate grow keep contain serve offer feed fire hire host
    design build paint compose draw find discover make invent wear carry show ring forget remember attend volunteer
    train exercise lift climb knit sing stand sit lie stay reach set discharge heat lock accept support require
    allow shoot commute subscribe become retrain prescribe recommend treat vaccinate dread fear enjoy loathe adore
    tour nest lean park let do have listen earn spend borrow lend owe donate steal tidy wash clean collect pick push
    shift extend swap exchange trade happen occur include exclude belong employ promote transfer relocate reside
    settle deploy uninstall update operate process store save print scan log monitor connect depend follow cover
    handle organise organize celebrate prepare boil fry roast grill brew water mow shave dye wrap hang type babysit
    tutor jog hike row sail surf juggle whistle snore pray meditate stretch rehearse perform practise practice
    translate edit publish review approve reject check test evaluate supply provide import export produce
    manufacture repeat resign step wait book pin reserve block configure register appoint elect cut rely unsubscribe
    delay advance suspend resume pause continue hurt ache itch
    bite bark chew sneeze sew weave crochet prune harvest compile render merge rebase restart reboot rotate sync
    archive escalate refund insure vote tolerate avoid mentor encrypt hash validate authenticate notify remind groom
    bathe vacuum sweep scrub knead
    share help argue assist host chair dig inherit possess sublet lack leak freeze drip creak limp crawl skip gamble
    heal recover stink squeak overheat suffer swear
    """
)
NOUNS_TOO: Final = _words(
    """
    book pin block register practice practise review test check cover shift process store log monitor supply export
    import delay advance exchange trade row water step produce print push pick surf sail fry repeat pause transfer
    swap deposit update edit roast grill brew dye hike jog scan handle influence reject
    merge archive sync render hash restart reboot compile bark prune harvest weave refund vote
    share help host chair lack leak freeze drip skip crawl
    """
)
"""Verbs that are nouns as often: read as verbs behind a pronoun or an auxiliary, or in the past."""
IRREGULAR: Final[dict[str, str]] = _pairs(
    """
    live: living lives
    take: took taken taking takes
    give: gave given
    get: got gotten getting
    go: went gone goes
    come: came
    run: ran running
    swim: swam swum swimming
    write: wrote written
    drive: drove driven
    eat: ate eaten
    drink: drank drunk
    speak: spoke spoken
    know: knew known
    think: thought
    say: said says
    sell: sold
    buy: bought
    cost: costs costed
    pay: paid
    fly: flew flown flies
    meet: met
    see: saw seen
    leave: left leaving
    lead: led
    send: sent
    begin: began begun
    stop: stopped stopping
    quit: quitting
    break: broke broken
    put: putting
    win: won
    lose: lost
    fail: failed
    sleep: slept
    wake: woke woken waking
    rise: rose risen
    grow: grew grown
    keep: kept
    hold: held
    build: built
    draw: drew drawn
    wear: wore worn
    sing: sang sung
    stand: stood
    sit: sat
    set: setting
    lie: lay lain lying
    die: died dying
    make: made
    become: became
    forget: forgot forgotten
    bear: born
    learn: learnt
    teach: taught
    read: reading
    study: studied studies
    marry: married marries
    find: found
    cancel: cancelled canceled cancelling
    smoke: smoking
    lend: lent
    spend: spent
    steal: stole stolen
    hang: hung
    feed: fed
    cut: cutting cut
    hit: hitting
    have: has had having
    do: done doing
    be: am is are was were been being
    """
)

CANONICAL: Final[dict[str, str]] = _pairs(
    """
    mother: mum mom mama
    father: dad papa
    bear: birthday
    teach: teacher
    manage: manager
    postpone: defer
    child: kid kids children
    telephone: phone
    vegan: vegans
    vegetarian: vegetarians
    """
)

NEGATIVES: Final[dict[str, str]] = {
    "dislike": "like", "unsafe": "safe", "unlocked": "locked", "impossible": "possible", "unhappy": "happy",
    "unsigned": "signed", "unmarried": "married", "unpaid": "paid", "unable": "able", "unheated": "heated",
}  # fmt: skip
"""Words that are the negation of another one."""

STATES: Final[dict[str, tuple[str, str]]] = {
    word: (dimension, value)
    for dimension, words in (
        ("working", "broken:- down:- works:+ fixed:+ repaired:+ up:+"),
        ("door", "open:open closed:closed shut:closed"),
        ("heat", "hot:hot cold:cold"),
        ("fill", "full:full empty:empty"),
        ("switch", "on:on off:off"),
        ("side", "left:left right:right"),
        ("position", "top:top bottom:bottom upstairs:up downstairs:down"),
        ("pair", "single:single engaged:engaged married:married divorced:divorced widowed:widowed"),
        ("job", "unemployed:- jobless:-"),
        (
            "colour",
            (
                "black:black white:white red:red green:green blue:blue yellow:yellow brown:brown grey:grey gray:grey "
                "pink:pink purple:purple violet:purple teal:teal orange:orange beige:beige "
                "turquoise:turquoise mint:mint cream:cream navy:navy lilac:lilac maroon:maroon ivory:ivory"
            ),
        ),
        ("alive", "alive:alive dead:dead"),
        ("length", "short:short brief:short concise:short long:long lengthy:long detailed:long"),
        ("tone", "formal:formal informal:informal casual:informal"),
    )
    for word, value in (item.split(":") for item in words.split())
}
"""Adjectives of which a thing has one at a time: what they are about and which one it is."""

COMPARATIVES: Final[dict[str, tuple[str, int]]] = {
    word: (dimension, sign)
    for dimension, more, less in (
        ("age", "older", "younger"), ("height", "taller", "shorter"), ("length", "longer", "shorter"),
        ("speed", "faster", "slower"), ("size", "bigger", "smaller"), ("size", "larger", "smaller"),
        ("weight", "heavier", "lighter"), ("price", "dearer", "cheaper"), ("quality", "better", "worse"),
        ("width", "wider", "narrower"), ("strength", "stronger", "weaker"), ("heat", "hotter", "colder"),
        ("heat", "warmer", "cooler"), ("date", "later", "earlier"), ("level", "higher", "lower"),
    )
    for word, sign in ((more, 1), (less, -1))
}  # fmt: skip

STOP: Final = _words(
    """
    a an the very really quite so just still already please also too as in on at of by for to with from into onto
    than then do does did has have had will shall be am is are was were been being now there here please lot bit ll
    all any some people one everybody everyone nobody somebody anyone who that which and or up over what 's called every
    """
)

HEARSAY: Final = _words("think believe say claim insist assume suspect swear suppose guess reckon imagine hear")
HEDGES: Final = _words(
    "maybe perhaps might may probably possibly likely supposedly apparently considering whether unsure"
)
FUNCTIONAL_VERBS: Final = _words("live bear")
"""A subject has one value at a time: a second one excludes the first."""
CHANGEABLE_VERBS: Final = _words("live work drive use study be prefer want call run weigh cost read keep")
"""A subject has one value at a time where the later statement says that it is new."""
MULTIPLE_ROLES: Final = _words(
    """
    brother sister son daughter friend colleague cousin aunt uncle neighbour neighbor child kid niece nephew hobby
    language pet client customer supplier guest student pupil teammate member ingredient tablet pill goal
    """
)
"""Roles that several can have: "my brother is Finn" leaves room for another brother."""
KIN: Final = _words(
    """
    mother father mum mom dad parent grandmother grandfather grandma grandpa aunt uncle cousin brother sister son
    daughter twin wife husband widow widower godmother godfather partner child kid niece nephew nan nana gran granny
    grandad granddad auntie hubby missus stepmum stepdad stepmother stepfather
    """
)
CREATION_VERBS: Final = _words("write paint design build compose make found discover do lead manage direct invent draw")

NOW: Final = frozenset(["now", "nowadays", "henceforth", "instead", "again", "meanwhile"])
NOW_PHRASES: Final = (
    ("from", "now", "on"), ("these", "days"), ("no_longer",), ("any", "more"), ("after", "all"),
    ("just", "turned"), ("has", "become"), ("from", "this"), ("as", "of"), ("down", "to"),
)  # fmt: skip
PAST_PHRASES: Final = (
    ("used", "to"), ("as", "a", "child"), ("as", "a", "kid"), ("when", "i", "was"), ("years", "ago"), ("formerly",),
    ("last", "year"), ("back", "then"), ("at", "the", "start"), ("previously",), ("when",),
)  # fmt: skip
TEMPORARY: Final = (
    ("today",), ("tonight",), ("this", "week"), ("this", "weekend"), ("at", "the", "moment"), ("for", "now"),
    ("tomorrow",), ("for", "the", "time", "being"), ("temporarily",), ("rental",),
)  # fmt: skip
PHRASAL: Final = {
    ("call", "off"): "cancel", ("give", "up"): "quit", ("go", "up"): "rise", ("take", "over"): "takeover",
    ("put", "off"): "postpone", ("break", "up"): "separate", ("split", "up"): "separate", ("go", "down"): "fall",
}  # fmt: skip
HEDGE_PHRASES: Final = (("not", "sure"), ("thinking", "of"), ("thinking", "about"), ("planning", "to"), ("hope", "to"))
