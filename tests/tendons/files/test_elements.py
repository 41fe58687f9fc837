"""Elements of XML: read safely, with the place of every mistake, and always written the same."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tendon_gym.tendons.files.elements import Element, joined, parse, parse_bytes, render, shortest

BOMB = """<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<raisim version="&b;"/>"""
OUTSIDE = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:/etc/hostname">]>\n<raisim version="&x;"/>'


def read(text):
    return parse_bytes(text.encode(), "scene.xml")


@pytest.mark.parametrize("text", [BOMB, OUTSIDE, '<!DOCTYPE raisim SYSTEM "r.dtd"><raisim/>'])
def test_nothing_expands_or_is_fetched(text):
    with pytest.raises(ValueError, match=r"scene\.xml:1: document types and entities are not read"):
        read(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "scene.xml:1: no XML: no element found"),
        ("<a>\n<b></a>", "scene.xml:2: no XML: mismatched tag"),
        ('<a>\n<b x="1" x="2"/></a>', "scene.xml:2: no XML: duplicate attribute"),
        ("<a/><b/>", "scene.xml:1: no XML: junk after document element"),
        ('<a b="&other;"/>', "scene.xml:1: no XML: undefined entity"),
        ('<a>\n\n<b name="c">words</b></a>', "scene.xml:3: <b name='c'>: text is not expected"),
        ('<?xml version="1.0" encoding="nonesuch"?><a/>', "scene.xml:1: no XML: unknown encoding"),
        ("<a>\0</a>", "scene.xml:1: no XML: not well-formed"),
    ],
)
def test_what_is_no_xml_is_told_with_its_line(text, message):
    with pytest.raises(ValueError) as error:
        read(text)
    assert str(error.value).startswith(message)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        parse(tmp_path / "none.xml")


def test_unknown_names_are_told_with_the_legal_ones():
    element = read('<a>\n<b stifness="3"/><c/></a>')
    with pytest.raises(ValueError, match=r"xml:2: <b>: <b> has no 'stifness'; it takes stiffness"):
        element.children[0].check(["stiffness"])
    with pytest.raises(ValueError, match=r"xml:2: <c>: <a> takes <b> inside it, not <c>"):
        element.check([], ["b"])
    with pytest.raises(ValueError, match=r"<a> takes nothing inside it, not <b>"):
        element.check([])


def test_what_must_be_once_is_not_twice():
    element = read("<a>\n<b/>\n<b/></a>")
    with pytest.raises(ValueError, match=r"xml:3: <b>: there is a <b> in this <a> already, .* 2"):
        element.only("b")
    assert element.only("c") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1_0",
        "1e",
        "e5",
        ".",
        "0x10",
        "1,5",
        "1 2",
        "+-1",
        "\u0661",
        "1.0f",
        "nan0",
        "1e999",
        "--1",
    ],
)
def test_malformed_numbers_are_refused(text):
    with pytest.raises(ValueError, match=r"^scene.xml:1: <a>: x "):
        read(f'<a x="{text}"/>').number("x")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0), ("-.5", -0.5), ("+2.", 2.0), ("1E-3", 1e-3), (" 4 ", 4.0), ("inf", math.inf),
        ("-Infinity", -math.inf), ("-INF", -math.inf), ("1e-999", 0.0),
    ],
)  # fmt: skip
def test_numbers_may_be_written_in_these_ways(text, value):
    assert read(f'<a x="{text}"/>').number("x") == value
    assert math.isnan(read('<a x="nan"/>').number("x"))


@pytest.mark.parametrize("text", ["1 2 3", "1,2,3", " 1 ,2 , 3 ", "1, 2 3", "1\n2\t3"])
def test_lists_have_commas_or_blanks(text):
    assert read(f'<a x="{text}"/>').numbers("x", 3) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    "text", ["", "1 2", "1 2 3 4", "1,,2", ",1 2 3", "1 2 3,", "1;2;3", "a b c"]
)
def test_lists_of_another_length_or_form_are_refused(text):
    with pytest.raises(ValueError, match=r"^scene.xml:1: <a>: x "):
        read(f'<a x="{text}"/>').numbers("x", 3)


@pytest.mark.parametrize("text", ["1.0", "", "one", "1e3", "9" * 30])
def test_integers_are_nothing_else(text):
    with pytest.raises(ValueError, match=r"x (must be an integer|is missing or empty)"):
        read(f'<a x="{text}"/>').integer("x")


@pytest.mark.parametrize("text", ["yes", "True", "2", ""])
def test_flags_are_true_or_false(text):
    with pytest.raises(ValueError, match=r"x (must be true or false|is missing or empty)"):
        read(f'<a x="{text}"/>').flag("x", True)
    assert read('<a x="0"/>').flag("x", True) is False


def test_deep_files_are_read_and_written():
    deep = read("<a>" * 5000 + "</a>" * 5000)
    assert render(deep).count("<a>") == 4999


texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
    | st.sampled_from("\t\n\r\"'<>&"),
    min_size=1,
)


@settings(deadline=None, max_examples=60)
@given(st.lists(texts, max_size=4))
def test_what_is_written_reads_back_and_is_written_again_the_same(values):
    root = Element("a", {f"x{k}": value for k, value in enumerate(values)})
    root.children = [Element("b", dict(root.attributes)), Element("c")]
    again = read(render(root))
    assert again.attributes == root.attributes
    assert again.children[0].attributes == root.attributes
    assert render(again) == render(root)


@pytest.mark.parametrize("bad", ["\0", "\x1b", "\ud800", "\ufffe"])
def test_what_xml_cannot_hold_is_not_written(bad):
    with pytest.raises(ValueError, match="XML cannot hold the character"):
        render(Element("a", {"name": f"a{bad}b"}))


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_numbers_read_back_exactly(values):
    element = read(f'<a x="{joined(values)}"/>')
    assert list(element.numbers("x", len(values))) == values


def test_numbers_are_short():
    assert [shortest(x) for x in (1.0, -0.5, 1e22, 0.1, math.inf)] == [
        "1", "-0.5", "1e+22", "0.1", "inf",
    ]  # fmt: skip
