"""SVG logos: what drawing programs write stays; nothing that runs, loads or explodes goes out."""

import gzip
import re
import time

import pytest

from ridedash.face import MOST_BYTES, SHOWN_BYTES, BadPicture, Unusable
from ridedash.face.logo import make_logo
from ridedash.face.svg_cleaning import LOOKS
from ridedash.face.svg_reading import DEEPEST, MOST_ELEMENTS

OPEN = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
RECT = '<rect width="60" height="30" fill="#7a1f3d"/>'


def svg(body: str, box: str = 'viewBox="0 0 60 30"', before: str = "") -> bytes:
    return f"{before}{OPEN}{box}>{body}</svg>".encode()


def shown(body: str, **more: str) -> str:
    return make_logo(svg(body, **more)).content.decode()


def why(data: bytes) -> Unusable:
    with pytest.raises(BadPicture) as refused:
        make_logo(data)
    return refused.value.why


def test_shapes_gradients_and_clips_are_preserved() -> None:
    text = shown(
        '<defs><linearGradient id="g"><stop offset="0" stop-color="#fff"/></linearGradient>'
        '<clipPath id="c"><circle cx="5" cy="5" r="5"/></clipPath></defs>'
        '<g clip-path="url(#c)" transform="translate(1 2)"><path d="M0 0h10z" fill="url(#g)"/></g>'
        '<text x="3" y="9" font-family="Georgia">A &amp; B<tspan dx="1"> &lt;c&gt;</tspan></text>'
    )
    for part in (
        '<stop offset="0" stop-color="#fff"/>',
        'clip-path="url(#c)" transform="translate(1 2)"',
        '<path d="M0 0h10z" fill="url(#g)"/>',
        "A &amp; B<tspan",
        "&lt;c&gt;</tspan>",
    ):
        assert part in text
    assert text.startswith('<svg height="100" viewBox="0 0 60 30" width="200" xmlns=')


def test_styles_of_drawing_programs_become_attributes() -> None:
    text = shown(
        "<style>/* c */ .a, .b { fill: #123456; stroke:none } #two{fill:#abcdef} rect{opacity:.5}"
        "@import url(//evil.example/x.css); .a:hover{fill:red}</style>"
        '<rect class="a" width="9" height="9"/><rect id="two" class="b" width="9" height="9"/>'
        '<circle r="4" style="fill:#00ff00;-inkscape-x:y;stroke-width:2px"/>'
    )
    assert '<rect fill="#123456" height="9" opacity=".5" stroke="none" width="9"/>' in text
    assert '<rect fill="#abcdef" height="9" id="two" opacity=".5" stroke="none" width="9"/>' in text
    assert '<circle fill="#00ff00" r="4" stroke-width="2px"/>' in text
    assert "style" not in text
    assert "evil" not in text


@pytest.mark.parametrize(
    "statement",
    [
        "@import url(https://fonts.example/css?family=A;B);",
        '@charset "utf-8";',
        "@namespace url(http://www.w3.org/2000/svg);@import 'a.css' screen;",
    ],
)
def test_a_statement_takes_no_rule_with_it(statement: str) -> None:
    text = shown(f'<style>{statement} .a{{fill:#123456}}</style><rect class="a" width="9"/>')
    assert '<rect fill="#123456" width="9"/>' in text
    assert "example" not in text


def test_of_two_rules_of_one_weight_the_later_one_holds() -> None:
    text = shown(
        "<style>.a{fill:#111111} .b{fill:#222222} .a{stroke:#333333} rect{fill:#444444}</style>"
        '<rect class="b a" width="9"/><rect class="a" width="8"/><rect width="7"/>'
    )
    assert '<rect fill="#222222" stroke="#333333" width="9"/>' in text
    assert '<rect fill="#111111" stroke="#333333" width="8"/>' in text
    assert '<rect fill="#444444" width="7"/>' in text


def test_what_editors_add_is_left_out_without_a_word() -> None:
    logo = make_logo(
        svg(
            '<!-- made by x --><?xml-stylesheet href="//evil.example/x.css"?><title>T</title>'
            '<metadata><rdf xmlns="urn:rdf">R</rdf></metadata>'
            '<sodipodi:namedview xmlns:sodipodi="urn:s" sodipodi:x="1"/>' + RECT,
            before='<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" '
            '"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">',
        )
    )
    assert logo.left_out == ()
    assert (
        re.sub(r"<svg [^>]*>", "", logo.content.decode())
        == RECT.replace(
            'width="60" height="30" fill="#7a1f3d"', 'fill="#7a1f3d" height="30" width="60"'
        )
        + "</svg>"
    )


ATTACKS = {
    "a script": "<script>alert(1)</script>",
    "a linked script": '<script xlink:href="//evil.example/x.js"/>',
    "an upper-case script": "<SCRIPT>alert(1)</SCRIPT>",
    "an html script": '<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>',
    "handlers": '<rect width="9" height="9" onclick="alert(1)" onload="alert(1)"/>',
    "markup of pages": '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml">'
    '<iframe src="//evil.example"/></body></foreignObject>',
    "a picture of elsewhere": '<image href="//evil.example/x.png" width="9" height="9"/>',
    "a picture as data": '<image xlink:href="data:image/svg+xml;base64,PHN2Zz4=" width="9"/>',
    "a link": '<a href="javascript:alert(1)"><rect width="9" height="9"/></a>',
    "use of elsewhere": '<use href="//evil.example/x.svg#a"/><use xlink:href="data:x,#a"/>',
    "animation of a link": '<rect width="9"><animate attributeName="href" to="data:1"/></rect>',
    "a set handler": '<set attributeName="onload" to="alert(1)"/>',
    "imported styles": "<style>@import '//evil.example/x.css'; rect{fill:url(//evil)}</style>",
    "a style that loads": '<rect width="9" style="fill:url(//evil.example/x);background:url(x)"/>',
    "an escaped url": '<rect width="9" style="fill:u\\72l(//evil.example)"/>',
    "a url as paint": '<rect width="9" fill="url(//evil#a)" mask="URL( \'//evil\' )"/>',
    "a url beside a local one": '<rect width="9" fill="url(#a) url(//evil.example)"/>',
    "a filter": '<filter id="f"><feImage href="//evil.example"/></filter><g filter="url(#f)"/>',
    "another base": '<g xml:base="//evil.example/"><rect width="9"/></g>',
    "an expression": '<rect width="9" style="fill:expression(alert(1));behavior:url(x)"/>',
    "a text that ends its tag": '<text x="&quot;&gt;&lt;script&gt;">&lt;/text&gt;</text>',
    "cdata": "<text><![CDATA[</text><script>alert(1)</script>]]></text>",
    "an odd id": '<rect width="9" id="a&quot; onload=&quot;alert(1)"/>',
    "an embedded page": '<iframe src="//evil.example"/><embed/><object/><video/><audio/>',
}
EVIL = re.compile(
    r"evil|<script|on[a-z]+=|javascript|data:|foreignObject|<image|<iframe|animate|<set|import"
    r"|expression|behavior|style|base=|href|url\((?!#)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_runs_or_loads_goes_out(attack: str) -> None:
    text = shown(ATTACKS[attack] + RECT)
    assert EVIL.findall(text) == []
    assert 'fill="#7a1f3d"' in text


def test_what_could_be_missed_is_named() -> None:
    logo = make_logo(svg('<image href="a.png"/><filter id="f"/><script/>' + RECT))
    assert logo.left_out == ("filter", "image", "script")


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
REFUSED = {
    "billion laughs": (
        svg("<text>&l9;</text>", before=f'<!DOCTYPE svg [<!ENTITY l0 "lol">{LAUGHS}]>'),
        Unusable.UNSAFE,
    ),
    "quadratic blow-up": (
        svg(
            "<text>" + "&a;" * 5000 + "</text>",
            before=f'<!DOCTYPE svg [<!ENTITY a "{"a" * 9000}">]>',
        ),
        Unusable.UNSAFE,
    ),
    "a file of this machine": (
        svg("<text>&x;</text>", before='<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
        Unusable.UNSAFE,
    ),
    "a parameter entity": (
        svg(RECT, before='<!DOCTYPE svg [<!ENTITY % x SYSTEM "http://evil.example/x"> %x;]>'),
        Unusable.UNSAFE,
    ),
    "an entity of an outside document type": (
        svg("<text>&x;</text>", before='<!DOCTYPE svg SYSTEM "http://evil.example/x.dtd">'),
        Unusable.UNSAFE,
    ),
    "an unknown entity": (svg("<text>&nbsp;</text>"), Unusable.DAMAGED),
    "not closed": (svg(RECT)[:-6], Unusable.DAMAGED),
    "two roots": (svg(RECT) + svg(RECT), Unusable.DAMAGED),
    "a page": (b"<html><script>alert(1)</script></html>", Unusable.OTHER_KIND),
    "an svg of no namespace": (
        b"<svg viewBox='0 0 60 30'><rect width='9'/></svg>",
        Unusable.OTHER_KIND,
    ),
    "an odd encoding": (b'<?xml version="1.0" encoding="utf-7"?>' + svg(RECT), Unusable.DAMAGED),
    "nothing drawn": (svg("<defs>" + RECT + "</defs><script/>"), Unusable.NOTHING_LEFT),
    "no size": (svg(RECT, box=""), Unusable.DAMAGED),
    "no numbers": (svg(RECT, box='viewBox="0 0 NaN inf"'), Unusable.DAMAGED),
    "negative": (svg(RECT, box='viewBox="0 0 -60 30"'), Unusable.DAMAGED),
    "a line": (svg(RECT, box='viewBox="0 0 6000 30"'), Unusable.SHAPE),
    "a pole": (svg(RECT, box='width="10mm" height="90mm"'), Unusable.SHAPE),
    "deeply nested": (svg("<g>" * DEEPEST + RECT + "</g>" * DEEPEST), Unusable.TOO_DETAILED),
    "many elements": (svg("<g/>" * MOST_ELEMENTS + RECT), Unusable.TOO_DETAILED),
    "uses itself": (svg('<g id="a"><use href="#a"/></g>' + RECT), Unusable.UNSAFE),
    "uses of uses": (
        svg(
            '<g id="u0">'
            + RECT
            + "</g>"
            + "".join(
                f'<g id="u{n}">' + f'<use xlink:href="#u{n - 1}"/>' * 10 + "</g>"
                for n in range(1, 10)
            )
        ),
        Unusable.TOO_DETAILED,
    ),
    "masks of masks": (
        svg(
            '<mask id="m0">'
            + RECT
            + "</mask>"
            + "".join(
                f'<mask id="m{n}">' + f'<rect width="9" mask="url(#m{n - 1})"/>' * 10 + "</mask>"
                for n in range(1, 10)
            )
            + '<rect width="9" mask="url(#m9)"/>'
        ),
        Unusable.TOO_DETAILED,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_explodes_or_shows_nothing_is_refused(case: str) -> None:
    data, reason = REFUSED[case]
    assert why(data) is reason


MANY = 190_000  # bytes, below the limit of a file
LOOK = ";".join(f"{name}:1" for name in sorted(LOOKS))
SLOW = {  # without a limit, each of these takes minutes or gigabytes
    "a long word": (svg(f'<path d="{"a" * MANY}"/>' + RECT), None),
    "a long space": (svg(f'<path d="a{" " * MANY}b"/>' + RECT), None),
    "a style of no rules": (svg(f"<style>{'a' * MANY}</style>" + RECT), None),
    "open comments": (svg(f"<style>{'/*' * (MANY // 2)}</style>" + RECT), None),
    "a long number": (svg(RECT, box=f'width="{"1" * MANY}x"'), Unusable.DAMAGED),
    "many rules": (
        svg(f"<style>{'a,' * 80_000}a{{fill:red}}</style>" + "<g/>" * 4900 + RECT),
        Unusable.TOO_DETAILED,
    ),
    "a rule for many": (
        svg(f"<style>g{{fill:{'1 ' * 80_000}}}</style>" + "<g/>" * 4900 + RECT),
        Unusable.TOO_DETAILED,
    ),
    "many rules with many values for many": (
        svg(f"<style>{'g,' * 499}g{{{LOOK}}}</style>" + "<g></g>" * 4900 + RECT),
        Unusable.TOO_DETAILED,
    ),
    "many rules of others": (
        svg(f"<style>{'a{fill:red}' * 499}</style>" + "<g/>" * 4900 + RECT),
        None,
    ),
    "many classes": (
        svg(
            "<style>"
            + ",".join(f".c{n}" for n in range(490))
            + f"{{{LOOK}}}</style>"
            + f'<g class="{" ".join(f"c{n}" for n in range(490))}"/>' * 80
            + RECT
        ),
        Unusable.TOO_DETAILED,
    ),
    "names of attributes": (
        svg("<style>" + f"g{{{LOOK}}}" + "</style>" + "<g/>" * 3500 + RECT),
        Unusable.TOO_DETAILED,
    ),
    "a text that is hard to compress": (
        svg(
            "<text>"
            + "".join(f"{n * n * 7919 % 9973:b}" for n in range(MANY // 14))
            + "</text>"
            + RECT
        ),
        Unusable.TOO_DETAILED,
    ),
    "many elements with all kinds of parts": (
        svg(
            "<style>g{fill:1;stroke:2;opacity:3;color:4}</style>"
            + '<g style="fill:1" id="a" x="1">a<g/></g>' * 2480
            + RECT
        ),
        None,
    ),
    "prefixes at the deepest place": (
        svg(
            "<g>" * 36
            + "<g "
            + " ".join(f'q:a{n}=""' for n in range(14_000))
            + "/>"
            + "</g>" * 36
            + RECT
        ),
        None,
    ),
    "a long namespace": (
        svg(
            f'<g xmlns:a="{"u" * 90_000}" '
            + "".join(f' a:x{n}="1"' for n in range(8000))
            + "/>"
            + RECT
        ),
        None,
    ),
}


@pytest.mark.parametrize("case", SLOW)
def test_a_crafted_file_costs_no_more_time_and_memory_than_another(case: str) -> None:
    data, reason = SLOW[case]
    assert len(data) < MOST_BYTES
    took = []
    for _ in range(3):  # the least of three: other tests use the same processors
        began = time.thread_time()
        if reason:
            assert why(data) is reason
        else:
            assert b"#7a1f3d" in make_logo(data).content
        took.append(time.thread_time() - began)
    assert min(took) < 0.2


def test_a_picture_that_weighs_too_much_for_a_phone_is_refused() -> None:
    points = " ".join(f"{n * n * 7919 % 9973},{n * n * 104729 % 9967}" for n in range(8000))
    data = svg(f'<polyline points="{points}"/>')
    assert len(data) < 200_000
    assert len(gzip.compress(data)) > SHOWN_BYTES
    assert why(data) is Unusable.TOO_DETAILED


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_file_goes_out_in_utf_8_whatever_it_came_in(encoding: str) -> None:
    logo = make_logo(svg("<text>Gästehaus</text>" + RECT).decode().encode(encoding))
    assert "Gästehaus" in logo.content.decode()


def test_a_cleaned_logo_stays_as_it_is_when_it_is_cleaned_again() -> None:
    first = make_logo(
        svg('<g class="x"><use href="#r"/></g>' + RECT.replace("<rect", '<rect id="r"'))
    )
    again = make_logo(first.content)
    assert first.content.startswith(b"<svg ")
    assert again == first
    assert b'href="#r"' in again.content
