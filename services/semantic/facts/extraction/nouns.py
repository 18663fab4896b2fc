"""Nouns and verbs by which a clause's predicate is recognised."""

from __future__ import annotations

from typing import Final

from services.semantic.facts.extraction.lexicon import word_set

JOBS: Final = word_set(
    """
    nurse chef cook teacher engineer developer designer doctor lawyer manager baker writer consultant analyst
    scientist programmer architect accountant carpenter electrician plumber journalist photographer musician
    artist student pharmacist dentist therapist physio physiotherapist psychologist professor lecturer
    researcher pilot driver farmer librarian translator editor producer director paramedic firefighter officer
    freelancer entrepreneur founder biologist chemist physicist mechanic hairdresser barista waiter waitress
    bartender gardener surgeon vet veterinarian solicitor barrister midwife tutor administrator technician
    recruiter economist sommelier actor actress dancer singer painter sculptor novelist postdoc intern
    apprentice trainee cashier receptionist secretary servant worker ceo cto cfo owner assistant coordinator
    bookkeeper butcher tailor florist welder roofer builder optician radiographer geologist historian linguist
    statistician actuary auditor banker broker trader planner copywriter illustrator animator potter jeweller
    brewer courier postman teller clerk supervisor foreman head lead instructor trainer coach caretaker
    janitor cleaner nanny carer caregiver soldier sailor judge mathematician astronomer archaeologist
    paralegal dietitian nutritionist engineer's marketer strategist
    """
)
CONDITIONS: Final = word_set(
    """
    asthma diabetes epilepsy migraine migraines adhd autism dyslexia arthritis eczema celiac coeliac
    hypertension depression anxiety insomnia tinnitus anaemia anemia endometriosis lupus crohn psoriasis
    allergy allergies intolerance disease disorder syndrome condition pressure pacemaker apnea apnoea ibs ocd
    ptsd reflux hernia scoliosis vertigo glaucoma osteoporosis hayfever fever cancer phobia colour-blindness
    sciatica
    """
)
CONDITION_ADJECTIVES: Final = word_set(
    """
    diabetic asthmatic dyslexic deaf blind epileptic autistic coeliac celiac anaemic anemic hypertensive
    colorblind colour-blind
    """
)
DIETS: Final = word_set(
    """
    vegetarian vegan pescatarian veggie halal kosher keto paleo teetotal gluten-free flexitarian
    """
)
DIET_SPELLINGS: Final = {"veggie": "vegetarian", "vegetarians": "vegetarian", "vegans": "vegan"}
STATUSES: Final = word_set("single married divorced engaged widowed separated")
PETS_NOUNS: Final = word_set(
    """
    dog cat puppy kitten hamster rabbit bunny parrot budgie horse pony tortoise turtle goldfish snake lizard
    gecko ferret chicken hen goat fish bird pet guinea-pig
    """
)
CHILDREN: Final = word_set("kid child children son daughter twin baby")
BODY: Final = word_set(
    """
    ankle leg arm wrist knee shoulder back foot toe finger hip collarbone rib ribs hand hamstring ligament
    muscle elbow thumb neck calf achilles nose jaw acl meniscus
    """
)
INSTRUMENTS: Final = word_set(
    """
    piano guitar violin cello drum drums flute bass saxophone trumpet clarinet ukulele harp chess tennis
    football soccer rugby cricket basketball volleyball badminton squash golf hockey padel netball bridge
    poker go banjo accordion viola oboe organ trombone d&d pickleball baseball softball lacrosse pool darts
    handball keyboard
    """
)
APPOINTMENTS: Final = word_set(
    """
    appointment interview exam operation surgery meeting deadline presentation flight viewing checkup check-up
    scan test reservation party concert wedding date race competition tournament audition hearing knee hip
    conference recital review call demo match stall reunion graduation ceremony show gig trip performance
    workshop shift lesson class game booking train ferry holiday
    """
)
EVENTS: Final = word_set(
    """
    concert wedding conference festival workshop funeral exhibition play musical party lecture meetup class
    ceremony retreat shelter gig parade museum clinic reunion graduation group fair market game match opera
    show seminar conference event
    """
)
OWNED: Final = word_set(
    """
    car van campervan motorbike motorcycle bike bicycle boat house flat apartment cottage cabin farm garden
    allotment bakery shop store cafe café restaurant business company startup studio podcast blog newsletter
    channel piano guitar violin telescope vineyard gallery bookshop tesla motorhome caravan greenhouse salon
    bookstore practice ranch kayak canoe drone printer scooter
    """
)
ACHIEVEMENTS: Final = word_set(
    """
    marathon doctorate 10k 5k race degree phd master masters thesis exam exams test award prize medal competition
    tournament scholarship grant book novel album business company startup shop bakery restaurant podcast blog
    channel course bootcamp match championship triathlon mountain expedition certification group charity
    certificate licence license promotion contest game paper
    """
)
HAPPENINGS: Final = word_set(
    """
    surgery operation accident miscarriage attack stroke crash burglary promotion raise rise job scholarship
    visa card citizenship citizen licence license diploma tattoo braces baby concussion diagnosis
    """
)
PLANNED: Final = word_set(
    """
    learn study run visit travel start open build write buy sell move take volunteer train launch publish
    apply adopt propose retire become climb cycle hike perform compete live quit get improve lose go own play
    save stop give read exercise sleep drink eat be have create make join teach try do see attend host record
    renovate
    """
)
MOVING: Final = word_set(
    """
    fly travel go visit move start see meet run attend host take leave drive perform play present speak come
    stay hike have celebrate launch return compete graduate retire throw do open volunteer get apply begin
    arrive finish sing give teach fly
    """
)
HABITS: Final = word_set(
    """
    go run swim cycle hike walk cook bake meditate read train volunteer practise practice get wake garden
    climb write paint knit sing dance drink eat commute play call visit work exercise jog stretch journal
    teach attend meet watch take do have row ride fish camp
    """
)
GENERAL: Final = word_set(
    """
    sea ocean beach mountain mountains outdoors theatre theater cinema piano guitar violin rain cold heat
    summer winter autumn spring city countryside snow sun dark beatles taste smell colour color desert forest
    woods lake gym opera ballet blues night library park news
    """
)
TECHNICAL: Final = word_set(
    """
    aws azure gcp react vue angular svelte python rust go golang java javascript typescript kotlin swift linux
    ubuntu debian windows macos postgres postgresql mysql mongodb redis kafka kubernetes docker github gitlab
    jira slack notion node nextjs django flask fastapi rails spring terraform vscode vim emacs chrome firefox
    excel production staging main master heroku vercel netlify firebase supabase pytorch tensorflow numpy
    pandas graphql rest grpc phase step plan option stage version chapter part section line
    """
)
STATIVE: Final = word_set(
    """
    be have think know believe feel want like love hate need seem mean guess hope wish say tell ask look sound
    understand remember forget agree prefer enjoy wonder keep mention suppose figure realise realize use try
    let thank hear
    """
)
"""Verbs that tell of no event."""
GOT: Final = word_set("get adopt rescue foster bring")
EMPLOYED: Final = word_set("work employ intern consult")
PERSONAL: Final = {
    "job": "works_as", "profession": "works_as", "occupation": "works_as", "hometown": "comes_from",
    "home town": "comes_from", "native language": "speaks", "mother tongue": "speaks", "first language": "speaks",
    "budget": "has_budget", "goal": "goal", "dream": "wants_to", "dream job": "wants_to", "pronouns": "has_pronouns",
    "degree": "has_degree", "major": "studies", "nickname": "preferred_name", "employer": "works_at",
    "nationality": "nationality", "hobby": "likes", "hobbies": "likes", "main hobby": "likes", "name": "has_name",
    "full name": "has_name", "first name": "has_name", "last name": "has_name", "surname": "has_name",
    "blood type": "owns", "address": "owns", "new address": "owns", "email": "owns", "phone number": "owns",
    "timezone": "owns", "time zone": "owns", "star sign": "owns", "allergy": "allergic_to",
    "allergies": "allergic_to", "age": "age", "title": "works_as", "role": "works_as", "job title": "works_as",
    "size": "owns", "shoe size": "owns", "salary": "owns", "wage": "owns", "income": "owns",
}  # fmt: skip
"""What "my ... is" states: predicates by the noun."""
PAY: Final = word_set("salary wage income")
"""Of these, only a sum is kept."""
DATED: Final = word_set(
    """
    birthday anniversary wedding appointment interview exam flight operation surgery deadline graduation
    meeting viewing test trip holiday vacation train conference concert day date recital party match race
    presentation hearing check-up checkup
    """
)
