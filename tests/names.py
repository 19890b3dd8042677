"""Names as people write them: spellings of one name, and names that are alike and are not one."""

from typing import Final

# by language or script: each row is one name
ONE_NAME: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "polish": (
        ("Łukasz Kot", "Lukasz Kot", "Kot, Łukasz", "KOT Łukasz", "lukasz  kot"),
        ("Żółć Gęślą", "Zolc Gesla", "Gesla Zolc"),
        ("Michał Śmigły", "Michal Smigly"),
    ),
    "german": (
        ("Müller", "Mueller", "Muller", "MÜLLER", "MÜLLER"),
        ("Jürgen Müller", "Juergen Mueller", "Jurgen Muller", "Mueller, Jürgen"),
        ("Bärbel Größe", "Baerbel Groesse", "Barbel Grosse", "BÄRBEL GRÖSSE", "Grösse Bärbel"),
        ("Strauß", "Strauss", "STRAUẞ"),
        ("Köln Bäuerle", "Koeln Baeuerle", "Koln Bauerle"),
        ("Karl-Heinz Wöhler", "Karl Heinz Woehler", "Karlheinz Wohler"),
    ),
    "nordic": (
        ("Søren Kjær", "Soren Kjaer", "Soeren Kjaer", "Kjær, Søren"),
        ("Åse Bråten", "Aase Braaten", "Ase Braten"),
        ("Björk Þórsdóttir", "Bjork Thorsdottir", "Bjoerk Thorsdottir"),
        ("Guðrún Æsa", "Gudrun Aesa"),
        ("Väinö Mäkelä", "Vaino Makela", "Vaeinoe Maekelae"),
    ),
    "french": (
        ("Œuvrard", "Oeuvrard", "OEUVRARD"),
        ("Jean-Luc d’Estrée", "Jean Luc D'Estree", "d'Estrée, Jean-Luc", "jeanluc destree"),
        ("Hélène Lefèvre", "Helene Lefevre"),
        ("Noël Joël", "Noel Joel"),
    ),
    "english": (
        ("O'Brien, Ann", "OBrien Ann", "Ann O’Brien", "Ann O Brien", "ann o`brien", "Ann O´Brien"),
        ("Æthelred Unready", "Aethelred Unready"),
        (
            "Ann-Marie Heron",
            "Ann Marie Heron",
            "Annmarie Heron",
            "Heron, Ann‑Marie",
            "Ann–Marie Heron",
        ),
        ("O'Dea", "ODea", "O Dea"),
        ("Heron, Ann", "Ann Heron", "HERON Ann", "Heron/Ann", "Ann. Heron"),
    ),
    "spanish": (
        ("José García-Ruiz", "Jose Garcia Ruiz", "García Ruiz, José", "jose garciaruiz"),
        ("Ana Núñez", "Ana Nunez", "Núñez Ana"),
        ("Juan de la Cruz", "Juan Delacruz", "De la Cruz, Juan"),
        ("Marceŀlí Puig", "Marcel·lí Puig", "Marcelli Puig"),
    ),
    "italian": (("Nicolò D'Angelo", "Nicolo Dangelo", "D’Angelo Nicolò", "Nicolo D Angelo"),),
    "vietnamese": (
        ("Đặng Văn Ơn", "Dang Van On", "Đặng Văn Ơn"),
        ("Nguyễn Thị Ưng", "Nguyen Thi Ung"),
    ),
    "turkish": (
        ("Işıl Çağlar", "Isil Caglar", "IŞIL ÇAĞLAR", "ışıl çağlar", "İŞİL CAGLAR"),
        ("Gülşen Öztürk", "Gulsen Ozturk", "Guelsen Oeztuerk"),
    ),
    "others in Latin letters": (
        ("Đorđe Žić", "Dorde Zic", "Djordje Zic"),
        ("Əli Məmmədov", "Ali Mammadov"),
        ("Novak Đoković", "Novak Djokovic", "Djokovic, Novak", "Dokovic Novak"),
        ("Dezső Fűri", "Dezso Furi", "Dezsoe Fueri"),
        ("Ħaż-Żebbuġ", "Haz Zebbug"),
        ("Ştefan Țepeș", "Stefan Tepes"),
        ("Kwabena Ɔsɛi", "Kwabena Osei"),
        ("Kaʻahumanu", "Kaahumanu", "Ka'ahumanu"),
    ),
    "arabic in Latin letters": (
        ("al-Rashid", "alrashid", "Al Rashid", "AL‑RASHID"),
        ("Hassan al-Rashid", "Hassan Alrashid", "Al Rashid, Hassan"),
        ("Abd al-Rahman", "Abdalrahman", "Abd Al Rahman"),
        ("ʿAlī Saʿīd", "Ali Said", "Ali Sa'id"),
    ),
    "arabic": (
        ("أحمد إبراهيم", "احمد ابراهيم", "أحمد إِبْراهيم", "ابراهيم احمد"),
        ("فاطمة الزهراء", "فاطمه الزهرا", "فَاطِمَة الزهراء"),
        ("مصطفى", "مصطفي", "مصـطفى", "مُصْطَفَى"),
        ("عبد الله", "عبدالله", "عبدﷲ"[:3] + " الله"),
        ("علی رضا", "علي رضا", "علی‌رضا"),
        ("محمد", "ﻣﺤﻤﺪ"),
    ),
    "hebrew": (("שָׁלוֹם ג׳ורג׳", "שלום ג'ורג'"), ("בן־דוד", "בן דוד")),
    "greek and cyrillic": (
        ("Γιώργος", "ΓΙΩΡΓΟΣ", "Γιωργοσ"),
        ("Артём Королёв", "Артем Королев", "Королев Артем"),
        ("Мар'яна Ґалаґан", "Марʼяна Галаган", "Маряна Галаган"),
    ),
    "japanese": (
        ("山田 太郎", "山田太郎", "山田　太郎", "山田・太郎"),
        ("サトウ タロウ", "ｻﾄｳ ﾀﾛｳ", "さとう　たろう", "サトウタロウ"),
        ("髙橋", "高橋"),
        ("渡邊 﨑子", "渡辺崎子", "渡邉﨑子"),
        ("ジョン・スミス", "ジョン スミス", "ｼﾞｮﾝ･ｽﾐｽ", "ジョンスミス"),
        ("葛\U000e0100城 一", "葛城一"),
    ),
    "chinese": (("王小明", "王 小明", "王　小明"), ("约翰·史密斯", "约翰史密斯")),
    "korean": (("김민수", "김 민수", "민수 김", "김민수"),),
    "indic": (
        ("ज़ाकिर ख़ान", "जाकिर खान", "ज़ाकिर ख़ान"),
        ("क्\u200dषमा", "क्षमा"),
    ),
    "thai": (("สมชาย ใจดี", "สมชายใจดี"),),
    "width and what is not seen": (
        ("Ｇｕｅｓｔ　Ｈｅｒｏｎ", "Guest Heron", "guest\u00a0heron"),
        ("Guest\u200b Heron", "\u2068Guest Heron\u2069", "\ufeffGuest Heron", "Gu\u00adest Heron"),
        ("Ann\u3164 Kot", "Ann Kot", "A\u034fnn Kot\ufe0f"),
    ),
    "digits": (
        ("Guest 12", "Guest １２", "Guest ١٢", "guest-12"),
        ("…", " … "),
    ),
}
# each row: names of different people
NOT_ONE: Final[tuple[tuple[str, ...], ...]] = (
    ("Müller", "Möller", "Miller", "Mahler"),
    ("Joe Kot", "Jo Kot", "Zoe Kot", "Zo Kot", "Sue Kot", "Su Kot"),
    ("Jane Heron", "Jean Heron", "Joan Heron", "Jan Heron"),
    ("Amy Kot", "May Kot", "Mya Kot", "Amy", "May", "Mya"),
    ("Ali", "Lia", "Ila", "Ian", "Nia", "Ani"),
    ("Mr Heron", "Mrs Heron", "Heron", "Ann Heron", "Guest Heron"),
    ("Michael Levi", "Michal Levi"),
    ("Joel", "Jol", "Noel", "Nol"),
    ("Bauer", "Baur", "Feuer", "Feur"),
    ("Nadja Kot", "Nada Kot"),
    ("Leon Kot", "Noel Kot"),
    ("Guest 1", "Guest 2", "Guest 12", "Guest 21", "Guest 1 2"),
    ("سعيد", "صعيد", "نور", "نورا"),
    ("مرادي", "مراد"),
    ("मीरा", "मीरी"),
    ("田中", "中田", "山本", "本山", "田"),
    ("たなか", "なかた", "かとう", "がとう", "やまもと", "もとやま"),
    ("김민수", "김민서", "김만수"),
    ("สุดา", "สดา"),
    ("Kot", "Kott", "Kat"),
    ("…", "!", "?"),
)
