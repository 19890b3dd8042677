"""Words with which lists head their columns, count their guests and leave a place open.

In all languages of the program at once: a list comes from an agency, not from the reader. They are
compared as `normalised` leaves them, without case and accents. A new language adds its words here;
tests/lists/test_words.py asks for them.
"""

from functools import lru_cache
from typing import Final

from ridedash.lists.table import Field
from ridedash.text import normalised

HEADS: Final = {
    Field.NAME: (
        "name|names|guest|guests|guest name|guest names|full name|passenger|passengers|pax name|"
        "passenger name|last name|surname|family name|lead name|client|attendee|patient|"
        "patient name|visitor|participant|"
        "gast|gäste|gastname|nachname|familienname|teilnehmer|patientin|besucher|"
        "nom|noms|nom de famille|nom du client|nom complet|client|passager|invité|hôte|patient|"
        "nombre|nombres|nombre completo|apellido|apellidos|huésped|huéspedes|pasajero|cliente|"
        "invitado|paciente|"
        "الاسم|اسم|اسم الضيف|الضيف|الضيوف|اسم العائلة|الاسم الكامل|المسافر|المريض|"
        "नाम|अतिथि|अतिथि का नाम|मेहमान|मेहमान का नाम|पूरा नाम|यात्री|उपनाम|मरीज|"
        "名前|氏名|お名前|ご氏名|お客様|お客様名|ゲスト|ゲスト名|姓|宿泊者|宿泊者名|"
        "姓名|名字|客人|客人姓名|宾客|旅客|乘客|住客"
    ),
    Field.GIVEN: (
        "first name|given name|forename|christian name|vorname|prénom|prénoms|nombre de pila|"
        "primer nombre|الاسم الأول|पहला नाम|名|名（ファースト）"
    ),
    Field.TITLE: "title|salutation|mr mrs|anrede|titel|civilité|titre|tratamiento|título|اللقب|"
    "उपाधि|敬称|称谓|称呼",
    Field.ROOM: (
        "room|rooms|room no|room number|room nr|rm|rm no|unit|ref|reference|ward|bed|suite|cabin|"
        "zimmer|zi|zimmernummer|zimmer nr|zi nr|zimmer no|station|bett|"
        "chambre|chambres|ch|no chambre|n chambre|numéro de chambre|chambre n|"
        "habitación|hab|n habitación|número de habitación|nº hab|cuarto|"
        "الغرفة|غرفة|رقم الغرفة|कमरा|कमरा संख्या|कमरा नंबर|रूम|रूम नंबर|"
        "部屋|部屋番号|お部屋|ルーム|客室|客室番号|号室|房间|房间号|房号|房號"
    ),
    Field.PHONE: (
        "phone|phone no|phone number|telephone|tel|tel no|mobile|mobile no|mobile number|cell|"
        "contact|contact no|contact number|whatsapp|"
        "telefon|telefonnummer|handy|handynummer|mobil|mobilnummer|"
        "téléphone|tél|portable|mobile|numéro de téléphone|"
        "teléfono|tel|móvil|celular|contacto|"
        "الهاتف|هاتف|رقم الهاتف|الجوال|جوال|رقم الجوال|फोन|फ़ोन|मोबाइल|फोन नंबर|मोबाइल नंबर|संपर्क|"
        "電話|電話番号|携帯|携帯電話|携帯番号|连络先|連絡先|电话|电话号码|手机|手机号|联系电话"
    ),
    Field.DAY: (
        "date|day|pickup date|pick up date|departure date|transfer date|datum|tag|abholdatum|"
        "date de départ|jour|fecha|día|fecha de recogida|fecha de salida|"
        "التاريخ|تاريخ|اليوم|तारीख|दिनांक|दिन|日付|日|日にち|日期|日子"
    ),
    Field.TIME: (
        "time|pickup|pick up|pickup time|pick up time|departure|departure time|transfer time|"
        "zeit|uhrzeit|abholung|abholzeit|abfahrt|"
        "heure|heure de départ|départ|prise en charge|"
        "hora|hora de recogida|recogida|salida|hora de salida|"
        "الوقت|وقت|وقت المغادرة|الساعة|समय|पिकअप|पिकअप समय|"
        "時間|時刻|出発|出発時間|出発時刻|お迎え|お迎え時間|时间|出发时间|接车时间|用车时间"
    ),
    Field.DROP: (
        "drop|drop off|dropoff|destination|to|going to|where|address|drop location|"
        "ziel|zielort|nach|adresse|fahrziel|destination|vers|adresse|arrivée|"
        "destino|a|dirección|hasta|"
        "الوجهة|وجهة|إلى|العنوان|गंतव्य|पता|कहाँ|ड्रॉप|"
        "行き先|目的地|降車地|住所|行先|到达地|地址|下车地点"
    ),
    Field.FLIGHT: (
        "flight|flight no|flight number|flt|train|train no|flug|flugnummer|flugnr|zug|"
        "vol|numéro de vol|n vol|train|vuelo|nº vuelo|número de vuelo|tren|"
        "الرحلة|رقم الرحلة|رحلة|उड़ान|फ्लाइट|फ्लाइट नंबर|उड़ान संख्या|"
        "便|便名|フライト|フライト番号|航班|航班号|航班號"
    ),
    Field.PERSONS: (
        "pax|persons|people|no of pax|no of persons|adults|seats|guests count|"
        "personen|pers|anzahl personen|anzahl|erwachsene|"
        "personnes|nb personnes|nombre de personnes|adultes|"
        "personas|nº personas|número de personas|adultos|plazas|"
        "الأشخاص|عدد الأشخاص|عدد|व्यक्ति|लोग|यात्रियों की संख्या|संख्या|"
        "人数|名様|大人|人数合計|人數"
    ),
    Field.NOTE: (
        "note|notes|remark|remarks|comment|comments|special request|special requests|"
        "bemerkung|bemerkungen|notiz|notizen|hinweis|anmerkung|"
        "remarque|remarques|commentaire|commentaires|observations|"
        "nota|notas|observaciones|comentario|comentarios|"
        "ملاحظة|ملاحظات|टिप्पणी|टिप्पणियाँ|नोट|備考|メモ|注記|备注|備註|说明"
    ),
    # columns that are known, and are never needed
    Field.UNREAD: (
        "no|nr|number|s no|sr no|sl no|sr|id|email|e mail|mail|passport|passport no|nationality|"
        "arrival|arrival date|check in|checkin|check out|checkout|room type|nights|company|"
        "status|lfd nr|pos|ankunft|abreise|anreise|firma|zimmertyp|land|"
        "numéro|passeport|nationalité|entreprise|type de chambre|"
        "número|pasaporte|nacionalidad|empresa|tipo de habitación|"
        "رقم|البريد|जन्मतिथि|क्रम|क्रम संख्या|ईमेल|番号|メール|会社|国籍|序号|编号|邮箱|公司"
    ),
}
TOTALS: Final = (
    "total|totals|grand total|sub total|subtotal|sum|count|gesamt|summe|gesamtsumme|insgesamt|"
    "anzahl gesamt|total général|somme|suma|total general|المجموع|الإجمالي|مجموع|कुल|योग|"
    "合計|総計|計|小計|合计|总计|总数|小计|共计"
)
# words beside a total or a page
COUNTED: Final = (
    "guest|guests|pax|person|persons|people|room|rooms|name|names|car|cars|no|of|number|"
    "gäste|personen|zimmer|autos|der|anzahl|von|voyageurs|clients|personnes|chambres|voitures|"
    "de|nombre|huéspedes|personas|habitaciones|coches|pasajeros|ضيوف|ضيف|غرف|أشخاص|सिर|मेहमान|"
    "अतिथि|व्यक्ति|कमरे|名|人|名様|室|台|位|间"
)
PAGES: Final = (
    "page|pages|p|of|seite|von|sur|página|pág|de|صفحة|من|पृष्ठ|में से|का|ページ|頁|第|页|页共|共"
)
PLACEHOLDERS: Final = (
    "tba|tbc|tbd|t b a|t b c|t b d|n a|none|nil|vacant|empty|unknown|no name|name pending|pending|"
    "to be advised|to be announced|to be confirmed|unassigned|available|blank|no guest|"
    "n n|nn|frei|leer|unbekannt|offen|noch offen|unbesetzt|nicht bekannt|folgt|name folgt|"
    "libre|vide|inconnu|à confirmer|à venir|non attribué|sans nom|"
    "vacío|vacía|vacante|por confirmar|a confirmar|desconocido|pendiente|sin nombre|disponible|"
    "غير معروف|شاغر|شاغرة|فارغ|لم يحدد|يحدد لاحقا|قيد التأكيد|"
    "अज्ञात|खाली|रिक्त|लंबित|बाद में|तय नहीं|"
    "未定|空室|空き|なし|不明|無し|該当なし|未确认|待定|空|无|未知|暂无|待确认|空房"
)
# how messages begin and end, in lists that are no table
GREETINGS: Final = (
    "hi|hello|dear|good morning|good evening|good afternoon|thanks|thank you|many thanks|regards|"
    "best regards|kind regards|best|cheers|sent from my iphone|please find|"
    "hallo|guten tag|guten morgen|liebe|lieber|sehr geehrte|danke|vielen dank|viele grüße|"
    "mit freundlichen grüßen|bonjour|bonsoir|merci|cordialement|bien à vous|"
    "hola|buenos días|buenas tardes|estimado|estimada|gracias|saludos|atentamente|"
    "السلام عليكم|مرحبا|شكرا|مع التحية|नमस्ते|धन्यवाद|सादर|"
    "こんにちは|お世話になっております|よろしくお願いします|ありがとうございます|您好|你好|谢谢|此致|祝好"
)
# what stands for the cell above, beside marks such as "
DITTO: Final = (
    "ditto|dito|do|dto|same|same as above|as above|same above|idem|id|s o|siehe oben|wie oben|"
    "ebenso|gleich|comme ci dessus|même|ídem|igual|lo mismo|como arriba|نفسه|كما أعلاه|أيضا|"
    "वही|ऊपर जैसा|उपरोक्त|यथोपरि|同上|同じ|上記と同じ|同左|同前"
)
# what says in a cell that there is nothing
NOTHING: Final = (
    "n a|na|none|nil|no phone|no flight|no|keine|keiner|keins|kein|kein telefon|ohne|"
    "aucun|aucune|néant|sans|ninguno|ninguna|sin|sin teléfono|لا يوجد|بدون|नहीं|कोई नहीं|"
    "なし|無し|该当なし|無|无|没有"
)
# words of the names of places to which guests are driven
PLACES: Final = (
    "airport|terminal|station|railway|hotel|quay|pier|port|harbour|harbor|marina|hospital|clinic|"
    "museum|gallery|centre|center|mall|market|stadium|arena|cathedral|temple|opera|theatre|theater|"
    "restaurant|university|campus|beach|plaza|street|road|avenue|office|embassy|"
    "flughafen|bahnhof|hauptbahnhof|hafen|messe|krankenhaus|klinik|zentrum|stadion|theater|"
    "straße|aéroport|gare|hôpital|musée|centre|stade|rue|théâtre|aeropuerto|estación|puerto|museo|"
    "centro|estadio|calle|teatro|مطار|المطار|محطة|المحطة|فندق|مستشفى|ميناء|متحف|شارع|"
    "हवाई अड्डा|एयरपोर्ट|स्टेशन|अस्पताल|होटल|संग्रहालय|空港|駅|ホテル|病院|美術館|博物館|港|"
    "机场|车站|火车站|酒店|医院|码头|博物馆|大厦|路"
)
# what stands for a ride at once, where a time is typed
NOW: Final = (
    "now|right now|immediately|asap|at once|jetzt|sofort|gleich|ab sofort|"
    "maintenant|tout de suite|immédiatement|ahora|ahora mismo|ya|inmediatamente|"
    "الآن|الان|حالا|فورا|अभी|तुरंत|今すぐ|今|すぐ|ただちに|现在|马上|立即|立刻|現在"
)
# words of which a message consists that names nobody
CHATTING: Final = (
    "ok|okay|noted|thx|thanks|thank|you|ty|many|done|sure|yes|no|great|perfect|received|good|"
    "morning|evening|night|hi|hello|welcome|please|pls|will|do|got|it|danke|merci|gracias|vale|"
    "super|gut|bien|شكرا|حسنا|धन्यवाद|ठीक|है|了解|了解です|ありがとう|好的|谢谢|收到"
)
# what a chat puts in place of a file
MEDIA: Final = (
    "media omitted|image omitted|video omitted|audio omitted|sticker omitted|gif omitted|"
    "document omitted|contact card omitted|this message was deleted|you deleted this message|"
    "missed voice call|missed video call|null|medien ausgeschlossen|bild weggelassen|"
    "médias omis|image absente|multimedia omitido|imagen omitida"
)
# words before or within a room's number
ROOMS: Final = (
    "room|rm|suite|ste|ward|bed|villa|cabin|apt|apartment|unit|ph|penthouse|bungalow|tower|floor|"
    "block|wing|bay|bldg|building|no|nr|zimmer|zi|bett|station|haus|turm|etage|"
    "chambre|ch|lit|étage|bâtiment|habitación|hab|cama|planta|torre|غرفة|جناح|سرير|कमरा|कक्ष|बेड|"
    "वार्ड|सुइट|部屋|号室|号|室|房|房间|套房|床"
)


@lru_cache(maxsize=16)
def known(words: str) -> frozenset[str]:
    """The words of a list above, in the form in which texts are compared with them."""
    return frozenset(normalised(word).strip() for word in words.split("|"))


def plain(text: str) -> str:
    """A text in the form in which `known` words are."""
    return normalised(text).strip()


def head_of(cell: str) -> Field | None:
    """The field that a heading names; None for any other text."""
    word = plain(cell)
    if not word:
        return None
    return next((field for field, words in HEADS.items() if word in known(words)), None)
