"""The language that an ad is written in: told by its board, clear from its words, or unknown."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.records import Job
from scan.facts import with_facts
from scan.fingerprint import BESIDE
from scan.language import NAMES, language_named, language_of
from scan.posting import Posting
from scan.text import plain
from tests.scan.match.people import PATIENT, a_job
from tests.shared import shared

ENGLISH = "We are looking for a developer who will work with our team and help you to build the products of this firm."
WRITTEN = {
    "en": ENGLISH,
    "de": "Wir suchen für unser Team eine Person, die mit uns an der Plattform arbeitet und sich nicht beirren lässt.",
    "fr": "Nous cherchons une personne qui travaille avec notre équipe sur les outils de la maison et qui aime écrire.",
    "es": "Buscamos una persona para nuestro equipo que trabaje con los datos de la empresa y que sepa escribir.",
    "pt": "Procuramos uma pessoa para a nossa equipe que trabalhe com os dados da firma e não tenha medo de escrever.",
    "it": "Cerchiamo una persona per il nostro gruppo che lavori con i dati della ditta e che non tema le novità.",
    "nl": "Wij zoeken een collega voor ons team die met het platform aan de slag gaat en niet bang is voor vragen.",
    "pl": "Szukamy osoby do naszego zespołu, która będzie pracować z danymi i nie boi się pytań oraz zmian.",
    "sv": "Vi söker en person till vårt team som vill arbeta med data och inte är rädd för att ställa frågor.",
    "da": "Vi søger en person til vores hold, som vil arbejde med data og ikke er bange for at stille spørgsmål.",
    "no": "Vi ser etter en person til laget vårt som vil jobbe med data og ikke er redd for å spørre om noe.",
    "fi": "Etsimme henkilöä, joka on kiinnostunut datasta ja joka ei pelkää kysymyksiä, sekä haluaa oppia, että osaa.",
    "cs": "Hledáme člověka, který bude pracovat s daty a který se nebojí otázek, protože práce je u nás pro každého.",
    "hu": "Olyan munkatársat keresünk, aki szeret adatokkal dolgozni, és nem fél a kérdésektől, mert ez a munka ilyen.",
    "ro": "Căutăm o persoană pentru echipa noastră care să lucreze cu datele firmei și nu se teme de întrebări.",
    "tr": "Ekibimiz için veri ile çalışan ve soru sormaktan korkmayan bir kişi arıyoruz, iş çok yönlü olacak.",
    "vi": "Chúng tôi cần một người làm việc với dữ liệu của công ty và không ngại đặt câu hỏi trong công việc.",
    "id": "Kami mencari orang yang bisa bekerja dengan data dan tidak takut untuk bertanya karena ini tugas kami.",
    "uk": "Ми шукаємо людину, яка працюватиме з даними і не боїться питань, бо її робота є різною.",
    "ru": "Мы ищем человека, который будет работать с данными и не боится вопросов, это разные задачи.",
    "el": "Ψάχνουμε ένα άτομο που θα δουλεύει με τα δεδομένα της εταιρείας.",
    "ar": "نبحث عن شخص يعمل مع بيانات الشركة ولا يخاف من الأسئلة في مدينة كبيرة",
    "he": "אנחנו מחפשים אדם שיעבוד עם הנתונים של החברה",
    "hi": "हमें एक ऐसे व्यक्ति की ज़रूरत है जो डेटा के साथ काम करता है",
    "ja": "東京でPythonの開発者を募集しています。リモート可。",
    "ko": "데이터를 다루는 개발자를 찾고 있습니다.",
    "zh": "我们正在寻找一位熟悉数据的开发人员",
    "th": "เรากำลังมองหานักพัฒนาที่ทำงานกับข้อมูล",
}
# Close to a language that somebody may ask for, and none that anybody can.
STRANGE = [
    "Busquem una persona per al nostre equip que treballi amb les dades i que no tingui por de les preguntes.",
    "Hľadáme človeka, ktorý bude pracovať s dátami a ktorý sa nebojí otázok, pretože práca je u nás pre každého.",
    "Tražimo osobu koja će raditi s podacima i koja se ne boji pitanja, jer je posao kod nas za sve.",
    "Naghahanap kami ng isang tao na may alam sa datos at hindi natatakot sa mga tanong ng aming koponan.",
    "Ons soek iemand wat met die data van die firma sal werk en nie bang is vir vrae by ons span nie.",
    "Търсим човек, който ще работи с данните на фирмата и не се бои от въпроси.",
    "ما دنبال فردی هستیم که با داده‌ها کار کند و گفتگو را دوست داشته باشد، پروژه بزرگ است",
    "Біз деректермен жұмыс істейтін және сұрақтардан қорықпайтын адамды іздейміз, өте қызық.",
]


def facts(**fields) -> Job:
    return with_facts(
        a_job(), Posting(**({"platform": "p", "native_id": "1", "title": "x", "link": "", "text": ""} | fields))
    )


@pytest.mark.parametrize("code", WRITTEN)
def test_a_plain_sentence_is_in_its_language(code) -> None:
    assert language_of(WRITTEN[code]) == code


@pytest.mark.parametrize("text", STRANGE)
def test_a_language_that_we_do_not_name_is_not_taken_for_its_neighbour(text) -> None:
    assert language_of(text) == ""


def test_every_language_with_a_name_can_be_told() -> None:
    assert set(WRITTEN) == set(NAMES)


@pytest.mark.parametrize(
    "text",
    [
        f"{WRITTEN['en']} {WRITTEN['de']}",
        f"{WRITTEN['es']} {WRITTEN['en']}",
        f"{WRITTEN['ru']} {WRITTEN['en']}",
        "Senior Python Developer, Django, AWS",
        "React, Next.js, Node.js, com.example.app, https://do.se.com/um/para",
        "AI chat, AI tools, AI agents, AI video, AI voice",
        "",
    ],
)
def test_two_languages_or_names_of_products_are_not_clear(text) -> None:
    assert language_of(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Need a quote for a gardening project, please send it to me.",
        "I have a PHP site that is broken and I need someone who can fix it today",
        "Connect the API to a dashboard with charts for each of the shops",
        "We're Acme's in-house experts. It's the team's job to help the firm's clients with what they've bought.",
    ],
)
def test_a_short_ad_in_plain_english_is_english(text) -> None:
    assert language_of(text) == "en"


def test_the_title_counts_and_the_skills_beside_the_text_do_not() -> None:
    assert facts(title="Looking for someone", text="to fix it for me").language == "en"
    assert facts(text=f"{WRITTEN['de']}{BESIDE}{ENGLISH}").language == "de"
    assert facts(text=WRITTEN["de"], language="en").language == "en"


def test_a_board_names_a_language_in_many_ways() -> None:
    assert [language_named(name) for name in ("en-US", "German", "DE", "klingon", "")] == ["en", "de", "de", "", ""]


def test_the_list_of_words_is_whole() -> None:
    lines = [line for line in files("scan").joinpath("languages.txt").read_text("utf-8").splitlines() if line[0] != "#"]
    codes = [line.split(" ")[0] for line in lines]
    assert len(codes) == len(set(codes))
    for line in lines:
        words = line.split(" ")[1:]
        assert all(word == word.lower() and word.isalpha() for word in words), line
        assert len(words) == len(set(words)), line


def test_recorded_ads_are_in_the_language_they_are_in() -> None:
    found = json.loads(shared("data/boards/arbeitnow_2026-08.json").read_text("utf-8"))
    assert [language_of(plain(job["description"])) for job in found["data"]] == ["en", "en", "de", "en", "en"]
    found = json.loads(shared("data/boards/himalayas_60of500_2026-08-03.json").read_text("utf-8"))
    told = [language_of(f"{job['title']}\n{plain(job['description'])}") for job in found["jobs"]]
    assert {code: told.count(code) for code in set(told)} == {"en": 57, "de": 1, "es": 1, "pt": 1}


@PATIENT(max_examples=300)
@given(st.one_of(st.text(max_size=300), st.lists(st.sampled_from(" ".join(WRITTEN.values()).split()), max_size=60)))
def test_any_text_is_in_a_language_with_a_name_or_in_none_that_we_know(text) -> None:
    assert language_of(text if isinstance(text, str) else " ".join(text)) in {*NAMES, ""}
