"""Matters of life: the words that name one in a query, and the words in which people tell of it. Data only."""

from __future__ import annotations

from typing import Final, NamedTuple

_AM: Final = r"(?:i'm|i\sam|im|i\swas|i\shave\sbeen|i've\sbeen|i\sgot|we're|we\sare)\s(?:an?\s)?(?:\w+\s)?"
_AMOUNT: Final = r"\s?(?:kg|kilos|cm|km|minutes|hours|days|euros|pounds|dollars|%)"
_DRUG: Final = (
    r"\w{2,20}(?:pril|sartan|statin|olol|prazole|formin|cillin|mycin|traline|"
    r"oxetine|alopram|azepam|azolam|piclone|triptan)"
)
"""By the endings of the common names of substances."""
_JOINT: Final = (
    r"physio(?:therapy|therapist)?|osteopath|chiropractor|orthop(?:a?edist|a?edic)|crutches|cortisone|"
    r"inflamed|swollen"
)


_FAVOUR = (
    r"ow(?:e|es|ed)\s(?:\w+\s){1,3}(?:an?|some|another|the)\s(?:\w+\s)?(?:coffee|beer|drink|pint|round|lunch|dinner|cake|favou?r|"
    r"apology|explanation|letter|call|answer|reply|e-?mail|visit|hug|story|thank)s?"
)
"""What is owed and no debt."""
_DEBT: Final = r"(?:it|them|that|this|(?:the|my|our)\s(?:\w+\s)?\w+)"
"""Between "pay" and "off"."""


class Matter(NamedTuple):
    """A matter. All but `named` are alternatives of a regular expression over lower case words."""

    named: str  # words of a query in base form, any of them; `job+hunt` where it takes both
    told: str = ""  # tells of it in a text about the speaker
    clear: str = ""  # tells of it in any text that is about nobody else
    apart: str = ""  # has words of it and means something else


MATTERS: Final = (
    Matter(
        "debt loan",
        told="owe|owes|owed|loans?|overdraft|overdrawn|creditors?|arrears|in debt|repayments?|maxed out|"
        rf"owing|pay(?:ing)?\soff|pa(?:id|ying)\sback|pa(?:y|id|ying)\s{_DEBT}\s(?:off|back)",
        clear="bailiffs?|debt collectors?|overdraft|final demand",
        apart=rf"{_FAVOUR}|(?:work|effort|training|practice|patience|it|it's|that)\s(?:\w+\s){{0,3}}pa(?:id|ys?|ying)\soff",
    ),
    Matter(
        "money finance",
        told=r"earn|earned|salary|wages?|income|payslip|my pay|pay rise|owe|owes|owed|loans?|savings|"
        r"mortgage|pension|in debt|broke|"
        r"(?:bank|savings)\saccount|credit cards?|inheritance|inherited|invest(?:ed|ments?)|shares|"
        r"overdrawn|my rent|afford",
        clear="the rent|the mortgage|the overdraft|child benefit|tax refund",
    ),
    Matter(
        "salary wage income earning earn pay",
        told="earn|earned|salary|wages?|income|payslip|my pay|pay (?:rise|review)|a raise|put me (?:up|down) to",
        clear=r"(?:got|given|getting)\sa\s(?:pay\s)?(?:raise|rise)|pay\srise|\d\son\s(?:the|my)\spayslip",
        apart=r"earn(?:ed|s|ing)?\s(?:\w+\s){0,2}(?:trust|respect|degree|badge|stripes|medal|place|points?)",
    ),
    Matter(
        "medication medicine pill tablet drug prescription",
        told=r"\d+\s?mg|pills?|tablets?|medicines?|medication|antidepressants?|prescription|dose|"
        rf"{_DRUG}",
    ),
    Matter(
        "illness disease diagnosis health condition sickness",
        told="diagnosed|diagnosis|disease|syndrome|cancer|tumou?r|diabetes|diabetic|depression|depressed|"
        "anxiety|hiv|epilepsy|epileptic|"
        "biopsy|chronic|chemo|symptoms?|burnout",
    ),
    Matter(
        "depression burnout",
        told=r"depressed|depression|burn(?:ed|t)\sout|burnout|antidepressants?|sertraline|citalopram|"
        r"fluoxetine|prozac",
    ),
    Matter(
        "anxiety panic",
        told=r"anxiety|anxious|panic(?:ked|king)?(?:\sattacks?)?|beta\sblockers?|therapist",
        clear="panic attacks?",
    ),
    Matter(
        "pregnancy pregnant",
        told="pregnant|pregnancy|expecting|midwife|ultrasound|miscarriage|trimester|ivf|morning sickness|"
        "due date|antenatal|contractions",
        clear=r"midwife|antenatal\s\w+|(?:\w+-week|dating|anomaly|baby)\sscan|due date|morning sickness",
        apart=r"expecting\s(?:an?|the|my|some|your)\s(?:parcel|package|delivery|letter|call|visitor|visit|guests?|answer|reply|email)",
    ),
    Matter(
        "fertility ivf",
        told="ivf|embryos?|follicles?|ovulation|sperm count|egg retrieval|insemination|miscarriage",
        clear="embryo transfer|egg retrieval|fertility clinic|round of ivf",
    ),
    Matter(
        "religion religious faith belief church",
        told=rf"{_AM}(?:muslim|christian|catholic|protestant|methodist|jewish|hindu|sikh|buddhist|atheist|baptist|quaker)|"
        r"member\sof\s(?:the|a)\s\w+\s(?:church|parish|congregation)|baptised|converted to|i pray|confession|"
        r"fasting\sfor\s\w+|keep(?:ing)?\s(?:kosher|the\ssabbath)|"
        r"go\sto\s(?:the\s)?(?:church|mosque|synagogue|temple|mass)",
        apart=r"(?:teach|teaches|taught|teaching|stud(?:y|ied|ying))\sreligion|"
        r"religion\s(?:class|lessons?|teacher|exam)",
    ),
    Matter(
        "politics political party vote election",
        told=r"voted?|vote for|party member|member\sof\sthe\s\w+\sparty|campaign(?:ed|ing) for|canvass(?:ed|ing)?|"
        r"(?:stand|standing|stood|run|running|ran)\sfor\s(?:the\s\w+\sin|council|mayor|parliament|election)|"
        r"(?:local|general)\selections?|party\s(?:conference|card|membership)",
        apart=r"(?:birthday|dinner|garden|christmas|surprise|office|leaving|hen|stag|pool|tea|engagement|wedding|farewell|"
        r"house-?warming)\spart(?:y|ies)",
    ),
    Matter(
        "sexuality orientation gay",
        told="gay|lesbian|bisexual|queer|trans|transgender|came out|coming out|asexual",
    ),
    Matter("age", told=rf"{_AM}\d{{1,3}}(?!{_AMOUNT})|i was born|i turned"),
    Matter("address home", told="i live (?:at|in|on)|we live (?:at|in|on)"),
    Matter("phone telephone mobile", told="my (?:mobile|cell|phone|number)|(?:reach|call|ring|text) me (?:on|at)"),
    Matter(
        "hear+loss hear+aid hearing+loss hearing+aid deaf deafness tinnitus",
        told=r"hearing\s(?:tests?|aids?)|decibels|audiolog\w+|tinnitus|hard\sof\shearing|going\sdeaf|cochlear",
        clear=r"hearing\s(?:tests?|aids?)|audiolog\w+|tinnitus",
        apart=r"hearing\s(?:dogs?|is\son|on\s\d|about|from|date)|(?:court|tribunal|disciplinary|public|planning)\shearing",
    ),
    Matter(
        "weight weigh",
        told=r"i weigh|i weighed|(?:lost|gained|put\son)\s\w+\s(?:kilos|kg|pounds|stone)",
        apart=r"(?:my|our|the|his|her)\s(?!body|whole)[\w-]+\s(?:weighs?|weighed)|atomic\sweight|weight\sof\sthe\s(?:box|parcel)",
    ),
    Matter(
        "therapy therapist psychotherapy psychotherapist psychologist psychiatrist counselling counsellor shrink",
        told=r"(?:psycho)?therap(?:y|ist|ists)|psycholog(?:y|ist)|psychiatr(?:y|ist)|counsell(?:or|ing)|"
        "(?:last|next|first) session|antidepressants?|"
        "sertraline|citalopram|fluoxetine|prozac",
        apart=r"(?:physical|occupational|speech|radiation|gene|hormone|light|aroma|retail|couples?|art|music|massage)\s"
        r"therap(?:y|ies|ists?)",
    ),
    Matter(
        "argument quarrel fight row dispute",
        told="argu(?:ed|ment|ing)|quarrel(?:led)?|row with|fought|fell out|falling-?out|not speaking|aren't speaking",
    ),
    Matter(
        "gambling gamble",
        told="casino|bets?|betting|gambl(?:e|ed|er|ers|ing)|poker|slot machines?|roulette|bookmaker|bookies?|"
        r"on\sthe\s(?:horses|dogs|slots)|fruit\smachines?|scratch\s?cards?",
        clear=r"placed\sa\sbet|the\sbook(?:ie|maker)|on\sthe\sslots",
        apart=r"i(?:'ll|'d)?\sbet\s(?:it|he|she|they|you|we|i|that|there|the|my|your|his|her)|you\sbet|(?:best|safe)\sbet",
    ),
    Matter(
        "drink drinking alcohol alcoholism",
        told=r"drunk|sober|alcohol|rehab|aa meetings?|to aa|drink too much|i drink|hangovers?|hungover|relapsed|"
        r"(?:bottles?|glass(?:es)?|pints?|cans?)\sof\s(?:wine|beer|gin|vodka|whisky|whiskey|rum|cider)",
        clear="aa meetings?|rehab",
        apart=r"(?:drink|drank|drinks|drinking)\s(?:my\s|our\s|some\s|(?:\w+\s){1,3}of\s|\w+\s)?"
        r"(?:coffee|tea|water|milk|juice|cocoa|lemonade|smoothies?)(?:\s\w+)?",
    ),
    Matter("drug addiction", told="cocaine|heroin|weed|cannabis|rehab|addict(?:ed|ion)?|clean for"),
    Matter(
        "divorce separation",
        told=r"divorc(?:ed|e|ing)|separat(?:ed|ion|ing)|custody|split up|broke up|alimony|decree\s(?:nisi|absolute)|"
        r"(?:lawyer|solicitor)\s(?:filed|says\si'll)|the (?:kids|children) every other (?:weekend|week)",
        clear=r"custody\s(?:hearing|case|agreement|battle|arrangement)|alimony|child\s(?:support|maintenance)|"
        r"divorce\s(?:papers|lawyer|hearing|petition)|decree\s(?:nisi|absolute)",
        apart=r"separat(?:e|es|ed|ing)\s(?:the\s|my\s|our\s)?(?:eggs?|waste|rubbish|laundry|files|colours|yolks?)",
    ),
    Matter("bank account banking", told="iban|sort code|account number|bank account|my (?:bank|account)"),
    Matter(
        "dating relationship affair",
        told=r"boyfriend|girlfriend|dating|affair|a date with|seeing (?:someone|somebody)|"
        r"cheat(?:ed|ing)\son\s(?:my\s(?:husband|wife|partner|boyfriend|girlfriend)|him|her)",
        apart=r"state\sof\saffairs|(?:foreign|current|public|legal|student)\saffairs",
    ),
    Matter("trip holiday vacation journey", told="fly|flights?|hotel|ferry|itinerary|travel(?:ling)?"),
    Matter(
        "lawsuit court trial litigation tribunal",
        told="lawyer|solicitor|attorney|su(?:e|ed|ing)|lawsuit|in court|to court|judge|settlement",
        clear=r"(?:tribunal|court)\s(?:hearing|date|case)|witness statement",
    ),
    Matter(
        "diet",
        told=r"vegetarian|vegan|calories|fasting|keto|low-(?:salt|fat|carb|sugar)|i weigh|"
        r"(?:cut|cutting|given|giving)\s(?:out|up)\s(?:sugar|carbs|meat|bread|dairy|sweets|chocolate|snacks|alcohol)|"
        r"(?:down\sto|lost|lose|losing)\s\w+\s(?:kilos|kg|pounds|stone)|lose weight|losing weight|"
        r"intermittent fasting",
    ),
    Matter(
        "conviction crime arrest prison",
        told="arrested|convicted|prison|jail|probation|shoplifting|charged with",
    ),
    Matter(
        "surgery operation",
        told=r"operat(?:ed|ion)|surgeon|surgery|ana?esthetic|stitches|discharged|keyhole|"
        r"having\smy\s(?:gallbladder|appendix|tonsils|wisdom\steeth|gall\sbladder|cataracts?)\s(?:taken\s|whipped\s)?out",
        clear="the surgeon|the ana?esthetist",
        apart=r"in operation|doctor's\ssurgery|surgery\s(?:hours|opens|closes)",
    ),
    Matter(
        "application interview job+hunt job+search job+application career+change",
        told=r"applied|recruiter|interview(?:ed)?|application|my (?:cv|resume|r\u00e9sum\u00e9)|"
        r"cover letters?|headhunter|notice period|"
        r"looking for (?:a )?(?:new |another )?(?:job|work)|(?:made|got|given|sent)\s(?:me\s)?an\soffer|"
        r"job offer|turned me down",
        clear="job interview|cover letter|assessment centre|job offer",
        apart=r"appl(?:y|ied|ying)\s(?:the|some|more|a\s(?:coat|layer|plaster|bandage))|interview\b[^.]{0,60}\b(?:paper|radio|tv|telly|news|magazine|podcast|broadcast|documentary)",
    ),
    Matter(
        "redundancy layoff dismissal",
        told="laid off|made redundant|redundancy|severance|sacked|fired|let me go|my last day at|consultation period",
        clear="severance (?:pay|package)|redundancy (?:pay|package|money)",
        apart=r"redundant\s(?:disks?|drives?|servers?|links?|systems?|code|copies|copy|data|power|text|parts?)",
    ),
    Matter("smoking smoke cigarette", told="smok(?:e|ed|er|ing)|cigarettes?"),
    Matter("disability handicap", told="disabled|disability|wheelchair|impaired"),
    Matter("knee", told=rf"meniscus|kneecap|cruciate|acl|{_JOINT}", clear=r"physio(?:therapy)?|meniscus|crutches"),
    Matter(
        "back spine",
        told=rf"slipped (?:a )?dis[ck]|herniated|sciatica|lumbago|lumbar|{_JOINT}",
        clear="sciatica",
        apart=r"(?:be|is|are|was|were|i'm|am|get|got|come|came|coming|go|went|going|call|called|pay|paid|bring|brought|"
        r"give|gave|send|sent|look|looking|turn|turned|move|moved|deposit|money|it|them|him|her|me|us)\sback|"
        r"back\s(?:door|garden|yard|seat|row|to|in|from|home|up|then|office|burner)",
    ),
    Matter("shoulder", told=rf"rotator cuff|frozen shoulder|{_JOINT}", clear="rotator cuff"),
    Matter("hip", told=rf"hip replacement|{_JOINT}", clear="hip replacement"),
    Matter("ankle foot leg", told=rf"sprained|plaster cast|in a cast|{_JOINT}"),
    Matter(
        "tooth dentist",
        told="toothache|root canal|filling|crown fitted|braces|wisdom (?:tooth|teeth)|orthodontist",
        clear="root canal|toothache",
    ),
    Matter(
        "wedding marriage engagement",
        told=r"getting married|best man|bridesmaids?|honeymoon|engaged|proposed to me|wedding|"
        r"(?:found|bought|tried on)\smy\sdress|"
        r"marry\sin|hen (?:party|night|do)|stag (?:party|night|do)",
        clear="caterer|the bridesmaids|honeymoon|hen (?:party|night|do)|stag (?:party|night|do)|"
        "seating plan|guest list",
        apart=r"(?:line|phone|number|toilet|loo)\s(?:\w+\s)?(?:is|was|are)\s(?:\w+\s)?engaged",
    ),
    Matter(
        "moving relocation house+move move+house move+home flat+move",
        told=r"(?:moving|move|moved)\sto|packed\s\w+\sboxes|new address|moving (?:house|out|day)",
        clear="removal (?:van|firm|men)|moving (?:van|day|boxes)|new address",
        apart=r"moved?\s(?:the|my|our)\s(?:meeting|appointment|date|call)",
    ),
    Matter(
        "flat+search flat+hunt house+hunt house+search apartment+hunt apartment+search",
        told=r"a viewing|estate agents?|letting agents?|"
        r"looking for an?\s(?:[\w-]+\s)?(?:flat|house|apartment|room)|put in an offer",
        clear="estate agents?|letting agents?",
    ),
    Matter(
        "accident+car accident crash collision",
        told=r"whiplash|crashed\s(?:my|our|the)\s(?:car|van|bike|motorbike)|(?:drove|ran|crashed)\sinto|"
        r"rear-ended|write(?:\sthe\scar)?\soff|written off|totalled",
        clear=r"the other driver|whiplash|write the car off|the crash",
    ),
    Matter(
        "burglary robbery theft break-in",
        told=r"(?:broke|broken)\sinto\s(?:our|my)|burgl(?:ed|ars?|ary)|robbed|mugged|stolen|stole my|"
        r"stole our|crime number",
        clear="crime (?:reference )?number|fingerprints|burglars?",
    ),
    Matter(
        "exam study finals",
        told=r"exams?|resits?|revis(?:ing|ion)|retake|viva|(?:failed|passed)\s(?:my\s)?\w+|"
        r"got\s(?:an?\s)(?:2\.[12]|first|distinction)",
        clear="resits?",
        apart=r"eye\sexam(?:ination)?s?|driving\stest",
    ),
    Matter(
        "drive+test drive+lesson drive+licence",
        told="driving (?:tests?|lessons?|instructor)|my (?:driving )?instructor|provisional licen[cs]e",
        clear="driving (?:instructor|examiner)|theory (?:test|part)",
    ),
    Matter(
        "insomnia sleep+problem sleep+trouble sleeping",
        told=r"insomnia|lie awake|lay awake|sleepless|slept through|sleeping (?:pills?|tablets?)|zopiclone|"
        r"melatonin|can't sleep",
        clear="sleeping (?:pills|tablets)|zopiclone",
    ),
    Matter(
        "work+trouble work+problem bullying harassment",
        told=r"bullied|bullying|harass(?:ed|ment)|written warning|disciplinary|grievance|"
        r"(?:my\s(?:boss|manager|colleague)\s)?(?:shouted|yelled|screamed)\sat\sme|hr\swants",
        clear="disciplinary (?:hearing|meeting)|grievance procedure",
    ),
    Matter(
        "landlord landlady eviction tenancy",
        told=r"landlord|landlady|evict(?:ed|ion)?\sus|evict(?:ed|ion)?\sme|our eviction|deposit back|tenancy",
        clear="eviction notice|section 21",
        apart=r"pub\sland(?:lord|lady)|land(?:lord|lady)\s(?:at|of)\sthe\s(?:pub|bar|inn|swan|crown|red\slion)",
    ),
)
"""Words of a query that name a matter, and how people tell of it."""
