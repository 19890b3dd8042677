"""Staff type a time in the words of their language or in English, as the hints of a page show."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from flask import Flask

from ridedash.rides.times.time_answers import NotATime, TimeQuestion, TimeRefusal
from ridedash.rides.times.time_words import ENGLISH_WORDS, TWO_THINGS, TimeWords, normalised_words
from ridedash.rides.times.typed_time import read_time
from ridedash.views.booking.pickup_times import quick_times
from ridedash.views.web.formatting import weekday_time, zone
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.say import in_language
from ridedash.wording.time_words import examples, time_words
from ridedash.wording.typed_times import why_not
from tests.views.ride_pages import make_desk

pytestmark = pytest.mark.database
KOLKATA = zone("Asia/Kolkata")
NOW = datetime(2026, 11, 23, 10, 25, 20, tzinfo=UTC)  # Monday, 15:55:20 in Kolkata
FRIDAY, TUESDAY = "2026-11-27", "2026-11-24"
# what people write in each language, with each time that they may mean
WRITTEN: Final = {
    "de": {
        "heute Nacht um 2": "Tue 24 Nov 02:00",
        "Freitag nächster Woche 18 Uhr": "Fri 04 Dec 18:00",
        "7 Uhr in der Früh": "Tue 24 Nov 07:00",
        "achtzehn Uhr dreißig": "Mon 23 Nov 18:30",
        "halb sieben": "Mon 23 Nov 18:30 | Tue 24 Nov 06:30",
        "halb sieben abends": "Mon 23 Nov 18:30",
        "morgen früh halb sieben": "Tue 24 Nov 06:30",
        "Viertel vor sieben": "Mon 23 Nov 18:45 | Tue 24 Nov 06:45",
        "viertel nach sechs abends": "Mon 23 Nov 18:15",
        "dreiviertel sieben früh": "Tue 24 Nov 06:45",
        "morgen viertel sieben abends": "Tue 24 Nov 18:15 | Tue 24 Nov 19:15",
        "fünf vor halb sieben": "Mon 23 Nov 18:25 | Tue 24 Nov 06:25",
        "morgen 6:15": "Tue 24 Nov 06:15",
        "morgen 6 Uhr": "Tue 24 Nov 06:00",
        "morgen um 6": "Tue 24 Nov 06:00 | Tue 24 Nov 18:00",
        "6 Uhr 15": "Tue 24 Nov 06:15",
        "19.30 Uhr": "Mon 23 Nov 19:30",
        "in einer halben Stunde": "Mon 23 Nov 16:26",
        "in anderthalb Stunden": "Mon 23 Nov 17:26",
        "in 1,5 Std": "Mon 23 Nov 17:26",
        "in einer Stunde": "Mon 23 Nov 16:56",
        "heute Morgen 6": "Tue 24 Nov 06:00",
        "morgen Abend 8": "Tue 24 Nov 20:00",
        "heute Abend 11 Uhr": "Mon 23 Nov 23:00",
        "zwölf Uhr mittags": "Tue 24 Nov 12:00",
        "am 24.11. um 18 Uhr": "Tue 24 Nov 18:00",
        "am Dienstag 6:15": "Tue 24 Nov 06:15",
        "nächsten Freitag 18 Uhr": "Fri 27 Nov 18:00 | Fri 04 Dec 18:00",
        "diesen Freitag 18 Uhr": "Fri 27 Nov 18:00",
        "6 oder 7 Uhr": "Tue 24 Nov 06:00 | Tue 24 Nov 07:00",
        "zwischen 6 und 7 Uhr": "Tue 24 Nov 06:00 | Tue 24 Nov 07:00",
        "4. Dez. 18 Uhr": "Fri 04 Dec 18:00",
        "zehn nach sechs abends": "Mon 23 Nov 18:10",
        "Freitag in einer Woche 18 Uhr": "Fri 04 Dec 18:00",
        "24. Nov. 6.15 Uhr": "Tue 24 Nov 06:15",
        "24 Uhr": "Tue 24 Nov 00:00",
        "18:30 Uhr": "Mon 23 Nov 18:30",
        "sechs Uhr dreißig": "Mon 23 Nov 18:30 | Tue 24 Nov 06:30",
        "ca. 7 Uhr": "Tue 24 Nov 07:00",
        "6h": "Mon 23 Nov 21:56 | Tue 24 Nov 06:00",
        "übermorgen früh um 6": "Wed 25 Nov 06:00",
        "Mitternacht": "Tue 24 Nov 00:00",
        "2 Uhr nachts": "Tue 24 Nov 02:00",
        "1 Stunde 30": "Mon 23 Nov 17:26",
        "4.12. 18:00": "Fri 04 Dec 18:00",
        "Mo 23.11. 18 Uhr": "Mon 23 Nov 18:00",
        "fünf vor halb sieben abends": "Mon 23 Nov 18:25",
        "zwischen 18 und 19 Uhr": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00",
    },
    "fr": {
        "1er janvier 18h": "Fri 01 Jan 18:00",
        "vingt heures trente": "Mon 23 Nov 20:30",
        "18h/19h": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00",
        "six heures et demie": "Mon 23 Nov 18:30 | Mon 23 Nov 22:26 | Tue 24 Nov 06:30",
        "six heures et demie du soir": "Mon 23 Nov 18:30",
        "sept heures moins le quart du matin": "Tue 24 Nov 06:45",
        "sept heures moins dix": "Mon 23 Nov 18:50 | Tue 24 Nov 06:50",
        "6h du soir": "Mon 23 Nov 18:00",
        "6h du matin": "Tue 24 Nov 06:00",
        "demain 6h15": "Tue 24 Nov 06:15",
        "demain à 6h": "Tue 24 Nov 06:00",
        "6h30": "Mon 23 Nov 22:26 | Tue 24 Nov 06:30",
        "18 h 30": "Mon 23 Nov 18:30",
        "midi et demi": "Tue 24 Nov 12:30",
        "minuit et quart": "Tue 24 Nov 00:15",
        "ce matin 6h": "Tue 24 Nov 06:00",
        "demain à six heures": "Tue 24 Nov 06:00 | Tue 24 Nov 18:00",
        "dans une heure": "Mon 23 Nov 16:56",
        "dans une demi-heure": "Mon 23 Nov 16:26",
        "dans un quart d'heure": "Mon 23 Nov 16:11",
        "dans 2 heures et demie": "Mon 23 Nov 18:26",
        "dans 1h30": "Mon 23 Nov 17:26",
        "une heure": "Mon 23 Nov 16:56 | Tue 24 Nov 01:00 | Tue 24 Nov 13:00",
        "une heure et demie": "Mon 23 Nov 17:26 | Tue 24 Nov 01:30 | Tue 24 Nov 13:30",
        "6 ou 7 h": "Tue 24 Nov 06:00 | Tue 24 Nov 07:00",
        "entre 6 et 7 h": "Tue 24 Nov 06:00 | Tue 24 Nov 07:00",
        "vendredi prochain 18h": "Fri 27 Nov 18:00 | Fri 04 Dec 18:00",
        "le 4 décembre à 18h": "Fri 04 Dec 18:00",
        "4/12 18h": "Fri 04 Dec 18:00 | Mon 12 Apr 18:00",
        "11h ce soir": "Mon 23 Nov 23:00",
        "demain soir 8h": "Tue 24 Nov 20:00",
        "à sept heures du soir": "Mon 23 Nov 19:00",
        "06h30": "Tue 24 Nov 06:30",
        "après-demain 14h": "Wed 25 Nov 14:00",
        "cet après-midi à 3h": "Tue 24 Nov 15:00",
        "18h pile": "Mon 23 Nov 18:00",
        "dans trois heures et demie": "Mon 23 Nov 19:26",
    },
    "es": {
        "12 del mediodía": "Tue 24 Nov 12:00",
        "a las 7 menos 20 de la tarde": "Mon 23 Nov 18:40",
        "2 de la madrugada": "Tue 24 Nov 02:00",
        "las seis y media": "Mon 23 Nov 18:30 | Tue 24 Nov 06:30",
        "mañana a las seis y cuarto de la tarde": "Tue 24 Nov 18:15",
        "siete menos cuarto": "Mon 23 Nov 18:45 | Tue 24 Nov 06:45",
        "siete menos diez de la tarde": "Mon 23 Nov 18:50",
        "las 6 y 10 de la tarde": "Mon 23 Nov 18:10",
        "mañana 6:15": "Tue 24 Nov 06:15",
        "mañana a las 6": "Tue 24 Nov 06:00 | Tue 24 Nov 18:00",
        "a las 6 de la tarde": "Mon 23 Nov 18:00",
        "12 de la mañana": "Tue 24 Nov 00:00 | Tue 24 Nov 12:00",
        "12 de la noche": "Tue 24 Nov 00:00",
        "mañana por la mañana a las 6": "Tue 24 Nov 06:00",
        "en media hora": "Mon 23 Nov 16:26",
        "en una hora": "Mon 23 Nov 16:56",
        "en hora y media": "Mon 23 Nov 17:26",
        "en una hora y media": "Mon 23 Nov 17:26",
        "esta mañana a las 6": "Tue 24 Nov 06:00",
        "esta tarde a las 5": "Mon 23 Nov 17:00",
        "el viernes que viene 18:00": "Fri 27 Nov 18:00 | Fri 04 Dec 18:00",
        "próximo viernes 18:00": "Fri 27 Nov 18:00 | Fri 04 Dec 18:00",
        "6 a. m.": "Tue 24 Nov 06:00",
        "entre las 18 y las 19": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00",
        "6 o 7": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00 | Tue 24 Nov 06:00 | Tue 24 Nov 07:00",
        "a las 18h": "Mon 23 Nov 18:00",
        "4 dic 18:00": "Fri 04 Dec 18:00",
        "a la una de la tarde": "Tue 24 Nov 13:00",
        "las once de la noche": "Mon 23 Nov 23:00",
        "pasado mañana 18:00": "Wed 25 Nov 18:00",
        "mediodía": "Tue 24 Nov 12:00",
        "24 de noviembre 6:15": "Tue 24 Nov 06:15",
        "1,5 h": "Mon 23 Nov 17:26",
        "6:15 h": "Tue 24 Nov 06:15",
        "en 1,5 horas": "Mon 23 Nov 17:26",
        "6 y media": "Mon 23 Nov 18:30 | Tue 24 Nov 06:30",
        "en la noche a las 8": "Mon 23 Nov 20:00",
    },
    "ar": {
        "غدا 11 م": "Tue 24 Nov 23:00",
        "12 م": "Tue 24 Nov 00:00 | Tue 24 Nov 12:00",
        "الساعة 6 و 10 دقائق مساء": "Mon 23 Nov 18:10",
        "3 عصرا": "Tue 24 Nov 15:00",
        "السادسة والنصف": "Mon 23 Nov 18:30 | Tue 24 Nov 06:30",
        "السادسة والنصف مساءً": "Mon 23 Nov 18:30",
        "السابعة إلا ربع صباحا": "Tue 24 Nov 06:45",
        "السادسة والربع مساء": "Mon 23 Nov 18:15",
        "الساعة 6:15 صباحا": "Tue 24 Nov 06:15",
        "غدا الساعة السادسة صباحًا": "Tue 24 Nov 06:00",
        "٦:١٥ مساءً": "Mon 23 Nov 18:15",
        "بعد ساعة": "Mon 23 Nov 16:56",
        "بعد نصف ساعة": "Mon 23 Nov 16:26",
        "بعد ساعتين": "Mon 23 Nov 17:56",
        "بعد ساعة ونصف": "Mon 23 Nov 17:26",
        "الثانية عشرة ظهرا": "Tue 24 Nov 12:00",
        "12 ظهرا": "Tue 24 Nov 12:00",
        "منتصف الليل": "Tue 24 Nov 00:00",
        "غدا 6 م": "Tue 24 Nov 18:00",
        "يوم الجمعة ١٨:٠٠": "Fri 27 Nov 18:00",
        "الجمعة القادمة 18:00": "Fri 27 Nov 18:00 | Fri 04 Dec 18:00",
        "الجمعة القادم 18:00": "Fri 27 Nov 18:00 | Fri 04 Dec 18:00",
        "السادسة وعشر دقائق مساء": "Mon 23 Nov 18:10",
        "السابعة إلا عشر دقائق مساء": "Mon 23 Nov 18:50",
        "6 أو 7 مساء": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00 | Tue 24 Nov 06:00",
        "هذا الصباح 6": "Tue 24 Nov 06:00",
        "غدا مساء 8": "Tue 24 Nov 20:00",
        "بعد غد 18:00": "Wed 25 Nov 18:00",
        "٤/١٢ ١٨:٠٠": "Fri 04 Dec 18:00 | Mon 12 Apr 18:00",
        "الساعة الحادية عشرة ليلا": "Mon 23 Nov 23:00",
        "24 نوفمبر 18:00": "Tue 24 Nov 18:00",
        "6 والنصف مساء": "Mon 23 Nov 18:30",
        "بعد 90 دقيقة": "Mon 23 Nov 17:26",
        "بين 6 و 7 مساء": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00 | Tue 24 Nov 06:00",
    },
    "hi": {
        "कल सुबह साढ़े पाँच बजे": "Tue 24 Nov 05:30",
        "रात साढ़े दस बजे": "Mon 23 Nov 22:30",
        "सवा 8 बजे रात": "Mon 23 Nov 20:15",
        "साढ़े छह": "Mon 23 Nov 18:30 | Tue 24 Nov 06:30",
        "साढ़े छह बजे शाम": "Mon 23 Nov 18:30",
        "शाम साढे छह बजे": "Mon 23 Nov 18:30",
        "सवा सात बजे सुबह": "Tue 24 Nov 07:15",
        "पौने सात बजे शाम": "Mon 23 Nov 18:45",
        "डेढ़ बजे दोपहर": "Tue 24 Nov 13:30",
        "ढाई बजे रात": "Tue 24 Nov 02:30",
        "कल सुबह ६ बजे": "Tue 24 Nov 06:00",
        "कल शाम 6 बजे": "Tue 24 Nov 18:00",
        "कल 6 बजे": "Tue 24 Nov 06:00 | Tue 24 Nov 18:00",
        "छह बजकर दस मिनट शाम": "Mon 23 Nov 18:10",
        "सात बजने में दस मिनट शाम": "Mon 23 Nov 18:50",
        "आधे घंटे में": "Mon 23 Nov 16:26",
        "डेढ़ घंटे में": "Mon 23 Nov 17:26",
        "एक घंटे बाद": "Mon 23 Nov 16:56",
        "1.5 घंटे में": "Mon 23 Nov 17:26",
        "आज सुबह 6 बजे": "Tue 24 Nov 06:00",
        "आज रात 11 बजे": "Mon 23 Nov 23:00",
        "रात 12 बजे": "Tue 24 Nov 00:00",
        "दोपहर 12 बजे": "Tue 24 Nov 12:00",
        "सुबह 12 बजे": "Tue 24 Nov 00:00 | Tue 24 Nov 12:00",
        "परसों शाम 5 बजे": "Wed 25 Nov 17:00",
        "अगले शुक्रवार 18:00": "Fri 27 Nov 18:00 | Fri 04 Dec 18:00",
        "इस शुक्रवार 18:00": "Fri 27 Nov 18:00",
        "6 या 7 बजे": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00 | Tue 24 Nov 06:00 | Tue 24 Nov 07:00",
        "शाम 6 से 7 बजे": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00",
        "४/१२ 18:00": "Fri 04 Dec 18:00 | Mon 12 Apr 18:00",
        "4 दिसंबर 18:00": "Fri 04 Dec 18:00",
        "कल रात 2 बजे": "Tue 24 Nov 02:00 | Wed 25 Nov 02:00",
        "आधी रात": "Tue 24 Nov 00:00",
        "शाम के 6 बजे": "Mon 23 Nov 18:00",
        "6 और 7 के बीच": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00 | Tue 24 Nov 06:00 | Tue 24 Nov 07:00",
    },
    "ja": {
        "午後11時": "Mon 23 Nov 23:00",
        "午後12時": "Tue 24 Nov 00:00 | Tue 24 Nov 12:00",
        "明朝6時": "Tue 24 Nov 06:00",
        "12月4日(金)午後6時": "Fri 04 Dec 18:00",
        "6時半": "Mon 23 Nov 18:30 | Tue 24 Nov 06:30",
        "午後6時半": "Mon 23 Nov 18:30",
        "午前六時半": "Tue 24 Nov 06:30",
        "明日6時15分": "Tue 24 Nov 06:15 | Tue 24 Nov 18:15",
        "明日の朝6時15分": "Tue 24 Nov 06:15",
        "明日の朝６：１５": "Tue 24 Nov 06:15",
        "夕方6時": "Mon 23 Nov 18:00",
        "夜8時": "Mon 23 Nov 20:00",
        "夜12時": "Tue 24 Nov 00:00",
        "正午": "Tue 24 Nov 12:00",
        "午前0時": "Tue 24 Nov 00:00",
        "午後0時": "Tue 24 Nov 12:00",
        "1時間後": "Mon 23 Nov 16:56",
        "30分後": "Mon 23 Nov 16:26",
        "1時間半後": "Mon 23 Nov 17:26",
        "半時間後": "Mon 23 Nov 16:26",
        "7時10分前": "Mon 23 Nov 18:50 | Tue 24 Nov 06:50",
        "午後7時10分前": "Mon 23 Nov 18:50",
        "来週月曜18時": "Mon 30 Nov 18:00",
        "来週の月曜日18時": "Mon 30 Nov 18:00",
        "次の金曜18時": "Fri 27 Nov 18:00 | Fri 04 Dec 18:00",
        "今朝6時": "Tue 24 Nov 06:00",
        "6時か7時": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00 | Tue 24 Nov 06:00 | Tue 24 Nov 07:00",
        "18時から19時": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00",
        "12月4日 18:00": "Fri 04 Dec 18:00",
        "12/4 18:00": "Fri 04 Dec 18:00 | Mon 12 Apr 18:00",
        "今夜11時": "Mon 23 Nov 23:00",
        "明後日18時": "Wed 25 Nov 18:00",
        "十二時半": "Tue 24 Nov 00:30 | Tue 24 Nov 12:30",
        "午前12時": "Tue 24 Nov 00:00 | Tue 24 Nov 12:00",
        "金曜18:00": "Fri 27 Nov 18:00",
        "18時30分頃": "Mon 23 Nov 18:30",
        "２４：００": "Tue 24 Nov 00:00",
        "2026年12月4日18時": "Fri 04 Dec 18:00",
        "6:15": "Tue 24 Nov 06:15",
        "明日 6:15": "Tue 24 Nov 06:15",
        "午後六時ちょうど": "Mon 23 Nov 18:00",
        "18時": "Mon 23 Nov 18:00",
        "18時と19時の間": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00",
    },
    "zh_Hans": {
        "明早六点": "Tue 24 Nov 06:00",
        "明晚八点": "Tue 24 Nov 20:00",
        "星期六晚上七点": "Sat 28 Nov 19:00",
        "四十分钟后": "Mon 23 Nov 16:36",
        "六点半": "Mon 23 Nov 18:30 | Tue 24 Nov 06:30",
        "晚上六点半": "Mon 23 Nov 18:30",
        "七点差一刻": "Mon 23 Nov 18:45 | Tue 24 Nov 06:45",
        "晚上七点差一刻": "Mon 23 Nov 18:45",
        "差一刻七点": "Mon 23 Nov 18:45 | Tue 24 Nov 06:45",
        "七点一刻": "Mon 23 Nov 19:15 | Tue 24 Nov 07:15",
        "早上七点三刻": "Tue 24 Nov 07:45",
        "上午9点": "Tue 24 Nov 09:00",
        "下午两点": "Tue 24 Nov 14:00",
        "下午2点半": "Tue 24 Nov 14:30",
        "明天早上6点15分": "Tue 24 Nov 06:15",
        "明天6点15分": "Tue 24 Nov 06:15 | Tue 24 Nov 18:15",
        "明天晚上8点": "Tue 24 Nov 20:00",
        "今晚11点": "Mon 23 Nov 23:00",
        "晚上12点": "Tue 24 Nov 00:00",
        "中午12点": "Tue 24 Nov 12:00",
        "中午12点半": "Tue 24 Nov 12:30",
        "上午12点": "Tue 24 Nov 00:00 | Tue 24 Nov 12:00",
        "凌晨2点": "Tue 24 Nov 02:00",
        "半小时后": "Mon 23 Nov 16:26",
        "一个小时后": "Mon 23 Nov 16:56",
        "一个半小时后": "Mon 23 Nov 17:26",
        "两小时后": "Mon 23 Nov 17:56",
        "1.5小时后": "Mon 23 Nov 17:26",
        "今早6点": "Tue 24 Nov 06:00",
        "下周一18点": "Mon 30 Nov 18:00",
        "下星期五18:00": "Fri 04 Dec 18:00",
        "周五18:00": "Fri 27 Nov 18:00",
        "这个周五18点": "Fri 27 Nov 18:00",
        "6点或7点": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00 | Tue 24 Nov 06:00 | Tue 24 Nov 07:00",
        "18点到19点": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00",
        "12月4日18:00": "Fri 04 Dec 18:00",
        "12/4 18:00": "Fri 04 Dec 18:00 | Mon 12 Apr 18:00",
        "后天下午3点": "Wed 25 Nov 15:00",
        "十二点": "Tue 24 Nov 00:00 | Tue 24 Nov 12:00",
        "六点十分": "Mon 23 Nov 18:10 | Tue 24 Nov 06:10",
        "差十分七点": "Mon 23 Nov 18:50 | Tue 24 Nov 06:50",
        "晚上七点差十分": "Mon 23 Nov 18:50",
        "零点": "Tue 24 Nov 00:00",
        "24点": "Tue 24 Nov 00:00",
        "明天零点": "Tue 24 Nov 00:00",
        "明天 6:15": "Tue 24 Nov 06:15",
        "十一月二十四日 18点": "Tue 24 Nov 18:00",
        "二十点": "Mon 23 Nov 20:00",
        "礼拜天18点": "Sun 29 Nov 18:00",
        "下午六点整": "Mon 23 Nov 18:00",
        "午夜": "Tue 24 Nov 00:00",
        "七点过十分": "Mon 23 Nov 19:10 | Tue 24 Nov 07:10",
        "18点和19点之间": "Mon 23 Nov 18:00 | Mon 23 Nov 19:00",
    },
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    desk = make_desk(tmp_path_factory.mktemp("desk"))
    yield desk.app
    desk.close()


@pytest.fixture(params=LANGUAGES)
def code(request: pytest.FixtureRequest, app: Flask) -> Iterator[str]:
    with app.test_request_context(), in_language(request.param):
        yield request.param


def at(text: str, words: TimeWords) -> str:
    return f"{read_time(text, NOW, KOLKATA, words).at.astimezone(KOLKATA):%Y-%m-%d %H:%M}"


def meant(text: str, words: TimeWords) -> str:
    """Each time that a text may mean."""
    try:
        found = [read_time(text, NOW, KOLKATA, words).at]
    except TimeQuestion as question:
        found = list(question.choices)
    return " | ".join(f"{each.astimezone(KOLKATA):%a %d %b %H:%M}" for each in found)


def test_what_a_hint_shows_is_understood(code: str) -> None:
    words = time_words(code)
    found = {name: at(text, words) for name, text in examples(words).items() if name != "dated"}
    assert found == {
        "tomorrow": f"{TUESDAY} 06:15",
        "friday": f"{FRIDAY} 14:00",
        "ahead": "2026-11-23 16:36",
        "night": f"{TUESDAY} 02:00",
    }
    january = datetime(2026, 1, 5, 6, 0, tzinfo=UTC)
    dated = read_time(f"{examples(words)['dated']} 06:15", january, KOLKATA, words).at
    assert (dated.month, dated.day) == (3, 4)
    for text in quick_times(NOW, KOLKATA, words):
        assert read_time(text, NOW, KOLKATA, words).at > NOW, text
    shown = weekday_time(NOW + timedelta(days=4), KOLKATA, code)
    assert at(shown, words) == f"{FRIDAY} 15:55", shown


def test_every_message_shows_the_examples_of_its_language(code: str) -> None:
    words = time_words(code)
    for why in TimeRefusal:
        message = why_not(NotATime(why, "2", NOW), NOW, KOLKATA, words)
        assert "%(" not in message, why
        assert code == "en" or not any(each in message for each in ("tomorrow", "fri 14", "4 mar."))
    unknown = why_not(NotATime(TimeRefusal.UNKNOWN, "2"), NOW, KOLKATA, words)
    assert words.tomorrow[0] in unknown


def test_a_time_is_read_as_people_there_write_it(code: str) -> None:
    words = time_words(code)
    written = WRITTEN.get(code, {})
    assert {text: meant(text, words) for text in written} == written
    assert at(f"{words.tonight[0]} 8", words) == "2026-11-23 20:00"
    assert at(f"{words.after_tomorrow[0]} 09:00", words) == "2026-11-25 09:00"


def test_weekdays_and_months_are_understood_in_short_in_full_and_in_english(code: str) -> None:
    words = time_words(code)
    tags = words.tags()
    assert sum(tag == TWO_THINGS for tag in tags.values()) <= 2, tags
    for number, names in enumerate(words.weekdays):
        for name in names:
            if tags[normalised_words(name)] != TWO_THINGS:
                found = read_time(f"{name} 17", NOW, KOLKATA, words).at.astimezone(KOLKATA)
                assert found.weekday() == number, name
    for number, names in enumerate(words.months):
        assert any(tags[normalised_words(name)] != TWO_THINGS for name in names), names
        for name in names:
            if tags[normalised_words(name)] != TWO_THINGS:
                text = f"28 {name} 17" if number > 9 else f"28 {name} 2027 17"
                assert read_time(text, NOW, KOLKATA, words).at.month == number + 1, name
    assert at("tomorrow 0615", words) == at("tue 06:15", words) == f"{TUESDAY} 06:15"


def test_english_is_itself_alone(code: str) -> None:
    assert (time_words(code) is ENGLISH_WORDS) == (code == "en")
    assert time_words("xx") is ENGLISH_WORDS
